"""What the built-in rules decide about a new fact and the memories offered with it."""

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memman.llm.builtin import BuiltinLLM
from memman.llm.builtin.reconcile import reconcile
from memman.model.records import Request

UPDATES = [
    # from A to B
    ("We moved from Vercel to Coolify.", "We deploy on Vercel."),
    ("We moved from Vercel to Coolify.", "Deployment target: Vercel"),
    ("We've migrated from MySQL to Postgres last week.", "We use MySQL."),
    ("The team switched from Jira to Linear in March.", "We track issues in Jira."),
    ("Billing was migrated from Postgres to MySQL.", "Billing runs on Postgres."),
    ("We changed the importer timeout from 30 to 60 seconds.", "The importer timeout is 30 seconds."),
    ("The standup moved from Monday to Tuesday.", "The standup is on Monday."),
    ("We moved from Vercel to Coolify because of the bill.", "We chose Vercel because previews are easy."),
    # replaced A with B
    ("We replaced Jenkins with GitHub Actions.", "Our CI is Jenkins."),
    ("We replaced Jenkins with GitHub Actions.", "Jenkins runs our builds."),
    ("Webpack was replaced by Vite.", "We bundle with webpack."),
    ("pytest replaced unittest in this repo.", "We use unittest for tests in this repo."),
    ("Swapped Sendgrid for Postmark.", "Mail is sent with Sendgrid."),
    # B instead of A
    ("Use pnpm instead of npm.", "We use npm."),
    ("We use ruff rather than flake8 now.", "Linting: flake8"),
    ("We now deploy with Coolify instead of Heroku.", "We deploy to Heroku."),
    # no longer A, now B
    ("We no longer use Redis, we now use Valkey.", "We use Redis."),
    ("We stopped using yarn; we use pnpm now.", "We use yarn."),
    ("We no longer deploy on Heroku, now Fly.io.", "We deploy on Heroku."),
    # now uses B
    ("The frontend now uses Vite.", "The frontend uses webpack."),
    ("The API now listens on port 9090.", "The API listens on port 8080."),
    ("Sessions are now stored in Redis.", "Sessions are stored in Postgres."),
    ("We now use Linear.", "We use Jira."),
    # actually B, not A but B, correction: B
    ("Actually, the API listens on port 9090.", "The API listens on port 8080."),
    ("Correction: the default branch is main.", "The default branch is master."),
    ("The database is not MySQL but Postgres.", "The database is MySQL."),
    ("We deploy on Fly.io, not Heroku.", "We deploy on Heroku."),
    ("Correction: deploys go out on Mondays.", "Deploys go out on Fridays."),
    # renamed A to B, A is now B
    ("We renamed the repository from acme-web to acme-site.", "The repository is called acme-web."),
    ("The main package was renamed to corekit.", "The main package is named basekit."),
    ("Renamed the staging branch preview to staging-next.", "The staging branch is preview."),
    ("main is now the default branch.", "The default branch is master."),
    # dropped A in favour of B
    ("We dropped Poetry in favour of uv.", "We use Poetry."),
    ("Travis CI was retired in favor of CircleCI.", "We build with Travis CI."),
    ("Dropped ESLint for Biome.", "We lint with ESLint."),
    # upgraded to, bumped to
    ("We upgraded to Postgres 16.", "We run Postgres 15."),
    ("Bumped Python to 3.12.", "We use Python 3.11."),
    ("We upgraded from Node 18 to Node 20.", "The project uses Node 18."),
    ("Production was upgraded to Postgres 16.", "Production runs Postgres 15."),
    # went back to A
    ("We went back to npm.", "We use pnpm."),
    ("We went back to npm.", "We moved from npm to Bun."),
    ("Reverted to Webpack after the Vite trouble.", "We use Vite."),
    # switched to B without naming A
    ("We switched to Coolify.", "We deploy on Vercel."),
    ("The team moved to Slack.", "We use Teams for chat."),
    # the same attribute, another value
    ("The API listens on port 9090.", "The API listens on port 8080."),
    ("Deploys go out on Mondays.", "Deploys go out on Fridays."),
    ("Tom owns billing.", "Sara owns billing."),
    ("The default branch is main.", "The default branch is master."),
    ("Timeout for the importer is 60 seconds", "Timeout for the importer is 30 seconds."),
    ("The importer timeout is 60 seconds.", "Timeout for the importer is 30 seconds."),
    ("Backups run daily at 03:00.", "Backups run daily at 02:00."),
    ("Python version: 3.12", "Python version: 3.11"),
    ("The backend is written in Rust.", "The backend is written in Go."),
    ("Logs live in /srv/log/app.", "Logs live in /var/log/app."),
    ("Alice prefers spaces.", "Alice prefers tabs."),
    ("The new-checkout flag is disabled.", "The new-checkout flag is enabled."),
    ("The API does not support XML.", "The API supports XML."),
    ("Never push to main directly.", "Push to main directly."),
    # the same and more
    ("We use uv because pip is slow.", "We use uv."),
    ("We use Postgres for billing.", "We use Postgres."),
    ("Tests run on CI with pytest and coverage.", "Tests run on CI."),
    # written after the rules
    ("We've swapped Elasticsearch out for Meilisearch.", "Search is powered by Elasticsearch."),
    ("The mobile team no longer uses Redux; they use Zustand now.", "The mobile team uses Redux."),
    ("Release branches are now cut on Wednesdays.", "Release branches are cut on Mondays."),
    ("Max upload size was raised to 50 MB.", "Max upload size is 20 MB."),
    ("We ended up going back to Celery from Temporal.", "We use Temporal for background jobs."),
    ("The project license is now Apache-2.0.", "The project license is MIT."),
    ("Sentry has been replaced with GlitchTip.", "We report errors to Sentry."),
    ("Priya is the new maintainer of the SDK.", "Omar is the maintainer of the SDK."),
    ("Dockerfile base image changed from alpine to debian-slim.", "The Dockerfile base image is alpine."),
    ("CI runs on Node 22 now.", "CI runs on Node 20."),
    ("Feature branches are merged with squash, not rebase.", "Feature branches are merged with rebase."),
    ("The user wants single quotes instead of double quotes.", "The user wants double quotes."),
    ("Staging database host is db-stage2.internal.", "Staging database host is db-stage1.internal."),
    ("Access tokens expire after 15 minutes.", "Access tokens expire after 60 minutes."),
    ("Our error tracker is Rollbar now.", "Our error tracker is Sentry."),
    ("We cut over from RabbitMQ to Kafka on Sunday.", "We use RabbitMQ for events."),
    ("Secrets moved from .env files to Vault.", "Secrets are kept in .env files."),
    ("Ingress is handled by Traefik instead of nginx.", "Ingress is handled by nginx."),
    ("The CLI's config file is now ~/.config/tool.toml.", "The CLI's config file is ~/.toolrc."),
    ("Rate limit for partners is 500 requests per minute.", "Rate limit for partners is 200 requests per minute."),
    ("The retro is on Thursdays, not Fridays.", "The retro is on Fridays."),
    ("fetch_user was renamed to load_user.", "The helper is called fetch_user."),
    ("Docs are built with mkdocs rather than sphinx.", "Docs are built with sphinx."),
    ("Coverage threshold went from 80 to 90 percent.", "The coverage threshold is 80 percent."),
    ("We run three replicas of the API.", "We run two replicas of the API."),
    ("Actually the owner of search is Mei.", "The owner of search is Raj."),
]

