"""The options of any verb that say where the data folder is, and that nothing is to be written."""

import os

from memman.config.places import data_dir, keep_still
from memman.hot.provenance import agent
from memman.model.errors import ForPeople, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def apply_global_options(values: "Mapping[str, str | bool | None]") -> None:
    """Do as `data_dir` and `readonly` say; an agent keeps to its own data folder. Raises UsageError, ForPeople."""
    folder = values.get("data_dir")
    if isinstance(folder, str):
        if not folder:
            raise UsageError("--data-dir takes the path of a folder")
        before = data_dir() if agent() else ""
        os.environ["MEMMAN_DATA_DIR"] = os.path.abspath(os.path.expanduser(folder))
        if before and data_dir() != before:
            raise ForPeople(f"--data-dir is for a person, and {agent()} runs this: run it in a terminal of your own")
    if values.get("readonly"):
        keep_still()
