"""Reranking: every shape of API, whatever it answers, within its time; secrets stay here, and hooks never ask."""

import json
import random
import shutil
import socket
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from memman.config.env import Settings, change
from memman.config.providers import RERANKERS
from memman.hot.rerank import CANDIDATES, LONGEST
from memman.model.errors import BadConfig, BadReply, ProviderMisconfigured, ProviderUnavailable
from memman.rerank import reranker
from memman.rerank.post import tls
from tests.support.providers import (
    DROP,
    GARBAGE_BODY,
    NEVER,
    OK,
    TRUNCATED_BODY,
    Act,
    ScriptedProvider,
    hang,
    redirect,
    status,
)

KEY = "pa-secret-0123456789"
QUERY = "where does the billing service keep sessions"
TEXTS = ["tabs are preferred", "the billing service", "where does the billing service keep sessions"]
EVERY = pytest.mark.parametrize("shape", list(RERANKERS))
FACTS = (
    "The billing service keeps its sessions in Redis.",
    "Sessions of the billing service expire after ten minutes.",
    "The billing service keeps its ledger in Postgres.",
)
FOREVER = hang(NEVER)


def settings(endpoint, shape="openai", **more):
    """Return settings for a reranker at `endpoint`; it has ample time unless said otherwise."""
    said = {"PROVIDER": shape, "ENDPOINT": endpoint, "API_KEY": KEY, "MODEL": "ranker", "BUDGET_MS": "20000"} | more
    return Settings({f"MEMMAN_RERANK_{name}": value for name, value in said.items()})


def scores(provider, shape="openai", texts=TEXTS, **more):
    """Have `texts` scored."""
    return reranker(settings(f"{provider.url}/v1", shape, **more)).scores(QUERY, texts)


def rows(*pairs, name="results"):
    """Answer with these (index, score) pairs."""
    found = [{"index": index, "relevance_score": score} for index, score in pairs]
    return Act(body=json.dumps({name: found}).encode())


def judge(worth):
    """Answer every request by giving each document what `worth` makes of its text, the last document first."""
    return lambda received: rows(*reversed([(n, worth(text)) for n, text in enumerate(received.body["documents"])]))


def filled(box, provider, facts=FACTS, **more):
    """Keep `facts`, and set up `provider` as the reranker, unasked."""
    for fact in facts:
        box.remember(fact)
    box.drain()
    endpoint = f"{provider.url}/v1" if isinstance(provider, ScriptedProvider) else provider
    box.configure(
        **{"RERANK_PROVIDER": "openai", "RERANK_ENDPOINT": endpoint, "RERANK_API_KEY": KEY, "RERANK_BUDGET_MS": 20000}
        | more
    )


def recalled(box, *args, query=QUERY):
    """Run `memman recall`; return the texts in order, and what went to standard error."""
    done = box.memman("recall", "--json", *args, query)
    assert done.returncode == 0, done.stderr
    return [hit["text"] for hit in json.loads(done.stdout)["hits"]], done.stderr


# --- what is asked, and what is answered ---


@EVERY
def test_scores_come_in_the_order_of_the_texts(shape):
    """Every API is asked in its own words, and its ranking is read back text by text."""
    with ScriptedProvider() as provider:
        assert scores(provider, shape) == pytest.approx([0, 3 / 7, 1])
    asked = provider.received[0]
    assert (asked.path, asked.headers["authorization"]) == ("/v1/rerank", f"Bearer {KEY}")
    most = "top_k" if shape == "voyage" else "top_n"
    own = {"return_documents": False} if shape == "jina" else {}
    assert asked.body == {"query": QUERY, "documents": TEXTS, "model": "ranker", most: 3} | own


def test_the_known_providers_need_a_key_alone():
    """Address and model have defaults, and those are encrypted; a compatible endpoint must be named."""
    for shape in ("voyage", "cohere", "jina"):
        about = reranker(settings("", shape, MODEL="")).about
        assert about.startswith(RERANKERS[shape].models[0])
        assert " at https://api." in about
    with pytest.raises(BadConfig, match="needs MEMMAN_RERANK_ENDPOINT"):
        reranker(settings(""))
    with pytest.raises(BadConfig, match="MEMMAN_RERANK_PROVIDER voyage"):
        reranker(Settings({}))


def test_a_server_without_keys_and_models_is_asked_without():
    """Neither an empty key nor an empty model is sent."""
    with ScriptedProvider() as provider:
        scores(provider, API_KEY="", MODEL="")
    assert "authorization" not in provider.received[0].headers
    assert "model" not in provider.received[0].body