DELETES = [
    ("We no longer use Redis.", "We use Redis for caching."),
    ("We stopped using Sentry.", "We use Sentry."),
    ("We don't use Kubernetes anymore.", "We deploy on Kubernetes."),
    ("The API no longer supports XML.", "The API supports XML."),
    ("We removed Datadog.", "We monitor with Datadog."),
    ("The feature flag new_checkout was removed.", "We use the feature flag new_checkout."),
    ("We got rid of Terraform.", "We use Terraform."),
    ("Deploys no longer go out on Fridays.", "Deploys go out on Fridays."),
    ("Celery is no longer used.", "We use Celery."),
    ("We killed the nightly cron job.", "The nightly cron job cleans the cache."),
    ("We abandoned GraphQL.", "We use GraphQL for the public API."),
    ("The user no longer wants emojis in commit messages.", "The user wants emojis in commit messages."),
]

KEPT = [
    ("folder-encoder moved from the canary pool to the batch cluster.", "planner moved from the batch cluster to AWS."),
    ("route-store switched from Tempo to Laravel for sessions.", "parser uses Kotlin instead of Laravel for logging."),
    ("We replaced Rollup with GitHub for the orders.", "We replaced GitHub with Prometheus for the quotas."),
    ("Tests no longer need Redis.", "The search service no longer uses Redis."),
    ("Redis caches table 0 of the shop.", "Redis caches table 11 of the shop."),
    ("Worker 3 reads topic 9.", "Worker 3 reads topic 7."),
    ("The job runs in step 3.", "The job runs in step 4."),
    # other subjects
    ("The admin panel listens on 9090.", "The API listens on 8080."),
    ("We use Redis for caching.", "We use Postgres for billing."),
    ("Bob prefers spaces.", "Alice prefers tabs."),
    ("Bob prefers tabs.", "Alice prefers tabs."),
    ("Production runs Postgres 16.", "Staging runs Postgres 15."),
    ("Production runs Postgres 16.", "Staging runs Postgres 16."),
    ("Test with pytest.", "Build with make."),
    ("Step 2 needs sudo.", "Step 1 needs sudo."),
    ("Sprint 13 ends on Friday.", "Sprint 12 ends on Friday."),
    ("The worker timeout is 60 seconds.", "The importer timeout is 30 seconds."),
    ("The EU cluster runs in Frankfurt.", "The US cluster runs in Virginia."),
    ("Sara owns search.", "Sara owns billing."),
    ("Tom owns search.", "Sara owns billing."),
    ("Billing moved from Postgres to MySQL.", "Search runs on Postgres."),
    ("Billing moved from Postgres to MySQL.", "We use Postgres."),
    ("We moved the cache from Redis to Valkey.", "We use Redis for the job queue."),
    ("The docs site moved from Netlify to Vercel.", "The web app is deployed on Netlify."),
    ("Tom moved from Berlin to Paris.", "Sara lives in Berlin."),
    ("Staging was upgraded to Postgres 16.", "Production runs Postgres 15."),
    ("We upgraded to Postgres 16.", "We run Redis 7."),
    ("The admin API now listens on port 9090.", "The API listens on port 8080."),
    ("The read replica timeout was raised from 30 to 60 seconds.", "The importer timeout is 30 seconds."),
    # added to, not replaced
    ("We also use Redis.", "We use Postgres."),
    ("We use Redis as well.", "We use Memcached."),
    ("The API now also listens on port 9090.", "The API listens on port 8080."),
    ("We additionally deploy on Fly.io.", "We deploy on Vercel."),
    ("We use both npm and pnpm.", "We use npm in the docs folder."),
    ("We support Python 3.12.", "We support Python 3.11."),
    ("The API exposes /users.", "The API exposes /orders."),
    ("The team uses Rust.", "The team uses Go."),
    ("The API uses Redis.", "The API uses Postgres."),
    # questions, plans and doubts
    ("Should we move from Vercel to Coolify?", "We deploy on Vercel."),
    ("Maybe we will switch from npm to Bun.", "We use npm."),
    ("We are considering moving from Vercel to Coolify.", "We deploy on Vercel."),
    ("We plan to migrate from MySQL to Postgres.", "We use MySQL."),
    ("We might drop Redis.", "We use Redis."),
    ("If we moved from Vercel to Coolify we would save money.", "We deploy on Vercel."),
    ("We decided against moving from npm to pnpm.", "We use npm."),
    ("We did not switch from npm to pnpm.", "We use npm."),
    ("We never moved from Vercel to Coolify.", "We deploy on Vercel."),
    ("How to migrate from MySQL to Postgres is described in docs/db.md.", "We use MySQL."),
    ("We want to replace Jenkins with GitHub Actions.", "Our CI is Jenkins."),
    ("Will we still use Redis next year?", "We use Redis."),
    ("Tom suggested that we replaced Redis with Valkey.", "We use Redis."),
    # the name is there, the claim is another
    ("We moved from Vercel to Coolify.", "Vercel's preview URLs expire after 30 days."),
    ("We moved from Vercel to Coolify.", "The Vercel CLI needs Node 18."),
    ("We no longer use Redis.", "Redis keys expire after 30 days."),
    ("We no longer use Redis.", "Alice wrote a book about Redis."),
    ("We replaced Jenkins with GitHub Actions.", "Jenkins needs a 4 GB heap."),
    ("We moved from Vercel to Coolify.", "We moved from Heroku to Coolify."),
    ("We dropped MySQL.", "We use MySQL and Redis."),
    ("We moved from Vercel to Coolify.", "Alice uses Vercel for her blog."),
    ("We stopped using yarn.", "We use yarn workspaces in the monorepo."),
    ("We removed lodash from the frontend.", "The backend uses lodash."),
    # both can be so
    ("The build is slow.", "The build is green."),
    ("The API is stable.", "The API is fast."),
    ("The API is now documented.", "The API is fast."),
    ("Alice prefers small commits.", "Alice prefers short functions."),
    ("We released 1.3 on Monday.", "We released 1.2 on Monday."),
    ("Bug #13 is fixed.", "Bug #12 is fixed."),
    ("Sara works on search.", "Sara works on billing."),
    ("The main risk is cost.", "The main risk is latency."),
    ("Run make lint before pushing.", "Run make test before pushing."),
    ("The database is slow.", "The database is Postgres."),
    ("Use structlog for logging.", "Use pytest for testing."),
    ("Python 3.12 is supported.", "Python 3.11 is supported."),
    ("The API depends on the auth service.", "The auth service depends on the API."),
    ("Tests pass.", "Tests pass only on Linux."),
    ("We use Postgres.", "We tried to use Postgres."),
    ("The timeout is 30 seconds in staging.", "The timeout is 60 seconds in production."),
    ("The meeting on Tuesday was cancelled.", "The meeting on Monday was cancelled."),
    ("We moved from Vercel to Coolify?", "We deploy on Vercel."),
    ("CI runs on Node 22 now.", "The project uses Node 18."),
    ("The line length is 100 in Python.", "The line length is 100."),
    # written after the rules
    ("Refresh tokens expire after 7 days.", "Access tokens expire after 15 minutes."),
    ("Omar maintains the CLI.", "Omar maintains the SDK."),
    ("We moved the runbook from Confluence to the wiki.", "Meeting notes are kept in Confluence."),
    ("The worker image is based on alpine.", "The API image is based on debian."),
    ("The team debated replacing Celery with Temporal.", "We use Celery."),
    ("Line length is 100 in Python.", "Line length is 80 in Markdown."),
    ("Windows builds no longer need Visual Studio.", "Alice uses Visual Studio."),
    ("Redis 7 introduced functions.", "We run Redis 6."),
    ("Carol moved from the billing team to the search team.", "Dave is on the billing team."),
    ("We fixed the flaky login test.", "The flaky login test blocks CI on Mondays."),
    ("Users can now export CSV.", "Users can export PDF."),
    ("Add a changelog entry for every PR.", "Add a test for every PR."),
    ("The gateway retries 5 times.", "The importer retries 3 times."),
    ("The cache is now warmed at start.", "The cache is Redis."),
    ("Postgres now listens on port 5433 locally.", "Postgres listens on port 5432 in production."),
    ("Instead of polling, consider webhooks.", "The importer polls every minute."),
    ("The web client retries 5 times.", "The mobile client retries 3 times."),
    ("Kafka replaced RabbitMQ in the analytics pipeline.", "Billing events go through RabbitMQ."),
    ("We switched the linter from flake8 to ruff.", "Line length is 100."),
    ("Is the default branch still master?", "The default branch is master."),
    ("Mei reviews the search PRs.", "Raj owns search."),
    ("Alice moved to the platform team.", "Bob is on the billing team."),
    ("We now have a staging environment.", "We have a production environment."),
    ("The user prefers dark mode in the editor.", "The user prefers light mode in the docs."),
    ("Someone proposed dropping GraphQL.", "We use GraphQL."),
    ("The importer no longer crashes on empty files.", "The exporter crashes on empty files."),
    ("Version 2 of the API was removed.", "Version 3 of the API uses OAuth."),
    ("Django 5.1 needs Python 3.10.", "We are on Django 4.2."),
    ("We removed the sleep from the login test.", "The login test uses Playwright."),
    ("Deploys to production need approval.", "Deploys to staging need no approval."),
]

