"""Telling words of secrets: a plain string search that decides whether the rules are worth loading.

Safe on the hot path: imports nothing. Every rule in `secrets` names the words
it needs, and a test holds the two together.
"""

WORDS = (
    "<private",
    "akia", "asia", "abia", "acca",
    "aiza", "ya29.",
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "glpat-", "gldt-", "glrt-",
    "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_",
    "pa-", "hf_", "r8_", "gsk_", "xai-", "pplx-", "tvly-",
    "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-", "hooks.slack.com",
    "npm_", "pypi-ageichlwas5vcmc", "rubygems_", "dckr_pat_", "dop_v1_", "doo_v1_", "dor_v1_",
    "shpat_", "shpss_", "shppa_", "shpca_",
    "sg.", "key-", "sq0", "eaaa",
    "eyj",
    "private key",
    "hvs.", "hvb.", "age-secret-key-",
    "lin_api_", "ntn_", "secret_", "pul-", "atlasv1", "nfp_", "vercel_", "fo1_", "fly", "sntrys_", "dapi", "nvapi-",
    "discord", "telegram", "bot",
    "://",
    "password", "passwd", "pwd", "secret", "token", "apikey", "api_key", "api-key", "access_key", "auth", "bearer",
    "credential", "client_secret", "passphrase", "accountkey",
)  # fmt: skip


def suspicious(text: str) -> bool:
    """Whether `text` holds any word that a rule looks for."""
    lowered = text.lower()
    return any(word in lowered for word in WORDS)