@pytest.mark.parametrize("name", ["results", "data"])
def test_a_compatible_endpoint_may_answer_either_way(name):
    """Scores are read under both names that compatible servers use; no range is asked of them."""
    with ScriptedProvider(script=[rows((2, -4.5), (0, 7), (1, 0), name=name)]) as provider:
        assert scores(provider) == [7, 0, -4.5]


@pytest.mark.parametrize(
    "act",
    [
        GARBAGE_BODY,
        TRUNCATED_BODY,
        Act(body=b"[]"),
        Act(body=b"{}"),
        Act(body=b'{"results": null}'),
        Act(body=b'{"results": {"index": 0, "relevance_score": 1}}'),
        Act(body=b'{"results": [1, 2, 3]}'),
        Act(body=b'{"results": [{"index": [], "relevance_score": 1}]}'),
        Act(body=b'{"results": ' + b"[" * 100_000),
        Act(body=b'{"results": [], "padding": "' + b"x" * 2**20 + b'"}'),
        rows(),
        rows((0, 1), (1, 1)),
        rows((0, 1), (1, 1), (1, 1)),
        rows((0, 1), (1, 1), (2, 1), (2, 1)),
        rows((0, 1), (1, 1), (3, 1)),
        rows((0, 1), (1, 1), (-1, 1)),
        rows((0, 1), (1, 1), ("2", 1)),
        rows((0, 1), (1, 1), (2, float("nan"))),
        rows((0, 1), (1, 1), (2, float("inf"))),
        rows((0, 1), (1, 1), (2, None)),
        rows((0, 1), (1, 1), (2, "much")),
        rows((0, 1), (1, 1), (2, 10**400)),
    ],
)
def test_an_unsound_reply_counts_for_nothing(act):
    """What does not give each text one finite score, and one only, is a bad reply as a whole."""
    with ScriptedProvider(script=[act]) as provider, pytest.raises(BadReply) as raised:
        scores(provider)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (400, ProviderMisconfigured),
        (401, ProviderMisconfigured),
        (404, ProviderMisconfigured),
        (429, ProviderUnavailable),
        (500, ProviderUnavailable),
        (503, ProviderUnavailable),
        (204, ProviderUnavailable),
    ],
)
def test_a_refusal_is_told_by_its_status_and_nothing_is_tried_twice(code, error):
    """The error names endpoint and status, not what came with it, which may quote the request."""
    said = json.dumps({"error": {"message": f"{KEY} {QUERY}"}}).encode()
    with ScriptedProvider(script=[status(code, body=said)]) as provider, pytest.raises(error) as raised:
        scores(provider)
    assert f"{provider.url}/v1/rerank answered {code}" in str(raised.value)
    assert KEY not in str(raised.value)
    assert QUERY not in str(raised.value)
    assert provider.calls.total() == 1


def test_redirects_are_not_followed():
    """The text goes to the address that was configured, or nowhere."""
    with ScriptedProvider() as other, ScriptedProvider(script=[redirect(f"{other.url}/v1/rerank")]) as provider:
        with pytest.raises(ProviderMisconfigured, match="answered 307"):
            scores(provider)
        assert not other.calls


def test_a_connection_that_fails_is_told():
    """A server that hangs up, or that is not there, is unavailable."""
    with ScriptedProvider(script=[DROP]) as provider, pytest.raises(ProviderUnavailable, match="cannot be reached"):
        scores(provider)
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):  # it is gone by now
        scores(provider)


# --- time ---


def test_a_server_that_never_answers_is_left():
    """After its milliseconds the call ends, with nothing."""
    with (
        ScriptedProvider(script=[FOREVER]) as provider,
        pytest.raises(ProviderUnavailable, match="did not answer within 50 ms"),
    ):
        scores(provider, BUDGET_MS="50")