KNOWN = [
    ("We use uv.", "We use uv because pip is slow."),
    ("We deploy on Vercel.", "We deploy on Vercel."),
    ("we deploy on  vercel", "We deploy on Vercel."),
    ("We use Postgres.", "We use Postgres for billing."),
    ("We are using `pytest`.", "We are using pytest"),
    ("我们使用 Postgres。", "我们使用 Postgres。"),
]

NOT_KNOWN = [
    ("We use Postgres 16.", "We use Postgres."),
    ("The port is 8080.", "The port is 80."),
    ("Tests never fail.", "Tests fail."),
    ("Tests run on Linux.", "Tests run on Linux except for the crash suite."),
    ("We use Postgres.", "We should use Postgres for billing."),
    ("Tests pass.", "Tests pass only on Linux."),
    ("A depends on B heavily.", "B depends on A heavily."),
    ("Sara leads billing.", "Tom leads billing and Sara leads search."),
    ("We use uv because it is fast.", "We use uv because pip is slow."),
    ("x < 3 holds here", "x > 3 holds here"),
]


def memory(n, text):
    """Offer a memory."""
    return {"n": n, "text": text, "category": "fact", "entities": [], "similarity": 0.7, "age_days": 3.2}


def fact(n, text):
    """Offer a fact."""
    return {"n": n, "text": text, "category": "fact", "entities": []}


