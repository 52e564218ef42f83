"""One memory on several machines of one person, by a synced or mounted folder and without a server (docs/adr/0045).

`say` writes what has changed here as an encrypted bundle, `take` brings in the bundles of other hosts, `reconcile`
settles what was learned apart, and `turn` does all of it.
"""