def test_a_server_that_keeps_talking_is_left_too():
    """The time is that of the whole call: a byte now and then does not prolong it."""

    class Trickle(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.end_headers()
            while not over.wait(0.02):
                self.wfile.write(b" ")

        def log_message(self, *_):
            pass

    over = threading.Event()
    with HTTPServer(("127.0.0.1", 0), Trickle) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            with pytest.raises(ProviderUnavailable, match="did not answer within 200 ms"):
                reranker(settings(f"http://127.0.0.1:{server.server_port}", BUDGET_MS="200")).scores(QUERY, TEXTS)
        finally:
            over.set()
            server.shutdown()


# --- where to ---


@pytest.mark.parametrize(
    ("value", "fine"),
    [
        ("https://rerank.example/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://localhost:8080", True),
        ("http://[::1]:8080", True),
        ("http://rerank.example/v1", False),
        ("http://10.0.0.1/v1", True),
        ("http://8.8.8.8/v1", False),
        ("http://127.0.0.1.example/v1", False),
        ("http://localhost@rerank.example/", False),
        ("https://rerank.example:port/v1", False),
        ("http://[::1/v1", False),
        ("ftp://localhost/", False),
    ],
)
def test_text_leaves_the_machine_encrypted_only(box, value, fine):
    """Without TLS there are only addresses of the local network; a hand-written env file is held to the same."""
    if fine:
        change(str(box.data), "rerank.endpoint", value)
        assert Settings.load(str(box.data))["MEMMAN_RERANK_ENDPOINT"] == value
    else:
        with pytest.raises(BadConfig, match="MEMMAN_RERANK_ENDPOINT takes"):
            change(str(box.data), "rerank.endpoint", value)
        box.configure(RERANK_ENDPOINT=value)
        with pytest.raises(BadConfig, match="MEMMAN_RERANK_ENDPOINT takes"):
            Settings.load(str(box.data))


def test_a_proxy_of_the_environment_is_gone_through(monkeypatch):
    """What is encrypted goes through the proxy that the environment names, which learns the host and no more."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        for name, value in (("HTTPS_PROXY", f"http://127.0.0.1:{proxy.getsockname()[1]}"), ("NO_PROXY", "")):
            monkeypatch.setenv(name.lower(), value)
            monkeypatch.setenv(name, value)
        said = []

        def refuse():
            client, _ = proxy.accept()
            with client:
                said.append(client.recv(65_536).decode())
                client.sendall(b"HTTP/1.1 503 No\r\n\r\n")

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        with pytest.raises(ProviderUnavailable, match="cannot be reached"):
            reranker(settings("https://rerank.example/v1")).scores(QUERY, TEXTS)
        thread.join(20)
    assert said[0].startswith("CONNECT rerank.example:443 ")
    assert KEY not in said[0]


@pytest.mark.skipif(not shutil.which("openssl"), reason="a certificate has to be made")
def test_an_encrypted_server_must_prove_who_it_is(monkeypatch, tmp_path):
    """A certificate counts only where an authority vouches for it; SSL_CERT_FILE names one's own."""
    key, certificate = f"{tmp_path}/key", f"{tmp_path}/certificate"
    subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
        f" -keyout {key} -out {certificate}".split(),
        check=True,
        capture_output=True,
    )

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            reply = rows((0, 1), (1, 2), (2, 3)).body
            self.send_response(200)
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        server.handle_error = lambda *_: None
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        model = reranker(settings(f"https://localhost:{server.server_port}"))
        try:
            with pytest.raises(ProviderUnavailable, match="SSLCertVerificationError"):
                model.scores(QUERY, TEXTS)
            monkeypatch.setenv("SSL_CERT_FILE", certificate)
            assert model.scores(QUERY, TEXTS) == [1, 2, 3]
        finally:
            server.shutdown()


def test_where_the_system_knows_no_authority_there_are_others(monkeypatch, tmp_path):
    """A Python without certificates verifies all the same."""
    monkeypatch.setenv("SSL_CERT_FILE", f"{tmp_path}/none")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    context = tls()
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.cert_store_stats()["x509_ca"] > 50


# --- recall ---


def test_the_reranker_has_the_last_word_on_the_order(box):
    """With --rerank the hits come as the reranker orders them, notes that wait among them; scores stay local."""
    with ScriptedProvider(script=judge(lambda text: -len(text))) as provider:
        filled(box, provider)
        box.remember("The billing service keeps sessions.")
        local, _ = recalled(box)
        assert not provider.calls
        done = box.memman("recall", "--rerank", "--json", QUERY)
        short, err = recalled(box, "--rerank", "--limit", "2")
    hits = json.loads(done.stdout)["hits"]
    texts = [hit["text"] for hit in hits]
    assert texts == sorted(local, key=len)
    assert texts[:2] == short
    assert texts != local
    assert [hit["rerank"] for hit in hits] == [-len(text) for text in texts]
    assert [hit["pending"] for hit in hits] == [True, False, False, False]
    assert all(0 < hit["score"] < 2 for hit in hits)
    assert err == ""
    assert provider.calls == {"/v1/rerank": 2}


