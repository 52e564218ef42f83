"""A store on a Postgres server: what its machines have in common. Each reads a replica (`memman.store.replica`)."""

from importlib.util import find_spec

from memman.model.errors import NotSetUp

if find_spec("psycopg") is None:
    raise NotSetUp("stores on a server need the Postgres driver: pip install 'memman[postgres]'")