def ask(facts, memories):
    """Reconcile texts with texts."""
    return reconcile(
        {
            "facts": [fact(n, text) for n, text in enumerate(facts)],
            "memories": [memory(n, text) for n, text in enumerate(memories)],
        }
    )


def action(new, old):
    """Name the verdict of one text on another."""
    verdicts = ask([new], [old])["verdicts"]
    return verdicts[0]["action"] if verdicts else "ADD"


@pytest.mark.parametrize(("new", "old"), UPDATES)
def test_a_changed_value_supersedes(new, old):
    """A fact that changes what a memory says supersedes it."""
    assert action(new, old) == "UPDATE"


@pytest.mark.parametrize(("new", "old"), DELETES)
def test_an_ended_truth_is_retired(new, old):
    """A fact that says a memory no longer holds retires it."""
    assert action(new, old) == "DELETE"


@pytest.mark.parametrize(("new", "old"), KEPT)
def test_what_still_holds_is_kept(new, old):
    """A memory about something else, or only doubted, is left alone."""
    assert action(new, old) not in {"UPDATE", "DELETE"}


@pytest.mark.parametrize(("new", "old"), KNOWN)
def test_a_known_fact_is_not_stored_again(new, old):
    """A fact that a memory says completely gets NONE."""
    assert action(new, old) == "NONE"


