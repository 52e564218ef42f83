"""Secrets that only their surroundings give away: addresses, headers, options, and what is called a password."""

import re

from memman.model.likely import cookie, drawn, drawn_within, login, mentioned, password, shuffled, token
from memman.model.secret_rule import Rule, random, whole
from memman.model.secret_value import value

# What names a secret, and what may stand between the name and the secret.
_NAMES = (
    "password|passwd|passphrase|passcode|passwort|kennwort|pwd|mot\\sde\\spasse|contrase(?:[ñÑ]|n\u0303?)a|senha|parola|"
    "wachtwoord|has[łŁ]o|l[öÖ]senord|passord|adgangskode|[пП]ароль|密码|密碼|パスワード|"
    "(?:wi-?fi|wlan|wpa2?)[ -]?(?:key|schl(?:[üÜ]|u\u0308|ue)ssel)"
)
_PW = r"(?<![A-Za-z])(?i:(?:db|pg|my|mysql|smtp|mail|ftp|redis|root|admin|user)?(?:pass|pw))(?=[\"']? ?[:=?])"
_PHRASE = rf"(?i:{_NAMES})(?P<tail>[\w-]{{0,20}}(?![\w-]))"
_KEY = (
    r"(?:(?i:secret(?:[ _-]?key)?|token|api[ _-]?key|access[ _-]?key|credential|creds|authorization|authentication|auth|"
    "(?:totp|2fa|mfa)[ _-](?:seed|key|secret)|(?:recovery|backup)[ _-](?:code|key)|geheimnis|schl(?:[üÜ]|u\u0308|ue)ssel)"
    r"[sS]?(?:[_-][\w-]{0,20}(?![\w-])|[A-Z]\w{0,20}(?!\w))?)"
)
_CLOSE = r"[*\"'`\])\\]{0,3}"
_WHOSE = (
    r"(?:\s?\([^()\n]{1,40}\)|\s(?i:geändert|neu|changed|new|rotated|updated)(?=\s?[:=])|,[^,\n:=]{1,40},|"
    r"\s(?i:for|of|to|on|at|from|in|für|zu|zum|zur|vom|von|auf|des|der|beim|del?|du|pour|para)\s[^\n:=]{1,40}?)?"
)
_TO = r"(?:(?:has|have|had|was|were|is|got)\s(?:been\s)?)?(?:now\s)?(?:changed|set|reset|updated|rotated|switched|moved)\s(?:to|as)"
_AUF = r"(?:ist|wurde|wird|steht)\s(?:jetzt\s)?auf"
_SEP = r"(?::\s?[&\w.<>\[\]|' ]{1,40}=\s{0,3}(?=[\"'`])|={2,3}(?=[^\s=])|\s{0,3}(?::=|\?=|=>|->|→|=|[:\uff1a])\s{0,3}|\s?={2,3}\s?(?=[\"'`])|:\s{0,3}[|>][+-]?\d?[ \t]{0,9}\n\s{1,40})"
_IS = (
    rf"(?P<sep>{_SEP}|\s{{1,3}}(?i:{_TO}|{_AUF}|is|was|are|ist|war|lautet|hei(?:ss|ß)t|est|es|é|è|to)"
    r"(?:\s{1,3}(?i:now|still|set\sto|jetzt|nun))?:?\s{1,3})"
    r"(?P<open>(?:\*\*\s?)?(?:[rRbBuUN@]{1,2}(?=[\"']))?\\?[\"'`„“«]?)"
)
VALUE = value(4)
_LEAD = r"(?P<lead>\b(?i:with|using|use|mit|by|per|try)\s(?:(?i:the|a|this|dem|das|diesem)\s)?(?:\w{1,20}\s)?)?"
_ITEM = whole("secret", r"[\w.+/=~-]{16,150}")
_PAIR = r"[\w.%-]{1,64}=[^\s;,\"'`]{1,120}"

_BLANKS = r"[ \t]"
_ENTRIES = whole("secret", rf"(?:{_BLANKS}+[\w.-]+:{_BLANKS}*[^\s][^\n]*(?:\n|\Z))+")
_FILLED = r"[\"']?[A-Za-z0-9+/=]{8,}"


def _filled(match: re.Match[str]) -> bool:
    """Whether one of a manifest's values is more than a template."""
    return any(re.match(_FILLED, line.partition(":")[2].strip()) for line in match[0].splitlines())


