"""Feed one harness by coverage: `python tests/fuzz/run.py NAME [libFuzzer options]`, or list their names."""

import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Run libFuzzer until it is told to stop, or finds something."""
    if len(sys.argv) < 2:
        from harness import HARNESSES

        sys.stdout.write("\n".join(HARNESSES) + "\n")
        return
    import atheris

    with atheris.instrument_imports(include=["memman"]):
        from harness import HARNESSES, SEEDS
    harness = HARNESSES[sys.argv[1]]
    corpus = Path(tempfile.mkdtemp(prefix="memman-fuzz-"))
    for number, seed in enumerate(SEEDS):
        (corpus / str(number)).write_bytes(seed)
    atheris.Setup([sys.argv[0], "-max_len=4096", "-timeout=10", *sys.argv[2:], str(corpus)], harness)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