def test_an_order_that_is_asked_for_is_given_to_the_hits_of_the_reranker(box):
    """With --intent when, the reranker says which hits are shown, and they are shown newest first."""
    worth = {"Redis": 2, "Postgres": 1}
    grade = judge(lambda text: sum(points for word, points in worth.items() if word in text))
    with ScriptedProvider(script=grade) as provider:
        filled(box, provider, facts=())
        for fact in FACTS:
            box.remember(fact)
            box.drain()
        both = ("--rerank", "--limit", "2")
        assert recalled(box, *both) == ([FACTS[0], FACTS[2]], "")
        assert recalled(box, *both, "--intent", "when") == ([FACTS[2], FACTS[0]], "")


def test_why_prints_what_the_reranker_gave(box):
    """`why --query` has the reranker's score beside the local one, and says what it put last."""
    with ScriptedProvider(script=judge(lambda text: 0.125 if "Postgres" in text else -3.5)) as provider:
        filled(box, provider)
        last = json.loads(box.memman("show", "--rerank", "--json", "--query", QUERY).stdout)["hits"][-1]["uid"]
        done = box.memman("show", "--rerank", "--limit", "1", "--query", QUERY, last)
        whole = box.memman("show", "--rerank", "--query", QUERY).stdout
    first, score, factors = done.stdout.splitlines()[:3]
    assert "Postgres" in first
    assert score.startswith("   score ")
    assert "reranker 0.125" in factors
    assert "reranker -3.500" in whole
    assert "with --limit 50: place" in done.stdout


def test_a_setting_has_every_recall_reranked(box):
    """MEMMAN_RERANK=on does without the option, off needs it."""
    with ScriptedProvider() as provider:
        filled(box, provider, RERANK="off")
        recalled(box)
        assert not provider.calls
        change(str(box.data), "rerank", "on")
        recalled(box)
        assert provider.calls.total() == 1


@pytest.mark.parametrize("query", ["billing", "billing sessions", "billing-service?"])
def test_a_query_of_two_words_is_not_sent(box, query):
    """Two words and fewer say too little; whoever asked is told."""
    with ScriptedProvider() as provider:
        filled(box, provider, RERANK="on")
        local, silent = recalled(box, query=query)
        asked, said = recalled(box, "--rerank", query=query)
    assert local == asked != []
    assert not provider.calls
    assert silent == ""
    assert said == "memman: not reranked: the query has fewer than 3 words\n"


def test_where_there_is_no_order_to_judge_nobody_is_asked(box):
    """Neither no hit nor a single one is sent anywhere."""
    with ScriptedProvider() as provider:
        filled(box, provider, facts=FACTS[:1])
        assert recalled(box, "--rerank") == ([FACTS[0]], "")
        assert recalled(box, "--rerank", query="zebra quagga okapi") == ([], "")
        assert not provider.calls


def test_the_best_thirty_are_offered_and_no_more(box):
    """However many there are, the reranker sees the best ones, each cut short; more only where more are to be shown."""
    with ScriptedProvider() as provider:
        box.configure(JUDGE="off")
        filled(box, provider, facts=[f"The billing service keeps sessions of shard {n}{n * 7}." for n in range(60)])
        box.remember("The billing service keeps its sessions: " + "and so forth " * 400)
        for limit in ("5", "40"):
            recalled(box, "--rerank", "--limit", limit)
    sent = [request.body["documents"] for request in provider.received]
    assert [len(documents) for documents in sent] == [CANDIDATES, 40]
    assert max(len(text) for text in sent[0]) == LONGEST


def test_no_secret_is_sent(box):
    """What the rules find in the query or in a hit leaves as a marker; a secret that a cut would halve, too."""
    token, other = "ghp_" + "a1B2c3D4" * 4 + "e5F6", "ghp_" + "z9Y8x7W6" * 4 + "v5U4"
    with ScriptedProvider() as provider:
        filled(box, provider)
        box.remember(f"The billing service keeps its sessions with token {token}.")
        padding = "The billing service keeps its sessions. ".ljust(LONGEST - 20, "x") + " "
        box.remember(f"{padding}{token} <private>the cat's name</private>")
        recalled(box, "--rerank")
        recalled(box, "--rerank", query=f"{' '.join(FACTS)} {other}")
    first, second = (request.body for request in provider.received)
    assert sum("token [redacted:" in text for text in first["documents"]) == 1
    assert len(first["documents"]) == len(FACTS) + 2
    assert second["query"].startswith(f"{' '.join(FACTS)} [redacted:")
    sent = json.dumps([first, second])
    assert "ghp_" not in sent
    assert "cat's name" not in sent


