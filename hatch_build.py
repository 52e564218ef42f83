"""What depends on the system that a wheel is for: it asks for sqlite-vec where that has a wheel too.

No marker of a dependency tells musl from glibc, but a wheel's tags do. So memman has two wheels: one for the systems
that sqlite-vec is built for, which asks for it, and one for every other (MEMMAN_WHEEL=any), which does not. pip, pipx
and uv take the one that fits. See docs/adr/0023-musl.md.
"""

import os
import platform
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

TAG = "py3-none-macosx_10_6_x86_64.macosx_11_0_arm64.manylinux_2_17_aarch64.manylinux_2_17_x86_64"
_MACHINES = {"x86_64", "aarch64", "arm64"}
# What was trained: a wheel without one of them is not built.
WEIGHTS = (
    "memman/embed/static.db",
    *(
        f"memman/judge/{name}"
        for name in ("judge.safetensors", "memory.safetensors", "vocabulary.txt", "manifest.json", "heads.json")
    ),
)


def _for_any() -> bool:
    """Whether the wheel is for any system: it was asked for, or sqlite-vec has none for this one."""
    musl = "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "")
    return os.environ.get("MEMMAN_WHEEL") == "any" or musl or platform.machine() not in _MACHINES


class Dependencies(MetadataHookInterface):
    """Tells what memman depends on."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add what is asked for where it is built."""
        metadata["dependencies"] = self.config["anywhere"] + ([] if _for_any() else self.config["where-built"])


class Wheel(BuildHookInterface[Any]):
    """Says which systems a wheel is for, and refuses one without weights."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Tag a wheel that asks for more than every system has."""
        missing = [name for name in WEIGHTS if not os.path.exists(os.path.join(self.root, name))]
        if version == "standard" and missing:
            raise FileNotFoundError(f"no wheel without {', '.join(missing)}")
        if version == "standard" and not _for_any():
            build_data["tag"] = TAG
