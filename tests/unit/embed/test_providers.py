import asyncio
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memman.config.providers import EMBEDDERS
from memman.embed.remote import BATCH, SHAPES, RemoteEmbedder
from memman.http import Http, Policy
from memman.model.errors import BadReply, ProviderMisconfigured, ProviderUnavailable, Refused
from memman.model.records import Fingerprint
from tests.support.providers import DROP, GARBAGE_BODY, OK, TRUNCATED_BODY, Act, ScriptedProvider, status

if TYPE_CHECKING:
    from memman.embed.base import Embedder

KEY = "pa-secret-0123456789"
TEXTS = ["Alice prefers tabs", "tabs Alice prefers", "the database is Postgres"]
EVERY = pytest.mark.parametrize("shape", list(SHAPES))
EXTRA = {"voyage": {"input_type": "document"}}
PATHS = {"openai": "/v1/embeddings", "voyage": "/v1/embeddings", "ollama": "/api/embed"}


def embed(provider, shape="openai", *batches, **given):
    """Embed each of `batches` in turn; give the results and the embedder, closed."""

    async def run():
        http = Http(Policy(tries=2, backoff=0.001))
        endpoint = provider.url + PATHS[shape].removesuffix("/embeddings").removesuffix("/api/embed")
        embedder: Embedder = RemoteEmbedder(http, shape, endpoint, KEY, "model", **given)
        try:
            return [await embedder.embed(texts) for texts in batches], embedder
        finally:
            await embedder.close()

    return asyncio.run(run())


def vectors(*rows, **usage):
    """Answer with these vectors in the OpenAI shape."""
    data = [{"index": number, "embedding": row} for number, row in enumerate(rows)]
    return Act(body=json.dumps({"data": data, "usage": usage}).encode())


def test_every_embedder_that_can_be_set_is_known_everywhere():
    """Each has a shape to ask it in, an address and a model, and what doctor asks it for nothing."""
    remote = [row for row in EMBEDDERS.values() if row.by_http]
    assert set(SHAPES) == {row.name for row in remote}
    assert all(row.endpoint and row.models and row.free for row in remote)


@EVERY
def test_vectors_are_unit_float32_in_order(shape):
    """Every API gives one float32 row of unit length for each text, in the order of the texts."""
    with ScriptedProvider() as provider:
        (found,), embedder = embed(provider, shape, TEXTS)
    assert found.vectors.dtype == np.float32
    assert found.vectors.shape == (3, 64)
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)
    close = found.vectors @ found.vectors[0]
    assert close[1] == pytest.approx(1, abs=1e-6)
    assert close[2] < 0.5
    assert embedder.fingerprint == Fingerprint(shape, "model", 64)
    assert provider.calls == {PATHS[shape]: 1}


@EVERY
def test_what_is_sent(shape):
    """The request carries the key, the model and the texts, and for Voyage their kind."""
    with ScriptedProvider() as provider:
        embed(provider, shape, TEXTS)
    sent = provider.received[0]
    assert sent.body == {"model": "model", "input": TEXTS} | EXTRA.get(shape, {})
    assert sent.headers["authorization"] == f"Bearer {KEY}"


@EVERY
def test_usage_and_cost(shape):
    """Tokens are counted over all batches and priced where a price is known."""
    with ScriptedProvider() as provider:
        (free,), _ = embed(provider, shape, TEXTS)
        (paid,), _ = embed(provider, shape, TEXTS, price=0.5)
    assert free.usage.tokens_in > 0
    assert free.usage.cost is None
    assert paid.usage.cost == pytest.approx(paid.usage.tokens_in * 0.5e-6)


def test_many_texts_are_split():
    """More texts than one call takes are embedded in several, in order."""
    texts = [f"text number {number}" for number in range(2 * BATCH + 1)]
    with ScriptedProvider() as provider:
        (found,), _ = embed(provider, "openai", texts)
        (last,), _ = embed(provider, "openai", texts[-1:])
    assert [len(r.body["input"]) for r in provider.received] == [BATCH, BATCH, 1, 1]
    assert found.vectors.shape == (len(texts), 64)
    assert np.array_equal(found.vectors[-1], last.vectors[0])


