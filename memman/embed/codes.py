"""How a vector is stored: a sign code to scan, an int8 vector to rescore."""

import numpy as np

from memman.embed import Vectors


def sign_code(vector: Vectors) -> bytes:
    """Return one bit a dimension, most significant first: 1 where the component is positive."""
    return np.packbits(vector > 0).tobytes()


def int8(vector: Vectors) -> bytes:
    """Return the vector scaled so that its largest component is 127; cosines do not depend on scale."""
    largest = float(np.abs(vector).max(initial=0.0))
    scaled = np.rint(vector * (127 / largest)) if largest else np.zeros_like(vector)
    return scaled.astype(np.int8).tobytes()