# The words of names of passwords, as the search for them needs.
PASSWORDS = (
    "password|passwd|passphrase|passcode|passwort|kennwort|pwd|mot de passe|contrase|senha|parola|wachtwoord|hasło|lösenord|"
    "passord|adgangskode|пароль|密码|密碼|パスワード|wifi key|wifi-key|wi-fi key|wi-fi-key|wlan key|wlan-key|wpa key|wpa-key|wpa2 key|wpa2-key|schlüssel|"
    "schluessel|schlu\u0308ssel"
)
_PW_WORDS = "pass=|pass:|pass =|pass :|pass?|pass ?|pass\"|pass'|pw=|pw:|pw =|pw :|pw\"|pw'"
# Examples are put together from two pieces so that no scanner takes this file for a leak.
_X = "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
_HEX = "3f9a1c7e5b2d8046af13c95e7b0d2846"
PHRASES: tuple[Rule, ...] = (
    Rule("kubernetes-secret", "secret", rf"(?P<kind>(?i:kind:{_BLANKS}*[\"']?secret\b)[\s\S]{{0,400}}?)?\n{_BLANKS}{{0,40}}(?:stringD|d)ata:{_BLANKS}{{0,9}}\n{_ENTRIES}(?(kind)|(?=[\s\S]{{0,400}}?(?i:kind:\s{{0,9}}[\"']?secret\b)))", "kind: Secret\ndata:\n  user: " + "aHVudGVyMmh1bnRlcjI=", "kind: Secret\ndata:\n  a: {{x}}", _filled),
    Rule("nuget-password", "password", r"<add key=\"[\w.-]{0,40}(?i:password)\"\s{1,9}value=\"(?P<secret>[^\"%]{4,120})\"", '<add key="ClearTextPassword" value="' + "Qm7vK2xLp9" + '" />', '<add key="Password" value="%NUGET%" />'),
    Rule("sentry-address", "://", r"://(?P<secret>[0-9a-f]{32})@[\w.-]{1,80}ingest[\w.-]{1,80}/\d", "https://" + _HEX + "@o1.ingest.sentry.io/2", "https://o1.ingest.sentry.io/2"),
    Rule("url-token", "://", r"://(?P<secret>[\w-]{16,255})(?=(?::(?:x-oauth-basic|x-token-auth)?)?@)", "https://" + _X + "@git.example.com/a.git", "ssh://deployment-runner@host", token),
    Rule("address-password", "://", r"://[^\s/:@'\"\[]{0,64}:(?P<secret>(?!\d{1,5}[/?#])[^\s]{12,120})@(?=[\w.-]{1,253}(?:[^\w@.-]|\Z))", "postgres://app:" + "kR8/xQ?2m'Vz7#Lp@db.internal/app", "http://localhost:3000/@vite/client", drawn_within),
    Rule("url-password", "://", r"://[^\s/:@'\"\[]{0,64}:(?P<secret>[^\s/?'\"]{3,255})@", "postgres://app:" + "hunter2x@db.internal/app", "http://localhost:8080/@me", login),
    Rule("azure-storage-key", "accountkey", r"(?i:AccountKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})", "AccountKey=" + _X + _X + "==", "AccountKey=<key>"),
    Rule("aws-secret-key", "aws|secret|access key", r"(?<![A-Za-z0-9+/])(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])", "the aws one is " + _X + "9fK/", "aws/lambda/functions/ProcessOrdersDaily2", shuffled),
    Rule("bearer-token", "bearer|auth", r"\b(?i:bearer|authorization:\s{0,9}(?:basic|token|api-?key|sso-key|key|digest))\s{1,9}(?P<secret>[A-Za-z0-9._~+/=-]{20,})", "Authorization: Bearer " + _X, "bearer of bad news", random(3.0)),
    Rule("cookie", "cookie", rf"(?i:cookie)s?{_CLOSE}\s{{0,3}}[:=]\s{{0,3}}[\"']?(?P<secret>{_PAIR}(?:; ?{_PAIR}){{0,30}})", "Cookie: sessionid=" + _HEX, "Cookie: theme=dark; lang=en", cookie),
    Rule("session-cookie", "sessid|sessionid|connect.sid", r"(?i:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<secret>[\w.%+/-]{16,200})", "PHPSESSID=" + _X, "JSESSIONID=node01", random(3.0)),
    Rule("login", "curl|--user", r"(?<![\w-])(?:-u|--(?:proxy-)?user)[ =]?(?P<quote>[\"'])?[\w.@+-]{1,64}:(?P<secret>(?(quote)(?:(?!(?P=quote))[^\n]){3,120}(?=(?P=quote))|(?!))|[^\s\"'`]{3,120})", "curl -u admin:" + "Qm7vK2xLp9 https://example.com", "curl -u $USER:$PASS", login),
    Rule("option", "-password|-passwd|-passphrase|--pass|-token|-secret|-api-key|-apikey|-access-key", rf"(?<![\w-])--(?:[a-z][\w-]{{0,20}}-)?(?:password|passwd|passphrase|pass|token|secret|api-?key|access-key)\s{{1,3}}(?P<open>[\"']?){VALUE}", "deploy --token " + _X, "deploy --token from-vault-2", token),
    Rule("password", f"{PASSWORDS}|{_PW_WORDS}", f"(?:{_PHRASE}|{_PW}){_CLOSE}{_WHOSE}{_IS}{VALUE}", "DB_PASSWORD=" + "c0rrect-h0rse-battery", "password: see 1Password", password),
    Rule("generic-secret", "secret|token|api key|apikey|api_key|api-key|access key|accesskey|access_key|access-key|credential|creds|totp|2fa |2fa_|mfa|recovery|backup code|backup_code|backup key|geheimnis|schlüssel|schluessel|schlu\u0308ssel|auth", f"{_KEY}{_CLOSE}{_WHOSE}{_IS}{VALUE}", "CLIENT_SECRET=" + "Qm7vK2xLp9Wd4", "secret: required", token),
    Rule("password-mentioned", f"{PASSWORDS}|pw |db pass|root pass|admin pass", rf"{_LEAD}(?:{_PHRASE}|(?<![A-Za-z])(?i:pw|(?:db|root|admin)[ _-]pass))(?:'s)?{_CLOSE}(?:\s{{1,3}}|\s{{0,9}}\|\s{{0,9}}|\s(?i:is|ist|was|war|as|auf)\s)(?P<open>[\"'`„“«]?){VALUE}", "log in with password " + "Qm7!vK2xLp9 please", "the password Argon2id hashes", mentioned),
    Rule("password-before", PASSWORDS, rf"(?<![^\s\"'`„“«(])(?P<open>)(?P<secret>[^\s\"'`„“”»]{{6,120}})[\"'`”»“]?\s(?i:as|is|was|als|ist|war)\s(?:(?i:the|a|an|my|our|your|new|das|dein|ein|unser|neues)\s)?(?:[\w-]{{1,20}}\s){{0,2}}(?i:{_NAMES})", "Use " + "Qm7!vK2xLp9 as the password", "sha256 is the password hash", mentioned),
    Rule("credentials", "creds|credential|login|log in|logged in|sign in|zugang|anmeld", rf"(?i:creds|credentials|log(?:ged)?[ -]?in|sign[ -]?in|zugang|zugangsdaten|anmeldung|anmelden)\b[^\n:/]{{0,40}}?[:\s]\s?(?P<open>[\"'`]?)[\w.@-]{{2,40}}\s?[:/]\s?(?=\S{{0,80}}?\d){VALUE}", "log in with admin:" + "Qm7!vK2xLp9 there", "login: see docs/setup2", mentioned),
    Rule("secret-mentioned", "secret|token|api key|api-key|api_key|apikey|access key|deploy key|license key|signing key|encryption key|consumer key|recovery|backup code|totp", r"(?P<called>(?i:secret|token|(?:recovery|backup)[ _-]code|totp[ _-]seed|(?:api|access|deploy|licen[cs]e|signing|encryption|consumer)[ _-]?key))(?P<open>[\"'`]?)(?:\s{1,3}|\s{0,9}\|\s{0,9})[\"'`]?" + whole("secret", r"[\w.+/=~-]{20,150}") + r"(?![\w:@(])", "the deploy key " + _X + " is for builds", "the token authentication-middleware-v2", drawn),
    Rule("generic-key", "key|creds|access", rf"(?P<called>(?i:key|creds|access))(?:[_-](?i:base|value|prod|production|staging|dev|test|live|b64|base64|hex|secret)\b)?{_CLOSE}{_WHOSE}(?:{_SEP}|,\s{{0,3}}|>|\s(?i:is|was|ist|lautet)\s)(?P<open>[\"'`]?)(?:base64:)?{_ITEM}(?![\w:@(])", "ENCRYPTION_KEY=" + _X, "cache_key: " + _HEX, drawn),
)  # fmt: skip
