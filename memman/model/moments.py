"""Moments as other programs write them."""

from datetime import UTC, datetime


def ms(text: str) -> int:
    """Return a moment in ISO 8601 as Unix milliseconds, UTC where no zone is named; 0 for anything else."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return 0
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def iso(moment: int) -> str:
    """Write Unix milliseconds as ISO 8601 in UTC."""
    return datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
