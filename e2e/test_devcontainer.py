"""The feature for dev containers: what its file says, and what its script does, below a folder of the test's own."""

import json
import os
import pwd
import re
import subprocess
from pathlib import Path

from memman import __version__

FEATURE = Path(__file__).parents[1] / "devcontainer/memman"
# What https://containers.dev/implementors/features/ knows, of what a feature's file may say.
KNOWN = set(
    """
    id version name description documentationURL licenseURL keywords options containerEnv privileged init capAdd
    securityOpt entrypoint customizations dependsOn installsAfter legacyIds deprecated mounts onCreateCommand
    updateContentCommand postCreateCommand postStartCommand postAttachCommand
    """.split()
)


def test_the_feature_is_as_the_specification_has_it() -> None:
    """Its file names itself as its folder, memman's version, and nothing that the specification does not know."""
    said = json.loads((FEATURE / "devcontainer-feature.json").read_text())

    assert said.keys() <= KNOWN
    assert (said["id"], said["version"]) == (FEATURE.name, __version__)
    for name, option in said["options"].items():
        assert re.fullmatch(r"[a-z][A-Za-z0-9_]*", name)
        assert option.keys() <= {"type", "default", "description", "enum", "proposals"}
        assert isinstance(option["default"], {"string": str, "boolean": bool}[option["type"]])
    assert [mount.keys() for mount in said["mounts"]] == [{"source", "target", "type"}]
    assert said["mounts"][0]["target"] == said["containerEnv"]["MEMMAN_DATA_DIR"]


def test_the_script_installs_a_memman_that_agents_can_use(bin: Path, tmp_path: Path) -> None:  # noqa: A002
    """Given a wheel it lays down memman and a private folder; what the file has run then wires the agents."""
    said = json.loads((FEATURE / "devcontainer-feature.json").read_text())
    wheel, root, home = next(bin.parents[1].glob("*.whl")), tmp_path / "root", tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    environ = kept | {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "DESTDIR": str(root)}
    environ |= {"SOURCE": str(wheel), "_REMOTE_USER": pwd.getpwuid(os.geteuid()).pw_name}
    for _ in range(2):
        done = subprocess.run(
            ["sh", FEATURE / "install.sh"], env=environ, check=False, capture_output=True, text=True, cwd="/"
        )
        assert done.returncode == 0, done.stderr

    data = Path(f"{root}{said['containerEnv']['MEMMAN_DATA_DIR']}")
    assert data.stat().st_mode & 0o777 == 0o700
    environ |= {"PATH": f"{root}/usr/local/bin:/usr/bin:/bin", "MEMMAN_DATA_DIR": str(data), "MEMMAN_DRAIN": "off"}
    subprocess.run(["sh", "-c", said["postCreateCommand"]], env=environ, check=True, cwd=home)
    assert f"{data}/bin/memman" in (home / ".claude/settings.json").read_text()


def test_without_a_python_it_says_what_to_add(tmp_path: Path) -> None:
    """Where there is none, and nothing that would bring it, the build ends with one line."""
    for name in ("sh", "dirname"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    script = ["/bin/sh", FEATURE / "install.sh"]
    done = subprocess.run(script, env={"PATH": str(tmp_path)}, check=False, capture_output=True, text=True)

    assert done.returncode == 1
    assert done.stderr.endswith("add the feature ghcr.io/devcontainers/features/python\n")