@pytest.mark.parametrize(("new", "old"), NOT_KNOWN)
def test_a_fact_that_differs_is_not_taken_for_known(new, old):
    """A number, a name, an order or a condition that differs is never NONE."""
    assert action(new, old) != "NONE"


LINKED = [
    (
        "Requests timed out because the connection pool was exhausted.",
        "The connection pool was exhausted under load.",
        ("m0", "f0", "causes"),
    ),
    (
        "Because the certificate expired, the webhook failed.",
        "The certificate expired on Sunday.",
        ("m0", "f0", "causes"),
    ),
    ("The deploy failed due to a missing migration.", "The deploy failed on Sunday.", ("f0", "m0", "causes")),
    ("The outage was caused by a full disk on db1.", "The disk on db1 was full.", ("m0", "f0", "causes")),
    (
        "A stale cache entry led to wrong invoice totals.",
        "Customers saw wrong invoice totals.",
        ("f0", "m0", "causes"),
    ),
    (
        "The memory leak results in worker restarts.",
        "Worker restarts happen nightly.",
        ("f0", "m0", "causes"),
    ),
    ("We pinned numpy to avoid the ABI crash.", "The ABI crash hits Windows.", ("f0", "m0", "prevents")),
    ("The mutex prevents double drains.", "Double drains corrupted the queue.", ("f0", "m0", "prevents")),
    (
        "Connection pooling fixes the socket exhaustion.",
        "Socket exhaustion hits the API.",
        ("f0", "m0", "prevents"),
    ),
    ("The new index enables fast prefix search.", "Prefix search is fast now.", ("f0", "m0", "enables")),
    (
        "We added a read replica so that reporting queries stay fast.",
        "Reporting queries stay fast at month end.",
        ("f0", "m0", "enables"),
    ),
    ("The parser upgrade breaks nested macros.", "Nested macros fail to expand.", ("f0", "m0", "causes")),
    (
        "The disk was full, so nightly backups failed.",
        "Nightly backups failed twice.",
        ("f0", "m0", "causes"),
    ),
    (
        "Since the token rotation is manual, logins break monthly.",
        "Token rotation is manual.",
        ("m0", "f0", "causes"),
    ),
    (
        "The root cause of the login loop was clock skew on the gateway.",
        "Clock skew on the gateway reached 90 seconds.",
        ("m0", "f0", "causes"),
    ),
    ("Flaky DNS caused the importer retries.", "Importer retries went up.", ("f0", "m0", "causes")),
]

