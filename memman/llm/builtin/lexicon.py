"""Words the rules know: products by what they replace, values by what they compare with.

Two names of one class can stand in for each other ("we moved to Coolify"
retires "we deploy on Vercel"); names of different classes never can.
"""

import re

_PRODUCTS = {
    "database": """postgres mysql mariadb sqlite oracle mssql cockroachdb mongodb cassandra dynamodb couchdb
        firestore neo4j supabase planetscale duckdb clickhouse bigquery snowflake redshift timescaledb""",
    "cache": "redis memcached valkey dragonfly keydb",
    "queue": "rabbitmq kafka sqs nats celery sidekiq bullmq pulsar resque zeromq temporal",
    "search": "elasticsearch opensearch solr meilisearch typesense algolia",
    "vector": "pgvector pinecone qdrant weaviate milvus chroma faiss",
    "hosting": """vercel netlify heroku coolify railway render fly.io dokku aws gcp azure digitalocean hetzner
        linode lambda cloud-run app-engine cloudflare-pages github-pages ecs fargate""",
    "orchestration": "kubernetes nomad docker-swarm docker-compose",
    "container": "docker podman containerd",
    "ci": "jenkins circleci github-actions gitlab-ci travis-ci buildkite drone teamcity woodpecker",
    "forge": "github gitlab bitbucket gitea forgejo codeberg",
    "provision": "terraform pulumi ansible chef puppet opentofu cloudformation",
    "js manager": "npm pnpm yarn bun deno",
    "py manager": "pip poetry pipenv uv conda pdm hatch",
    "js runtime": "node",
    "build bundler": "webpack vite rollup parcel esbuild turbopack",
    "test runner": "jest vitest mocha jasmine",
    "py tests": "pytest unittest nose",
    "browser tests": "cypress playwright selenium puppeteer",
    "linter": "eslint biome oxlint tslint",
    "py linter": "ruff flake8 pylint",
    "formatter": "prettier dprint",
    "py formatter": "black yapf autopep8",
    "type checker": "mypy pyright pyre",
    "frontend": "react vue svelte angular solid preact",
    "meta framework": "next.js nuxt remix astro sveltekit gatsby",
    "backend": "django flask fastapi rails express nestjs spring laravel starlette sanic",
    "orm": "sqlalchemy prisma drizzle typeorm sequelize peewee",
    "styling": "tailwind bootstrap sass bulma",
    "state": "redux zustand mobx jotai recoil pinia vuex",
    "auth": "auth0 clerk okta keycloak cognito",
    "payments": "stripe paypal adyen braintree paddle",
    "mail": "sendgrid mailgun postmark ses resend",
    "monitoring": "datadog grafana newrelic prometheus sentry rollbar bugsnag honeycomb",
    "proxy": "nginx caddy traefik haproxy apache envoy",
    "editor": "vscode neovim vim emacs cursor zed intellij pycharm",
    "shell": "bash zsh fish powershell",
    "chat": "slack discord teams mattermost zulip",
    "tracker": "jira linear trello asana notion shortcut",
    "storage": "s3 minio gcs r2 backblaze",
    "model": "openai anthropic claude gpt-4 gpt-5 gemini ollama llama mistral",
    "agent": "copilot codex aider cline",
    "system": "linux macos windows ubuntu debian alpine fedora nixos",
    "tool": "git make cmake bazel gradle maven cargo homebrew systemd launchd tmux numpy pandas pydantic",
}
_VALUES = {
    "language": """python javascript typescript go rust java kotlin swift ruby php elixir scala haskell zig
        c++ c# clojure dart perl""",
    "weekday": """monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays
        thursdays fridays saturdays sundays""",
    "month": """january february march april june july august september october november december""",
    "frequency": "hourly daily nightly weekly biweekly monthly quarterly yearly annually",
    "branch": "master main trunk develop",
    "indent": "tabs spaces",
    "switch": "enabled disabled",
    "visibility": "public private",
    "duty": "required optional mandatory",
    "manner": "manual automatic manually automatically",
    "timing": "synchronous asynchronous sync async",
    "gate": "open closed",
    "theme": "dark light",
    "boolean": "true false",
    "health": "green red passing failing broken working",
    "merge": "squash rebase merge",
    "interface": "rest graphql grpc soap",
    "format": "json yaml toml xml ini csv parquet protobuf",
    "license": "mit apache-2.0 gpl agpl bsd mpl lgpl",
    "zone": "utc cet cest est pst gmt",
    "level": "debug info warning error",
    "colour": "blue orange purple yellow pink teal black white grey gray",
    "versioning": "semver calver",
    "tier": "alpha beta stable",
}
ALIASES = {
    "postgresql": "postgres", "psql": "postgres", "k8s": "kubernetes", "golang": "go", "nodejs": "node",
    "node.js": "node", "js": "javascript", "ts": "typescript", "py": "python", "nextjs": "next.js",
    "mongo": "mongodb", "osx": "macos", "py.test": "pytest", "tailwindcss": "tailwind", "reactjs": "react",
    "amazon-s3": "s3", "secs": "seconds", "sec": "seconds", "s": "seconds", "mins": "minutes", "min": "minutes",
    "ms": "milliseconds", "hrs": "hours", "hr": "hours",
}  # fmt: skip
# Names of several words, read as one.
_COMPOUNDS = """github actions|gitlab ci|travis ci|circle ci|cloud run|app engine|docker compose|docker swarm
|cloudflare pages|github pages|vs code|new relic|digital ocean|amazon s3|react native|sql server|google cloud"""
_MERGED = {"circle-ci": "circleci", "vs-code": "vscode", "new-relic": "newrelic", "digital-ocean": "digitalocean",
           "sql-server": "mssql", "google-cloud": "gcp"}  # fmt: skip
_COMPOUND = re.compile(r"\b(?:" + _COMPOUNDS.replace("\n", "").replace(" ", "[ -]") + r")\b", re.IGNORECASE)

UNITS = {
    unit: dimension
    for dimension, units in {
        "time": "milliseconds millisecond seconds second minutes minute hours hour days day weeks week months month",
        "size": "kb mb gb tb kib mib gib bytes characters columns lines",
        "share": "percent %",
    }.items()
    for unit in units.split()
}


def _classes(table: dict[str, str]) -> dict[str, str]:
    """Turn class → names around."""
    return {name: kind for kind, names in table.items() for name in names.split()}


PRODUCTS = _classes(_PRODUCTS)
# Of these a subject has one at a time, so that another one named alone is a change.
EXCLUSIVE = frozenset({"js manager", "py manager", "ci"} | _VALUES.keys()) - {
    "language",
    "format",
    "interface",
    "colour",
}
LANGUAGES = frozenset(_VALUES["language"].split())
_CLASS = {**_classes(_VALUES), **PRODUCTS}


def class_of(form: str) -> str:
    """Name the class whose members `form` can be exchanged with, or ''."""
    return _CLASS.get(form, "")


def canonical(form: str) -> str:
    """Spell a lower-case name as the tables do."""
    return ALIASES.get(form, form)


def join_compounds(text: str) -> str:
    """Write names of several words as one word: GitHub Actions -> GitHub-Actions."""

    def joined(match: re.Match[str]) -> str:
        name = match[0].replace(" ", "-")
        return _MERGED.get(name.lower(), name)

    return _COMPOUND.sub(joined, text)
