"""A store on a Postgres server: the tables there, and what drains exchange with them."""

from importlib.util import find_spec

from memman.model.errors import NotSetUp

if find_spec("psycopg") is None:
    raise NotSetUp("stores on a server need the Postgres driver: pip install 'memman[postgres]'")
