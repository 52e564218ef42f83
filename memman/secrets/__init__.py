"""Secrets, and taking them out of texts: what stands before the rules, a plain string search.

It decides whether the rules are worth loading. What it looks for stands at the end, derived from the words that every
rule in `rules.toml` needs; `SCREEN` is the version of it all. Safe on the hot path, which
loads this module alone.
"""

# Characters that the shortest token or key has that is looked for in what is long, none of them a blank.
LONG = 14
# What stands in every command with a password.
_SIGNS = ("-", "/", "\\", "|", "<<<", "_user", "_password")
# Characters of the shortest value of a secret that has a digit.
_SHORTEST = 7


def legible(text: str) -> str:
    """Remove whole escape sequences of terminals, and put U+FFFD for each lone surrogate."""
    if "\x1b" in text or "\x9b" in text or "\x9d" in text:
        text = _unstyled(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _unstyled(text: str) -> str:
    """Remove sequences: from CSI to the final byte, from OSC and its like to BEL or ST, and short ones."""
    for one, two in (("\x9b", "\x1b["), ("\x9d", "\x1b]"), ("\x9c", "\x1b\\")):
        text = text.replace(one, two)
    begin, *rest = text.split("\x1b")
    kept = [begin]
    for part, follows in zip(rest, (*rest[1:], ""), strict=True):
        kind, after = part[:1], part[1:]
        if kind and kind in "]PX^_":
            string, bell, shown = after.partition("\a")
            kept.append(shown if bell else "" if follows[:1] == "\\" else string)
        elif kind == "[":
            kept.append(_less_final(after.lstrip("0123456789:;<=>?")))
        else:
            kept.append(_less_final(part))
    return "".join(kept)


def _less_final(part: str) -> str:
    """Remove the bytes that end a sequence, where they are there."""
    part = part.lstrip(" !\"#$%&'()*+,-./")
    return part[1:] if "0" <= part[:1] <= "~" else part


def screened(text: str) -> str:
    """Take secrets out of what is to be written or sent, and make it legible."""
    text = legible(text)
    if not suspicious(text):
        return text
    from memman.secrets.matcher import redact

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
    for stem, words in ANYWHERE.items():
        if stem in lowered and (not words or any(word in lowered for word in words)):
            return True
    if any(sign in lowered for sign in _SIGNS) and any(word in lowered for word in COMMAND):
        return True
    if not text.isascii() and any(mark in text for mark in HIDDEN):
        return True
    runs = " ".join([run for run in text.split() if len(run) >= LONG])
    return runs != "" and (_begun(runs) or _served(runs, lowered))


def _begun(runs: str) -> bool:
    # No token is all digits and letters to `f`, as what names a commit is.
    runs = " ".join([run for run in runs.split() if run.strip("0123456789abcdef")])
    lowered = runs.lower()
    return any(word in lowered for word in WITHIN) or any(word in runs for word in CAPITALS)


def _served(runs: str, lowered: str) -> bool:
    return any(digit in runs for digit in "0123456789") and any(word in lowered for word in BESIDE)


def _valued(text: str) -> bool:
    """Whether something is there that may be a value: a digit in what is not short, or what needs none."""
    lowered = text.lower()
    return any(sign in lowered for sign in LETTERS) or any(
        len(run) >= _SHORTEST and not run.isalpha() and any(map(str.isdigit, run)) for run in text.split()
    )


# fmt: off
# Written by `make docs` from `rules.toml`.
SCREEN = 0x5B848C66BEA83
ANYWHERE: dict[str, tuple[str, ...]] = {
"pass": (
    "--pass", "_pass", "admin pass", "db pass", "mot de passe", "pass :", "pass =", "pass ?", 'pass"', "pass'",
    "pass:", "pass=", "pass?", "passcode", "passord", "passphrase", "passwd", "password", "passwort", "pgpass",
    "requirepass", "root pass",
),
"key": (
    "access key", "access-key", "access_key", "accesskey", "accountkey", "api key", "api-key", "api_key", "apikey",
    "backup key", "private key",
),
"private": (
    "&lt;/private", "&lt;private", "< /private", "< private", "</ private", "</private", "<private", "private-lines",
),
"ode": (
    "adgangskode", "backup code", "backup-code", "backup_code", "ersatzcode", "scratch code", "wiederherstellungscode",
),
"ssel": ("schluessel", "schlu\u0308ssel", "schlüssel"),
"log": ("log in", "logged in", "login"),
"cre": ("credential", "creds", "secret"),
} | dict.fromkeys((
    "--user", "2fa ", "2fa_", ":*:", "://", ":5432:", ":6432:", "@tcp(", "@udp(", "@unix(", "_salt", "anmeld", "auth",
    "aws", "bearer", "bootstrap", "contrase", "cookie", "curl", "geheimnis", "hasł", "identified", "kennwort",
    "kubeadm", "lösenord", "mfa", "parola", "psk", "pw ", 'pw"', "pw'", "pw:", "pw=", "pwd", "recovery", "senha",
    "sign in", "token", "totp", "wachtwoord", "wi-fi", "wifi", "wlan", "wpa", "zugang", "парол", "токен", "トークン",
    "パスワード", "令牌", "口令", "密码", "密碼", "密鑰", "密钥", "비밀번호", "암호", "토큰", "패스워드",
), ())
WITHIN = (
    "!aq", "-us1", "-us2", "-us3", ".acc-", ".acc_", "/api/webhooks/", "1//0", "4b1d", ":aa", "==:",
    "_gitlab_session=", "_mmk", "a3-", "a3t", "aaaaaaaaaaaaaaaaaaaaaa", "aact_", "abia", "absk", "acca",
    "access-development-", "access-production-", "access-sandbox-", "aik_ci_", "aik_client_", "aiza", "akcp", "akia",
    "amz-signature=", "api-", "api_live", "api_org_", "apify_api_", "aq.", "asia", "astracs:", "atatt3", "atbb",
    "atctt3", "atlasv1", "avns_", "azdo", "b3blbn", "bbdc-", "bkaa_", "bkaj_", "bkar_", "bkct_", "bkpat_", "bkps_",
    "bkpt_", "bkua_", "ccdb1_", "ccipat_", "cciprj_", "cfat_", "cfk_", "cfut_", "cio", "clojars_", "cmvmd", "cnvca",
    "cog_", "configcat-sdk-", "connect.sid", "csa_", "dapi", "dckr_oat_", "dckr_pat_", "ddo_", "ddp_", "ddw_",
    "doo_v1_", "dop_v1_", "dor_v1_", "dp.ct.", "dp.pt.", "dp.sa.", "dt0c01.", "dt0s16.", "duffel_", "dvc_", "e2b_",
    "endr+", "essu_", "exo", "expo_", "eyj", "ezak", "eztk", "fc-", "figd_", "figo_", "figu_", "fio-u-", "flwpubk",
    "flwseck", "flyv1", "fm1", "fm2_", "fo1_", "fqog", "fw_", "fwog", "gcntfy-", "gho_", "ghp_", "ghr_", "ghs_",
    "ghu_", "github_pat_", "glagent-", "glc_", "glcbt-", "gldt-", "glffct-", "glft-", "glimt-", "gloas-", "glptt-",
    "glrt-", "glsa_", "glsoat-", "gocspx-", "gr1348941", "hcaik_", "hcamk_", "hcbik_", "hcxik_", "hcxmk_", "hf_",
    "hmfx", "hooks.slack.com", "hooks.zapier.com", "hrku-aa", "hvb.", "hvr.", "hvs.", "ico-", "iqoj", "jina_", "jqqj9",
    "jsrp_", "key-", "lin_api_", "live_", "llx-", "ls0tls", "lsv2_", "ltai", "mc4caqa", "mercury_production_",
    "mergify_application_key_", "mhccaqee", "mid-client-", "mid-server-", "mig", "mii", "mlsn.", "napi_", "nfp_",
    "npg_", "npm_", "nrak-", "nrii-", "nrjs-", "ntn_", "nyk_", "ops_ey", "ory_at_", "ory_pat_", "ory_rt_", "os_v2_",
    "oy2", "p8e-", "pa-", "pat-", "pat.", "persona_production_", "phs_", "phx_", "pina_", "pit-", "pk.ey", "pk_",
    "pmak-", "pnb_", "pnu_", "polar_", "pplx-", "prf_", "pscale_", "pul-", "pylf_v", "pypi-ageichlwas5vcmc", "q~",
    "r8_", "ramp_", "rdme_", "re_", "rk_prod_", "rk_test_", "rnd_", "rootly_", "rpa_", "rubygems_", "rzp_test_",
    "s-s4t2", "samsara_api_", "sat.", "sbp_", "sessid", "sessionid", "sg.", "sgp_", "sha256~", "shippo_", "shpat_",
    "shpca_", "shppa_", "shpss_", "sig=", "sk-", "sk.ey", "sk_", "sl.", "sm_aat_", "sm_pat_", "sm_sat_", "sntrys_",
    "sntryu_", "sq0", "sqa_", "sqp_", "squ_", "st.", "swmtkn-", "tfp_", "tgp_v1_", "tk-us-", "tss_", "tvly-", "ucat_",
    "unkey_", "v1.0-", "vca_", "vci_", "vck_", "vcp_", "vcr_", "vercel_", "vtwn_", "waka_", "wandb_v1_",
    "webhook.office.com", "whsec_", "wrka", "xaat-", "xai-", "xapp-", "xapt-", "xau_", "xkeysib-", "xnd_production_",
    "xoxa", "xoxb", "xoxc", "xoxd", "xoxe", "xoxo", "xoxp", "xoxr", "xoxs", "ya29.", "zpka_", "zxlk",
)
BESIDE = (
    "access", "adafruit", "adobe", "airtable", "algolia", "alibaba", "artifactory", "asana", "assemblyai", "atlassian",
    "beamer", "bintray", "bitbucket", "bittrex", "bot", "cloudflare", "codecov", "cohere", "coinbase", "confluen",
    "contentful", "contribsys", "datadog", "deepgram", "discord", "drone", "dropbox", "etsy", "facebook", "fastly",
    "finicity", "finnhub", "flickr", "freshbooks", "gitea", "gitter", "gocardless", "heroku", "hubspot", "intercom",
    "jfrog", "jira", "key", "kraken", "kty", "kucoin", "launchdarkly", "linear", "linked-in", "linked_in", "linkedin",
    "linode", "lob", "mailchimp", "mailgun", "mapbox", "mattermost", "meraki", "message bird", "message-bird",
    "message_bird", "messagebird", "netlify", "new relic", "new-relic", "new-york-times", "new_relic",
    "new_york_times", "newrelic", "newyorktimes", "nytimes", "okta", "opsgenie", "plaid", "postmark", "private ai",
    "private-ai", "private_ai", "privateai", "railway", "sendbird", "sentry", "snyk", "sonar", "sourcegraph",
    "squarespace", "sumo", "telegr", "travis", "twilio", "twitch", "twitter", "vault", "wandb", "xray", "yandex",
    "zendesk",
)
COMMAND = (
    "7z", "<<<", "bcp ", "cmdkey", "echo", "expdp", "impdp", "jarsigner", "jdbc:oracle", "keytool", "ldap", "mariadb",
    "mongo", "mosquitto", "mysql", "net use", "openssl", "plink", "printf", "pscp", "psftp", "putty", "rabbitmqctl",
    "rar ", "redis-cli", "rpcclient", "smbclient", "sqlcmd", "sqlplus", "ssh-keygen", "sshpass", "useradd", "usermod",
    "valkey-cli", "winexe", "wmic", "xfreerdp", "zip ",
)
LETTERS = ("://", "contrase", "hf_", "kennwort", "pass", "private", "pw:", "pw=", "pwd", "senha")
CAPITALS = ("BSA", "EAA", "SK", "STS.")
HIDDEN = "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"  # noqa: E501