UNLINKED = [
    ("Requests timed out because the connection pool was exhausted.", "Alice owns the billing service."),
    ("We use Postgres since 2021.", "We use Postgres 16 in production."),
    ("The build is green.", "The build runs on GitHub Actions."),
    ("We chose Redis because it is fast.", "The build is fast."),
    ("It might fail because the disk is full.", "The disk is full."),
    ("Did the deploy fail because of the missing migration?", "A migration was missing."),
    ("If the certificate expires the webhook fails.", "The certificate expired."),
    ("The port is 8080.", "The port was 9090."),
    ("Not because of load, the pool was exhausted.", "Load was high."),
    ("We like pytest because fixtures are simple.", "Tests live in tests/unit."),
    ("Because of the bill, we moved from Vercel to Coolify.", "Bob prefers spaces."),
    ("The mutex prevents double drains.", "We added a mutex to the drain."),
    ("So far the queue is stable.", "The queue is stable."),
    ("The API allows 100 requests a minute.", "Rate limits are documented in docs/api.md."),
    ("The cache broke.", "The cache is Redis."),
    ("We pinned numpy to avoid trouble.", "There was trouble with the scanner."),
]


@pytest.mark.parametrize(("new", "old", "expected"), LINKED)
def test_a_stated_cause_links_what_it_names(new, old, expected):
    """A clause of cause or effect that names what a memory says links the two, the right way round."""
    links = [(link["cause"], link["effect"], link["kind"]) for link in ask([new], [old])["causes"]]
    assert links == [expected]


