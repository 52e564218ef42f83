"""The words of the synthetic notes: what engineers of a middling company write about."""

AREAS = """billing invoice payment ledger checkout cart catalog search index ranking feed timeline profile account
session token login webhook email sms push notification report export import ingest stream queue job worker cache
replica shard snapshot backup archive audit metrics trace alert dashboard config flag experiment pricing tax shipping
inventory warehouse supplier order refund dispute fraud identity consent privacy locale translation media image video
upload thumbnail render template schema migration tenant quota usage license device sensor firmware route map geocode
weather calendar booking seat ticket coupon loyalty referral survey review comment message chat presence contact
directory document folder sync merge diff release build artifact registry secret certificate domain proxy
edge""".split()

ROLES = """service worker gateway daemon consumer producer controller resolver handler adapter client exporter importer
scheduler reconciler validator serializer parser builder loader dispatcher monitor broker planner optimizer indexer
collector mirror sweeper watcher router store pool bridge agent operator renderer encoder limiter""".split()

LIBRARIES = """Postgres MySQL SQLite Redis Memcached Kafka RabbitMQ NATS Elasticsearch OpenSearch ClickHouse DuckDB
Snowflake BigQuery Cassandra DynamoDB MongoDB Neo4j Qdrant Milvus pgvector Terraform Pulumi Ansible Kubernetes Nomad
Docker Podman Helm ArgoCD Flux Jenkins CircleCI Buildkite GitHub GitLab Vercel Netlify Coolify Heroku Fly Render
Cloudflare Fastly Nginx Envoy Caddy HAProxy Istio Linkerd Vault Consul Prometheus Grafana Loki Tempo Jaeger Sentry
Datadog Honeycomb OpenTelemetry FastAPI Django Flask Starlette Express Fastify NestJS Next.js Remix SvelteKit React Vue
Angular Solid htmx Tailwind Vite Webpack esbuild Rollup Bun Deno Node.js Python Rust Go Kotlin Swift Elixir Phoenix
Rails Laravel Spring Quarkus gRPC GraphQL Protobuf Avro Parquet Arrow Spark Flink Airflow Dagster Prefect dbt Celery
Sidekiq Temporal pytest Jest Vitest Playwright Cypress Selenium mypy ruff ESLint Prettier Poetry uv pnpm Yarn Bazel
Gradle Maven CMake Stripe Adyen Twilio SendGrid Mailgun Auth0 Okta Keycloak Clerk Supabase Firebase
LaunchDarkly""".split()

PEOPLE = """Ana Bela Chidi Dario Elif Farid Greta Hana Ivo Jonas Kaito Leila Marek Nadia Olga Pedro Quinn Rosa Sven
Tariq Uma Viktor Wen Ximena Yusuf Zofia Amara Bruno Carmen Dmitri Esther Felix Gwen Hugo Ines Jamal Keiko Lars Mina
Noor Oscar Priya Rafael Sofia Tomas Ulrika Vera Wanda Yara Zane""".split()

PLACES = """production staging the sandbox|the demo environment|the CI runners|the eu-west-1 region|the us-east-2 region
the developer laptops|the batch cluster|the edge nodes|the canary pool|the on-call rotation|the mobile app
the admin console|the public API|the data warehouse|the nightly build|the release branch""".replace("\n", "|")
PLACES = [place.strip() for place in PLACES.replace("production staging ", "production|staging|").split("|")]

VERBS = """retries drops duplicates reorders truncates compresses encrypts batches caches validates rejects forwards
replays archives throttles shards samples rotates reloads deduplicates serializes flushes polls debounces normalizes
splits merges signs verifies prunes snapshots backfills rehydrates quarantines escalates coalesces partitions""".split()

THINGS = """requests events rows payloads messages connections sessions certificates tokens uploads thumbnails invoices
refunds webhooks locks transactions migrations indexes partitions replicas backups alerts dashboards traces spans logs
metrics counters histograms headers cookies redirects timeouts deadlocks callbacks fixtures snapshots mocks schemas
columns constraints triggers views queries joins cursors pools threads coroutines goroutines buffers caches keys leases
heartbeats offsets checkpoints manifests artifacts images containers volumes secrets variables flags rollouts""".split()

