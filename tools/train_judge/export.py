"""Write a trained judge as memman reads it: int8 rows with a scale each, its vocabulary, and what it was made from."""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import torch
from model import names
from texts import DATA

from memman.judge.judge import MANIFEST, VOCABULARY, WEIGHTS
from tools.packing import int8_rows, packed

_RENAMED = {
    "words": "embeddings.word_embeddings.weight",
    "places": "embeddings.position_embeddings.weight",
    "types": "embeddings.token_type_embeddings.weight",
}


def main() -> None:
    """Parse the command line and write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trained", type=Path, help="what train.py wrote")
    parser.add_argument("into", type=Path, help="the folder to write them into")
    options = parser.parse_args()
    kept = torch.load(options.trained, weights_only=True)
    export(kept["state"], kept["layers"], kept["vocabulary"], options.into)


def export(state: dict[str, torch.Tensor], layers: int, vocabulary: dict[str, int], into: Path) -> None:
    """Write the judge's files, and a manifest of their digests and of the texts they were made from."""
    theirs = names(layers) | _RENAMED
    tensors: dict[str, np.ndarray] = {}
    for name, tensor in state.items():
        array = tensor.detach().float().numpy()
        as_read = theirs.get(name, name)
        if array.ndim == 2:
            levels, scale = int8_rows(array)
            # Few rows, added to everything: kept as they are.
            exact = name in {"places", "types"}
            tensors |= {as_read: array.astype(np.float32)} if exact else {as_read: levels, f"{as_read}.scale": scale}
        else:
            tensors[as_read] = array.astype(np.float32)
    files = {
        WEIGHTS: packed(tensors),
        VOCABULARY: "\n".join(sorted(vocabulary, key=vocabulary.__getitem__)).encode(),
    }
    digests = {name: hashlib.sha256(blob).hexdigest() for name, blob in files.items()}
    manifest = {
        "name": f"judge-{digests[WEIGHTS][:8]}",
        "layers": layers,
        "sha256": digests,
        "data": _digest(DATA),
        "torch": torch.__version__,
    }
    files[MANIFEST] = (json.dumps(manifest, indent=1) + "\n").encode()
    for name, blob in files.items():
        (into / name).write_bytes(blob)


def _digest(folder: Path) -> str:
    """Return one digest of all the texts."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*.jsonl")):
        whole.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return whole.hexdigest()


if __name__ == "__main__":
    main()
