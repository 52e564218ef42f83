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
    "credential", "passphrase", "accountkey", "api key", "access key", "accesskey", "access-key",
    "passwort", "kennwort", "mot de passe", "contrase", "senha",
    "pass=", "pass:", "pass =", "pass :", 'pass"', "pass'", "--pass", "pw=", "pw:", "pw =", "pw :", 'pw"', "pw'",
    "aws", "cookie", "curl", "--user",
)  # fmt: skip
# Characters that take no room: soft hyphen, joiners, direction marks, variation selectors, the byte order mark.
HIDDEN = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)


def suspicious(text: str) -> bool:
    """Whether `text` holds any word that a rule looks for, or what may split one."""
    lowered = text.lower()
    return any(word in lowered for word in WORDS) or (not text.isascii() and any(mark in text for mark in HIDDEN))