def test_no_texts_need_no_call():
    """Embedding nothing gives an empty array of the known dimension."""
    with ScriptedProvider() as provider:
        (found,), _ = embed(provider, "openai", [], dimension=64)
    assert found.vectors.shape == (0, 64)
    assert not provider.calls


def test_rows_follow_their_index():
    """Rows that arrive out of order are put in the order of the texts."""
    data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 0]}]
    with ScriptedProvider(script=[Act(body=json.dumps({"data": data}).encode())]) as provider:
        (found,), _ = embed(provider, "openai", ["a", "b"])
    assert found.vectors.tolist() == [[1, 0], [0, 1]]
    assert found.usage.tokens_in == 0


@pytest.mark.parametrize(
    "act",
    [
        vectors([1.0, 0.0]),
        vectors([1.0, 0.0], [1.0, 0.0], [1.0, 0.0]),
        vectors([1.0, 0.0], [1.0]),
        vectors([1.0, 0.0], [float("nan"), 1.0]),
        vectors([1.0, 0.0], [float("inf"), 1.0]),
        vectors([1.0, 0.0], [1e300, 1e300]),
        vectors([1.0, 0.0], [10**400, 1]),
        vectors([1.0, 0.0], [0.0, 0.0]),
        vectors([], []),
        vectors("no", "numbers"),
        vectors(None, None),
        Act(body=b'{"data": [{"index": 0, "embedding": [1]}, {"index": 7, "embedding": [1]}]}'),
        Act(body=b'{"data": [1, 2]}'),
        Act(body=b"{}"),
        GARBAGE_BODY,
        TRUNCATED_BODY,
    ],
)
def test_unsound_vectors_are_a_bad_reply(act):
    """Missing, surplus, ragged, infinite or zero vectors are a BadReply, never stored."""
    with ScriptedProvider(script=[act]) as provider, pytest.raises(BadReply) as caught:
        embed(provider, "openai", ["a", "b"])
    assert KEY not in str(caught.value)


def test_another_dimension_than_declared_is_misconfigured():
    """A model whose vectors are not of the declared dimension does not fit the configuration."""
    with (
        ScriptedProvider() as provider,
        pytest.raises(ProviderMisconfigured, match="dimension 64, expected 128"),
    ):
        embed(provider, "openai", TEXTS, dimension=128)


def test_a_learned_dimension_is_kept():
    """The first reply sets the dimension; a later one of another dimension is not accepted."""
    with (
        ScriptedProvider(script=[OK, vectors([1.0, 0.0])]) as provider,
        pytest.raises(ProviderMisconfigured, match="dimension 2, expected"),
    ):
        embed(provider, "openai", ["a"], ["b"])


@EVERY
def test_faults_become_errors(shape):
    """Trouble that passes is tried again; what lasts, or is rejected, has its error without the key."""
    with ScriptedProvider(script=[status(503)]) as provider:
        assert len(embed(provider, shape, TEXTS)[0]) == 1
    for act, error in ((DROP, ProviderUnavailable), (status(401), ProviderMisconfigured)):
        with ScriptedProvider(script=[act, act]) as provider, pytest.raises(error) as caught:
            embed(provider, shape, TEXTS)
        assert KEY not in str(caught.value)


@EVERY
@pytest.mark.parametrize("code", [400, 413, 500])
def test_a_text_that_alone_fails_is_refused(shape, code):
    """Where another text is embedded the text is to blame; where none is, the provider or its settings are."""

    def script(received):
        return status(code) if down or "poison" in str(received.body["input"]) else OK

    down = False
    with ScriptedProvider(script=script) as provider:
        with pytest.raises(Refused):
            embed(provider, shape, ["well", "poison"])
        down = True
        with pytest.raises(ProviderUnavailable if code == 500 else ProviderMisconfigured):
            embed(provider, shape, ["well", "poison"])
