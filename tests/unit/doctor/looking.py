"""Running checks of doctor in this process."""

from memman.doctor import examine
from memman.doctor.finding import Context


def found(box, check, **options):
    """Return (status, what is said) of one check."""
    context = Context(str(box.data), **options)
    return [(finding.status, finding.says) for _, finding in examine(context, [check])]
