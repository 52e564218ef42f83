"""Write tensors as memman reads them: rows of int8 with a scale each, in a safetensors file."""

import json

import numpy as np


def int8_rows(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Round each row of `matrix` to int8; return the levels and the rows' scales."""
    scale = np.maximum(np.abs(matrix).max(1) / 127, 1e-12).astype(np.float32)
    return np.clip(np.rint(matrix / scale[:, None]), -127, 127).astype(np.int8), scale


def packed(tensors: dict[str, np.ndarray]) -> bytes:
    """Lay tensors out as safetensors does, float32 first: 8 bytes of header length, a JSON header, then raw data."""
    head, blobs, at = {}, [], 0
    for name, array in sorted(tensors.items(), key=lambda item: (item[1].dtype.itemsize == 1, item[0])):
        blob = np.ascontiguousarray(array).tobytes()
        kind = "I8" if array.dtype == np.int8 else "F32"
        head[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    raw = json.dumps(head, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    return len(raw).to_bytes(8, "little") + raw + b"".join(blobs)