QUALITIES = """stale idle oversized malformed orphaned encrypted compressed legacy nested partial duplicate concurrent
expired unsigned anonymous regional internal temporary archived inactive slow large small empty signed cached remote
local pending failed optional mandatory deprecated experimental shared private nightly weekly hourly manual automatic
incremental idempotent transient persistent""".split()

REASONS = """the connection pool ran dry under load|the vendor raised its prices|the old client leaked file handles
two writers raced for the same lock|the certificate expired over a weekend|the query planner chose a sequential scan
nobody on the team could debug it|cold starts took longer than the budget|the memory limit killed the pod twice a day
the audit asked for a trail of every change|customers in Japan saw the wrong currency|the clock on one host drifted
the payload outgrew the broker's limit|retries amplified the outage|the library was abandoned upstream
the index no longer fitted into memory|the tests were flaky on slow runners|the licence changed
a regular expression backtracked for minutes|the cache served another tenant's data|the disk filled with core dumps
the schema drifted between regions|the deploy needed a full restart|the garbage collector paused for seconds
a proxy stripped the header|time zones were compared as strings|the default changed in a minor release
the replica lagged behind by hours|the rate limit was shared by all tenants|the migration held a table lock""".replace(
    "\n", "|"
).split("|")

UNITS = "ms|seconds|minutes|MB|GB|requests per second|connections|workers|retries|days|rows|percent".split("|")

# Slots: c and d components, f a file, l and m libraries, p a person, w a place, v a version, n an amount, q a
# quality, t and u things, o a verb, r a reason.
SENTENCES = (
    ("decision", "We moved {c} from {l} to {m} because {r}."),
    ("decision", "{c} uses {l} {v} for its {q} {t}, not {m}."),
    ("decision", "We decided to keep {c} on {l} until {d} no longer needs its {q} {t}."),
    ("decision", "{p} chose {l} over {m} for {c} because {r}."),
    ("decision", "All {q} {t} of {c} go through {d} from now on."),
    ("decision", "We pinned {l} to {v} in {c} because {r}."),
    ("fact", "{c} {o} {q} {t} after {n} in {w}."),
    ("fact", "The default timeout of {c} in {w} is {n}."),
    ("fact", "{c} is deployed to {w} with {l} and listens on port {x}."),
    ("fact", "{f} holds the {q} {t} that {c} reads at start-up."),
    ("fact", "The limit for {q} {t} in {c} is {n}."),
    ("fact", "{p} owns {c} and reviews every change to {f}."),
    ("fact", "{c} stores its {t} in {l} and its {u} in {m}."),
    ("fact", "{c} depends on {d} for {q} {t} and falls back to {l}."),
    ("fact", "Version {v} of {c} {o} {t} before it {o2} {u}."),
    ("fact", "The {q} {t} of {c} are kept for {n} in {w}."),
    ("insight", "{c} failed in {w} because {r}."),
    ("insight", "The outage of {c} was caused by {q} {t} that {d} {o} twice."),
    ("insight", "Raising the pool of {c} to {n} fixed the {q} {t}."),
    ("insight", "{c} {o} {t} twice when {d} restarts, so make the handler idempotent."),
    ("insight", "Running {f} against {l} {v} shows that {c} {o} {q} {t}."),
    ("insight", "Do not call {d} from {c} inside a transaction: {r}."),
    ("insight", "The test of {f} is slow because {c} {o} {q} {t}."),
    ("preference", "{p} prefers {l} to {m} for tests of {c}."),
    ("preference", "Always run the {q} {t} check before deploying {c} to {w}."),
    ("preference", "Never log {q} {t} in {c}, not even in {w}."),
    ("preference", "Use {l} for new {t} in {c}, and keep {m} for the {q} ones."),
    ("context", "{p} is rewriting {f} so that {c} {o} {q} {t}."),
    ("context", "The goal for {c} this quarter is {n} for {q} {t} in {w}."),
    ("context", "{c} will replace {d} once the {q} {t} are migrated."),
)

QUESTIONS = (
    "how is {c} deployed",
    "what does {c} depend on",
    "why did {c} fail",
    "which database does {c} use",
    "who owns {c}",
    "what is the limit in {c}",
)
# Their words are in a large part of all notes.
COMMON = (
    "default timeout for requests in production",
    "why did it fail in staging",
    "which service keeps the events and messages",
    "what do we use for tests before deploying",
    "limit of connections and retries in production",
    "what caused the outage of the worker",
)
