"""Write a taught embedder as memman reads it: the table, the matrix, and their digests in the judge's manifest."""

import argparse
import hashlib
import json
from pathlib import Path

import build
import table
import torch

from memman.embed.static import TABLE
from memman.judge.judge import FOLDER, MANIFEST, MEMORY
from tools.packing import int8_rows, packed

# The name stays. Of two memmans on one store the one with the higher number embeds it.
MODEL, VERSION = "memman-questions", "1"


def main() -> None:
    """Parse the command line and write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("taught", type=Path, help="what teach.py wrote")
    parser.add_argument("--table", type=Path, default=Path(TABLE))
    parser.add_argument("--judge", type=Path, default=Path(FOLDER), help="the folder of the judge's files")
    options = parser.parse_args()
    kept = torch.load(options.taught, weights_only=True)
    state = {name: tensor.numpy() for name, tensor in kept["course"]["embedder"].items()}
    meta = build.described() | {"model": MODEL, "version": VERSION, "judge": kept["judge"]}
    table.write(options.table, meta, kept["tokens"], state["table.weight"])
    levels, scale = int8_rows(state["matrix.weight"])
    exact = {"bias": state["matrix.bias"], "share": state["share"].reshape(1)}
    (options.judge / MEMORY).write_bytes(packed({"weight": levels, "weight.scale": scale} | exact))
    manifest = json.loads((options.judge / MANIFEST).read_text(encoding="utf-8"))
    for path in (options.judge / MEMORY, options.table):
        manifest["sha256"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["pairs"] = kept["source"]
    (options.judge / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
