"""Reading one record of another host: without secrets, and only what has the shape of ours, whoever has the key."""

import json

from memman.clock import now_ms
from memman.secrets import screened
from memman.store.records import KIND_OF, KINDS, Record, lost
from memman.store.shapes import harmless, wrong


class Malformed(Exception):
    """A record that is not what memman writes, or that only a newer memman understands."""


def read(line: str, host: str, number: int) -> Record:
    """Read the record that has a number in a segment. Raises Malformed, which says why."""
    try:
        found = Record(*json.loads(line))
        if found == lost(host, number):
            return found
        if found.kind not in KINDS or (found.body and json.loads(found.body)["how"] not in KIND_OF):
            raise Malformed(f"record {number} of host {host} was written by a newer memman: upgrade this one")
        says = wrong(found, now_ms()) or ("" if (found.host, found.n) == (host, number) else "it has another number")
        if says or not (found.body or found.kind != "purged"):
            raise Malformed(f"record {number} of host {host} is not what memman writes: {says or 'it is empty'}")
        return harmless(found, screened)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Malformed(f"record {number} of host {host} is not what memman writes") from error
