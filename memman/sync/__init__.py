"""One memory on several machines of one person, by a synced or mounted folder and without a server (docs/adr/0045).

Each machine, a host, writes its own records into the folder as encrypted segments, and adds those of others to
its log. What a memory is follows from the records, so that all come to the same in whatever order they read.
"""