@pytest.mark.parametrize(("new", "old"), UNLINKED)
def test_without_evidence_there_is_no_cause(new, old):
    """Doubt, dates and chance overlap link nothing."""
    assert ask([new], [old])["causes"] == []


def test_facts_of_one_note_are_linked():
    """A causal clause of one fact reaches the other facts of the same note."""
    links = ask(
        ["The connection pool was exhausted.", "Requests failed because the connection pool was exhausted."],
        [],
    )
    assert [(link["cause"], link["effect"]) for link in links["causes"]] == [("f0", "f1")]


def test_only_offered_numbers_come_back():
    """Verdicts and causes name the numbers that were offered."""
    answer = reconcile(
        {
            "facts": [fact(4, "We moved from Vercel to Coolify.")],
            "memories": [memory(7, "We deploy on Vercel.")],
        }
    )
    assert answer["verdicts"] == [
        {"fact": 4, "action": "UPDATE", "memory": 7, "reason": "Vercel was replaced by Coolify"}
    ]


def test_at_most_one_none_a_fact():
    """Several memories that say the same give a single NONE."""
    verdicts = ask(["We use uv."], ["We use uv.", "we use uv"])["verdicts"]
    assert [(one["action"], one["memory"]) for one in verdicts] == [("NONE", 0)]


def test_a_duplicate_goes_with_what_is_superseded():
    """Where a fact supersedes a memory, an older copy of the fact gives way to it as well."""
    verdicts = ask(
        ["The API listens on port 9090."], ["The API listens on port 8080.", "The API listens on port 9090."]
    )
    assert [one["action"] for one in verdicts["verdicts"]] == ["UPDATE", "UPDATE"]


def test_the_protocol_answers_both_tasks():
    """The model behind the protocol reads the payload and costs nothing."""
    llm = BuiltinLLM()
    payload = {"facts": [fact(0, "We use uv.")], "memories": []}
    reply = asyncio.run(llm.complete(Request("reconcile", "slow", "", "", {}, payload)))
    assert (reply.data, reply.model, reply.usage.tokens_in) == ({"verdicts": [], "causes": []}, "rules-v1", 0)


# Seconds. In proportion it takes a fifth of one; in proportion to the square it would take many minutes.
HANG = 20.0
WORDS = st.sampled_from(
    "We moved from Vercel to Coolify no longer use Redis not but now is the API port 8080 9090 because so that since"
    " replaced with by renamed instead of , . : ; ? ' ` ( ) - actually Postgres 16".split()
)


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=30).map(" ".join), st.lists(WORDS, max_size=30).map(" ".join))
def test_reconcile_never_raises_and_never_wavers(new, old):
    """Any two texts get the same well-formed answer twice."""
    first = ask([new], [old])
    assert first == ask([new], [old])
    assert all(one["action"] in {"UPDATE", "DELETE", "NONE"} for one in first["verdicts"])


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_reconcile_takes_any_text(new, old):
    """No text makes the rules raise, and equal texts are known."""
    ask([new], [old])
    assert action(new, new) == "NONE"


@pytest.mark.parametrize(
    "unit", ["a", "(", ". ", "because ", "from to ", "no longer ", '"', "`", "not , but ", "x.", "- "]
)
def test_reconcile_takes_time_in_proportion(unit):
    """64 KiB of anything is answered at once."""
    text = unit * (65536 // len(unit))
    started = time.process_time()
    ask([text, text[:1400]], [text, "We deploy on Vercel.", text[:1399]])
    assert time.process_time() - started < HANG
