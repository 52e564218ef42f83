"""What stands before the rules: a plain string search that decides whether they are worth loading.

Safe on the hot path: imports nothing. Every rule in `secret_rules` names the
words it needs, and a test holds the two together.
"""

# What may announce a secret of any length: a part, and the words with it; nothing for what is a word itself.
_STEMS: dict[str, tuple[str, ...]] = {
    "private": (
        "<private", "</private", "< private", "</ private", "< /private", "&lt;private", "&lt;/private", "private key",
        "private-lines",
    ),
    "pass": (
        "password", "passwd", "passphrase", "passwort", "passcode", "passord", "pass=", "pass:", "pass =", "pass :", "pass?", "pass ?",
        'pass"', "pass'", "--pass", "_pass", "db pass", "root pass", "admin pass",
    ),
    "pw": ("pwd", "pw ", "pw=", "pw:", 'pw"', "pw'"),
    "key": (
        "apikey", "api_key", "api-key", "api key", "accountkey", "access_key", "access key", "accesskey", "access-key",
    ),
    "log": ("login", "log in", "logged in"),
    "cred": ("credential", "creds"),
    "schl": ("schlüssel", "schluessel", "schlu\u0308ssel"),
    "wi": ("wifi", "wi-fi"),
    "2fa": ("2fa ", "2fa_"),
    "backup": ("backup code", "backup_code", "backup key"),
    **dict.fromkeys(
        (
            "://", "bearer", "cookie", "curl", "--user", "auth", "aws", "secret", "token", "kennwort", "mot de passe",
            "contrase", "senha", "parola", "wachtwoord", "hasło", "lösenord", "adgangskode", "пароль", "密码", "密碼",
            "パスワード", "wlan", "wpa", "geheimnis", "totp", "mfa", "recovery", "sign in", "zugang", "anmeld", "bootstrap",
            "kubeadm", "requirepass", "masterauth", "psk", "identified", "_salt",
        ),
        (),
    ),
}  # fmt: skip
# Tools that take a password, and what stands in every such command.
_TOOLS = (
    "mysql", "mariadb", "redis-cli", "valkey-cli", "mongo", "smbclient", "rpcclient", "wmic", "winexe", "net use",
    "sqlplus", "impdp", "expdp", "jdbc:oracle", "ldap", "openssl", "keytool", "jarsigner", "plink", "pscp", "psftp",
    "putty", "7z", "zip ", "rar ", "sqlcmd", "bcp ", "mosquitto", "rabbitmqctl", "xfreerdp", "cmdkey", "echo", "printf",
    "<<<", "sshpass", "useradd", "usermod", "net user", "ssh-keygen",
)  # fmt: skip
_SIGNS = ("-", "/", "\\", "|", "<<<", "_user", "_password")
WORDS = (*(word for stem, words in _STEMS.items() for word in words or (stem,)), *_TOOLS)
# How tokens begin, or what stands in them: looked for in what is long.
TOKEN_WORDS = (
    "sk-", "a3t", "akia", "asia", "abia", "acca", "aiza", "ya29.", "gocspx-", "ltai", "q~", "tk-us-", "sha256~",
    "fo1_", "fm1", "fm2_", "hrku-aa", "vercel_", "nfp_", "pul-", "atlasv1", "v1.0-", "ico-", "dop_v1_", "doo_v1_",
    "dor_v1_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "_gitlab_session=", "gr1348941", "glpat-",
    "gldt-", "glrt-", "glcbt-", "glffct-", "glft-", "glimt-", "glagent-", "gloas-", "glptt-", "glsoat-", "npm_",
    "pypi-ageichlwas5vcmc", "rubygems_", "clojars_", "dckr_pat_", "dckr_oat_", "akcp", "cmvmd", "sgp_", "api-",
    "squ_", "sqp_", "sqa_", "pmak-", "rdme_", "pa-", "hf_", "api_org_", "r8_", "gsk_", "xai-", "pplx-", "tvly-",
    "nvapi-", "xoxb", "xoxp", "xoxa", "xoxr", "xoxs", "xoxo", "xoxe", "xapp-", "hooks.slack.com",
    "webhook.office.com", "/api/webhooks/", "sg.", "xkeysib-", "key-", "-us1", "-us2", "-us3", "sk_live_",
    "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "whsec_", "shpat_", "shpss_", "shppa_", "shpca_",
    "sq0", "flwseck", "flwpubk", "access-sandbox-", "access-development-",
    "access-production-", "ezak", "eztk", "shippo_", "duffel_", "live_", "a3-", "ops_ey", "hvs.", "hvb.", "hvr.",
    "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "age-secret-key-", ".acc_", ".acc-", "atatt3", "atctt3", "p8e-",
    "lin_api_", "lin_oauth_", "ntn_", "tfp_", "fio-u-", "cfpat-", "pk.ey", "sk.ey", "_mmk", "4b1d", "dapi",
    "pscale_", "pnu_", "pnb_", "sbp_", "sb_secret_", "dnkey-", "sntrys_", "sntryu_", "glc_", "glsa_", "dt0c01.",
    "dt0s16.", "nrjs-", "nrii-", "nrak-", "pat.", "sat.", "sm_aat_", "sm_pat_", "sm_sat_", "s-s4t2",
    "aaaaaaaaaaaaaaaaaaaaaa", "sl.", "eyj", "zxlk",
    "fwog", "iqoj", "fqog", "aq.", "1//0", "tskey-", "napi_", "npg_", "avns_", "mdb_sa_sk_", "exo", "rnd_", "vcp_",
    "vck_", "vci_", "vca_", "vcr_", "ddp_", "ddw_", "ddo_", "xau_", "bkua_", "ccipat_", "cciprj_", "atbb", "oy2",
    "jsrp_", "cio", "expo_", "st.", "lsv2_", "pcsk_", "fw_", "tgp_v1_", "sk_", "wandb_v1_", "csk-", "rpa_", "jina_",
    "fc-", "e2b_", "apify_api_", "re_", "mlsn.", "pat-", "pit-", "pk_", "figd_", "figo_", "figu_", "os_v2_", "rzp_test_",
    "access_token$", "hmfx", "phx_", "phs_", "hcaik_", "hcbik_", "hcxik_", "hcamk_", "hcxmk_", "xaat-", "xapt-",
    "pylf_v", "signkey-", "ory_at_", "ory_rt_", "ory_pat_", ":aa", "ls0tls", "sessid", "sessionid", "connect.sid", "mii", "mig", "mhccaqee", "mc4caqa",
    "b3blbn", "sig=", "amz-signature=", "hooks.zapier.com",
)  # fmt: skip
# The same, in capitals only: in small letters they are everywhere.
TOKEN_CAPITALS = ("SK", "EAA")
# The names of services, whose keys are long and have a digit.
SERVICE_WORDS = (
    "adafruit", "adobe", "airtable", "algolia", "alibaba", "artifactory", "asana", "atlassian", "beamer", "bintray",
    "bitbucket", "bittrex", "bot", "cloudflare", "co_api_key", "codecov", "cohere", "coinbase", "confluen",
    "contentful", "contribsys", "datadog", "discord", "drone", "dropbox", "etsy", "facebook", "fastly", "finicity",
    "finnhub", "flickr", "freshbooks", "gitter", "gocardless", "heroku", "hubspot", "intercom", "jfrog", "jira",
    "kraken", "kucoin", "launchdarkly", "linear", "linkedin", "linked_in", "linked-in", "lob", "mailchimp", "mailgun",
    "mapbox", "mattermost", "meraki", "messagebird", "message_bird", "message-bird", "message bird", "netlify",
    "newrelic", "new_relic", "new-relic", "new relic", "nytimes", "newyorktimes", "new-york-times", "new_york_times",
    "okta", "plaid", "privateai", "private_ai", "private-ai", "private ai", "sendbird", "sentry", "snyk", "sonar",
    "sourcegraph", "squarespace", "sumo", "telegr", "travis", "twilio", "twitch", "twitter", "vault", "xray",
    "yandex", "zendesk", "key", "access", "kty", "assemblyai", "deepgram", "gitea", "linode", "opsgenie", "postmark",
    "railway", "wandb",
)  # fmt: skip
# Characters that the shortest of those tokens and keys has, none of them a blank.
LONG = 14
# Characters of the shortest value of a secret that has a digit, and what stands by values that need none.
_SHORTEST = 7
_PLAIN_VALUES = ("pass", "pwd", "pw=", "pw:", "kennwort", "contrase", "senha", "private", "://", "hf_")
# The digest of these words and of the rules, by which a store says which ones its texts were screened by; a test holds it.
SCREEN = "efcaa32b09da"
# Characters that take no room: soft hyphen, joiners, direction marks, variation selectors, the byte order mark.
HIDDEN = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)