@pytest.mark.parametrize(
    "act", [FOREVER, status(429), status(500), GARBAGE_BODY, rows((0, 1)), DROP], ids=lambda act: f"{act.status}"
)
def test_without_a_sound_answer_in_time_the_local_order_stands(box, act):
    """The hits are those of a recall that was not reranked, in their order; only who asked hears why."""
    with ScriptedProvider(script=lambda _: act) as provider:
        filled(box, provider, RERANK_BUDGET_MS=300 if act is FOREVER else 20000)
        how = ("--intent", "when", "--limit", "2")
        local, _ = recalled(box, *how)
        asked, said = recalled(box, *how, "--rerank")
        change(str(box.data), "rerank", "on")
        unasked, silence = recalled(box, *how)
        assert local == asked == unasked
        assert said.startswith(f"memman: not reranked: {provider.url}/v1/rerank ")
        assert said.count("\n") == 1
        assert silence == ""
        assert box.memman("show", *how, "--query", QUERY).stderr.startswith("memman: not reranked: ")
        assert provider.calls.total() == 3


def test_settings_that_will_not_do_leave_the_local_order(box):
    """Without a provider, or with an env file that others can read, the line says what to do."""
    filled(box, "http://127.0.0.1:9/v1")
    local, _ = recalled(box)
    (box.data / "env").chmod(0o644)
    asked, said = recalled(box, "--rerank")
    assert asked == local
    assert "chmod 600" in said
    (box.data / "env").unlink()
    asked, said = recalled(box, "--rerank")
    assert asked == local
    assert "memman config set MEMMAN_RERANK_PROVIDER" in said


def test_a_store_that_is_not_there_is_still_an_error(box):
    """Reranking covers no mistake of the caller's."""
    box.configure(RERANK="on")
    done = box.memman("recall", "--store", "nowhere", QUERY)
    assert done.returncode == 11
    assert "there is no store named" in done.stderr


def test_hooks_ask_no_reranker(box):
    """With reranking on for every recall, a prompt and a sub-agent's task are answered without it."""
    with ScriptedProvider() as provider:
        filled(box, provider, RERANK="on")
        for event, payload in (
            ("user-prompt", {"prompt": QUERY}),
            ("pre-tool", {"tool_name": "Task", "tool_input": {"prompt": QUERY}}),
            ("session-start", {}),
        ):
            done = box.memman("hook", event, "--host", "codex", input=json.dumps({"session_id": event} | payload))
            assert done.returncode == 0
            assert "Redis" in done.stdout
        assert not provider.calls
        recalled(box)
        assert provider.calls.total() == 1


def test_doctor_asks_the_reranker_with_leave_only(box):
    """Set up is well enough unless it may be asked; then it has to answer, and soundly."""
    with ScriptedProvider(script=[OK, status(500)]) as provider:
        filled(box, provider, facts=())
        results = [
            (found["status"], found["says"])
            for leave in ((), ("--billable",), ("--billable",))
            for found in json.loads(box.memman("doctor", "--json", "--check", "model", *leave).stdout)["findings"]
            if "rerank" in found["says"]
        ]
    assert [status_ for status_, _ in results] == ["ok", "ok", "warn"]
    assert "answered 500" in results[2][1]
    assert provider.calls.total() == 2


# --- what is superseded ---

CHAIN = (
    "The API runs on Node 18.",
    "The API now runs on Node 20 instead of Node 18.",
    "The API now runs on Node 22 instead of Node 20.",
)
ASIDE = ("The API logs to stdout on Node.", "The build of the API runs on Jenkins.", "The tests run on Node in Docker.")


def test_what_is_superseded_never_comes_before_what_took_its_place(box):
    """Whatever the reranker gives, with --history too, the memory in force precedes those before it."""
    dice = random.Random(15)
    with ScriptedProvider(script=judge(lambda _: dice.choice((dice.random(), 0.5, -1.0)))) as provider:
        filled(box, provider, facts=())
        for fact in (CHAIN[0], *ASIDE, *CHAIN[1:]):
            box.remember(fact)
            box.drain()
        change(str(box.data), "rerank", "on")
        old = {hit.row.text for hit in box.hits("API Node", history=True) if hit.row.status == "superseded"}
        assert len(old) == 2
        seen = set()
        for _ in range(12):
            texts, _ = recalled(box, "--history", "--limit", "5", query="which Node does the API run on")
            assert not old & set(texts[: texts.index(CHAIN[2])])
            seen.add(tuple(texts))
        assert len(seen) > 3
        assert not old & set(recalled(box, query="which Node does the API run on")[0])
