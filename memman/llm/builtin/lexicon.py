"""Names of products and languages, however they are written: memories are linked by them."""

import re

PRODUCTS = frozenset(
    """
    adyen aider algolia alpine angular ansible anthropic apache app-engine asana astro auth0 autopep8 aws
    azure backblaze bash bazel bigquery biome bitbucket black bootstrap braintree bugsnag buildkite bullmq
    bulma bun caddy cargo cassandra celery chef chroma circleci claude clerk clickhouse cline cloud-run
    cloudflare-pages cloudformation cmake cockroachdb codeberg codex cognito conda containerd coolify
    copilot couchdb cursor cypress datadog debian deno digitalocean discord django docker docker-compose
    docker-swarm dokku dprint dragonfly drizzle drone duckdb dynamodb ecs elasticsearch emacs envoy esbuild
    eslint express faiss fargate fastapi fedora firestore fish flake8 flask fly.io forgejo gatsby gcp gcs
    gemini git gitea github github-actions github-pages gitlab gitlab-ci gpt-4 gpt-5 gradle grafana haproxy
    hatch heroku hetzner homebrew honeycomb intellij jasmine jenkins jest jira jotai kafka keycloak keydb
    kubernetes lambda laravel launchd linear linode linux llama macos mailgun make mariadb mattermost maven
    meilisearch memcached milvus minio mistral mobx mocha mongodb mssql mypy mysql nats neo4j neovim nestjs
    netlify newrelic next.js nginx nixos node nomad nose notion npm numpy nuxt okta ollama openai opensearch
    opentofu oracle oxlint paddle pandas parcel paypal pdm peewee pgvector pinecone pinia pip pipenv
    planetscale playwright pnpm podman poetry postgres postmark powershell preact prettier prisma prometheus
    pulsar pulumi puppet puppeteer pycharm pydantic pylint pyre pyright pytest qdrant r2 rabbitmq rails
    railway react recoil redis redshift redux remix render resend resque rollbar rollup ruff s3 sanic sass
    selenium sendgrid sentry sequelize ses shortcut sidekiq slack snowflake solid solr spring sqlalchemy
    sqlite sqs starlette stripe supabase svelte sveltekit systemd tailwind teamcity teams temporal terraform
    timescaledb tmux traefik travis-ci trello tslint turbopack typeorm typesense ubuntu unittest uv valkey
    vercel vim vite vitest vscode vue vuex weaviate webpack windows woodpecker yapf yarn zed zeromq zsh
    zulip zustand
    """.split()
)
LANGUAGES = frozenset(
    """
    c# c++ clojure dart elixir go haskell java javascript kotlin perl php python ruby rust scala swift
    typescript zig
    """.split()
)
_ALIASES = {
    "postgresql": "postgres",
    "psql": "postgres",
    "k8s": "kubernetes",
    "golang": "go",
    "nodejs": "node",
    "node.js": "node",
    "js": "javascript",
    "ts": "typescript",
    "py": "python",
    "nextjs": "next.js",
    "mongo": "mongodb",
    "osx": "macos",
    "py.test": "pytest",
    "tailwindcss": "tailwind",
    "reactjs": "react",
    "amazon-s3": "s3",
}
# Names of several words, read as one.
_COMPOUNDS = """github actions|gitlab ci|travis ci|circle ci|cloud run|app engine|docker compose|docker swarm
|cloudflare pages|github pages|vs code|new relic|digital ocean|amazon s3|react native|sql server|google cloud"""
_MERGED = {"circle-ci": "circleci", "vs-code": "vscode", "new-relic": "newrelic", "digital-ocean": "digitalocean",
           "sql-server": "mssql", "google-cloud": "gcp"}  # fmt: skip
_COMPOUND = re.compile(r"\b(?:" + _COMPOUNDS.replace("\n", "").replace(" ", "[ -]") + r")\b", re.IGNORECASE)


def canonical(form: str) -> str:
    """Spell a lower-case name as the tables do."""
    return _ALIASES.get(form, form)


def join_compounds(text: str) -> str:
    """Write names of several words as one word: GitHub Actions -> GitHub-Actions."""

    def joined(match: re.Match[str]) -> str:
        name = match[0].replace(" ", "-")
        return _MERGED.get(name.lower(), name)

    return _COMPOUND.sub(joined, text)