def screened(text: str) -> str:
    """Take secrets out of what is to be written or sent."""
    if not suspicious(text):
        return text
    from memman.model.secrets import redact

    return redact(text)


def masked(text: str) -> str:
    """Take secrets out of what is to be shown.

    All of it was screened when it was written, if by an older version with
    fewer rules; so what talks of secrets and has nothing like one is let be.
    """
    return screened(text) if suspicious(text) and _valued(text) else text


def suspicious(text: str) -> bool:
    """Whether `text` holds any word that a rule looks for, or what may split one."""
    lowered = text.lower()
    for stem, words in _STEMS.items():
        if stem in lowered and (not words or any(word in lowered for word in words)):
            return True
    if any(sign in lowered for sign in _SIGNS) and any(tool in lowered for tool in _TOOLS):
        return True
    if not text.isascii() and any(mark in text for mark in HIDDEN):
        return True
    runs = " ".join([run for run in text.split() if len(run) >= LONG])
    return runs != "" and (_begun(runs) or _served(runs, lowered))


def _begun(runs: str) -> bool:
    # No token is all digits and letters to `f`, as what names a commit is.
    runs = " ".join([run for run in runs.split() if run.strip("0123456789abcdef")])
    lowered = runs.lower()
    return any(word in lowered for word in TOKEN_WORDS) or any(word in runs for word in TOKEN_CAPITALS)


def _served(runs: str, lowered: str) -> bool:
    return any(digit in runs for digit in "0123456789") and any(word in lowered for word in SERVICE_WORDS)


def _valued(text: str) -> bool:
    """Whether something is there that may be a value: a digit in what is not short, or what needs none."""
    lowered = text.lower()
    return any(sign in lowered for sign in _PLAIN_VALUES) or any(
        len(run) >= _SHORTEST and not run.isalpha() and any(map(str.isdigit, run)) for run in text.split()
    )
