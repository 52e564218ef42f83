"""The built-in embedder: memories get vectors that are near the questions they answer."""

import asyncio
import shutil

import apsw
import numpy as np
import pytest

from memman.embed.static import TABLE, StaticTable
from memman.judge import embedder
from memman.judge.embedder import BuiltinEmbedder
from memman.judge.judge import Judge
from memman.model.errors import ProviderMisconfigured
from memman.model.records import Fingerprint, Usage

TEXTS = (
    "Ada prefers tabs.",
    "The deploy waits for Grace, who is on leave until May.",
    "getUserById returns None for deleted accounts.",
    "日本語",
    "k8s \N{PARTY POPPER}",
)


@pytest.fixture(scope="module")
def local():
    """Return the embedder as drains use it."""
    return BuiltinEmbedder()


def test_a_text_has_one_vector(local):
    """Alone, among others, for the first time or again: the vector of a text is the same, and of unit length."""
    made = asyncio.run(local.embed([*TEXTS, TEXTS[0]]))
    fresh = BuiltinEmbedder()
    alone = np.concatenate([fresh.vectors([text]) for text in (*TEXTS, TEXTS[0])])
    assert made.usage == Usage()
    assert made.vectors.dtype == np.float32
    assert np.abs(made.vectors - alone).max() < 1e-5
    assert (made.vectors[0] == made.vectors[-1]).all()
    assert np.allclose(np.linalg.norm(made.vectors, axis=1), 1, atol=1e-5)
    assert local.vectors([]).shape == (0, 384)


def test_a_memory_is_nearer_to_its_question_than_the_sum_of_its_words(local):
    """What shares no word with the question is still found: that is what the matrix was taught."""
    asked, memory = "when may we ship", "The deploy waits for Grace, who is on leave until May."
    table = StaticTable()
    question, words = (np.array(table.vector(text)) for text in (asked, memory))
    assert float(local.vectors([memory])[0] @ question) > float(words @ question) > 0


def test_the_fingerprint_is_the_table_s(local):
    """It names the table, which names the judge that it was taught with."""
    table = StaticTable()
    assert local.fingerprint == Fingerprint("builtin", f"{table.model}-v{table.version}", 384)
    assert table.judge == Judge().name


def test_a_table_of_another_judge_is_refused(tmp_path):
    """Files that were not taught together are one clear line."""
    path = str(tmp_path / "table.db")
    shutil.copy(TABLE, path)
    db = apsw.Connection(path)
    db.execute("UPDATE meta SET value = 'judge-of-before' WHERE key = 'judge'")
    db.close()
    other = BuiltinEmbedder(path=path)
    assert not other.vectors(["\N{PARTY POPPER}"]).any()
    with pytest.raises(ProviderMisconfigured, match="install memman again"):
        other.vectors([TEXTS[0]])


@pytest.mark.parametrize("content", [None, b"", b"no tensors at all"])
def test_a_missing_or_damaged_matrix_is_refused(tmp_path, monkeypatch, content):
    """So is a matrix that cannot be read."""
    path = tmp_path / "memory.safetensors"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(embedder, "WEIGHTS", str(path))
    with pytest.raises(ProviderMisconfigured, match="install memman again"):
        BuiltinEmbedder().vectors([TEXTS[0]])
