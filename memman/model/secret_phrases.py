"""Secrets that only their surroundings give away: addresses, headers, options, and what is called a password."""

import re

from memman.model.likely import cookie, login, password, shuffled, token
from memman.model.secret_rule import Rule, random

# What names a secret, and what may stand between the name and the secret.
_PHRASE = (
    r"(?i:password|passwd|passphrase|passwort|kennwort|pwd|mot\sde\spasse|contrase(?:[ñÑ]|n\u0303?)a|senha)"
    r"(?P<tail>[\w-]{0,20}+)"
)
_KEY = (
    r"(?:(?i:secret(?:[ _-]?key)?|token|api[ _-]?key|access[ _-]?key|credential|authorization|auth)[sS]?"
    r"(?:[_-][\w-]{0,20}+|[A-Z]\w{0,20}+)?|(?<![A-Za-z])(?i:pass|pw)(?=[\"']? ?[:=]))"
)
_CLOSE = r"[*\"'`\])\\]{0,3}+"
_WHOSE = (
    r"(?:\s?\([^()\n]{1,40}\)|"
    r"\s(?i:for|of|to|on|at|from|in|für|zu|zum|zur|vom|von|auf|del?|du|pour|para)\s[^\n:=]{1,40}?)?"
)
_IS = (
    r"(?P<sep>\s{0,3}(?::=|=>|[:=])\s{0,3}|"
    r"\s{1,3}(?i:is|was|are|ist|war|lautet|est|es|é|è|to)(?:\s{1,3}(?i:now|still|set\sto|jetzt|nun))?:?\s{1,3})"
    r"(?P<open>(?:\*\*\s?)?\\?[\"'`]?)"
)
_VALUE = r"(?P<secret>(?![$<{(\[/=.~%&>|:…])(?:(?!&\w{1,30}=)[^\s\"'`]){4,120}+)"
_PAIR = r"[\w.%-]{1,64}+=[^\s;,\"'`]{1,120}+"

_BLANKS = r"[ \t]"
_FILLED = r"[\"']?[A-Za-z0-9+/=]{8,}+"


def _filled(match: re.Match[str]) -> bool:
    """Whether one of a manifest's values is more than a template."""
    return any(re.match(_FILLED, line.partition(":")[2].strip()) for line in match[0].splitlines())


# Examples are put together from two pieces so that no scanner takes this file for a leak.
_X = "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
_HEX = "3f9a1c7e5b2d8046af13c95e7b0d2846"
PHRASES: tuple[Rule, ...] = (
    Rule("kubernetes-secret", "secret", rf"(?P<kind>(?i:kind:{_BLANKS}*[\"']?secret\b)[\s\S]{{0,400}}?)?\n{_BLANKS}{{0,40}}(?:stringD|d)ata:{_BLANKS}{{0,9}}\n(?P<secret>(?:{_BLANKS}++[\w.-]++:{_BLANKS}*[^\s][^\n]*+(?:\n|\Z))++)(?(kind)|(?=[\s\S]{{0,400}}?(?i:kind:\s{{0,9}}[\"']?secret\b)))", "kind: Secret\ndata:\n  user: " + "aHVudGVyMmh1bnRlcjI=", "kind: Secret\ndata:\n  a: {{x}}", _filled),
    Rule("nuget-password", "password", r"<add key=\"[\w.-]{0,40}(?i:password)\"\s{1,9}value=\"(?P<secret>[^\"%]{4,120})\"", '<add key="ClearTextPassword" value="' + "Qm7vK2xLp9" + '" />', '<add key="Password" value="%NUGET%" />'),
    Rule("sentry-address", "://", r"://(?P<secret>[0-9a-f]{32})@[\w.-]{1,80}ingest[\w.-]{1,80}/\d", "https://" + _HEX + "@o1.ingest.sentry.io/2", "https://o1.ingest.sentry.io/2"),
    Rule("url-password", "://", r"://[^\s/:@'\"\[]{0,64}:(?P<secret>[^\s/?'\"]{3,255})@", "postgres://app:" + "hunter2x@db.internal/app", "http://localhost:8080/@me", login),
    Rule("url-token", "://", r"://(?P<secret>[\w-]{16,255}+)@", "https://" + _X + "@git.example.com/a.git", "ssh://deployment-runner@host", token),
    Rule("azure-storage-key", "accountkey", r"(?i:AccountKey)=(?P<secret>[A-Za-z0-9+/]{40,}+={0,2})", "AccountKey=" + _X + _X + "==", "AccountKey=<key>"),
    Rule("aws-secret-key", "aws|secret|access key", r"(?<![A-Za-z0-9+/])(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])", "the aws one is " + _X + "9fK/", "aws/lambda/functions/ProcessOrdersDaily2", shuffled),
    Rule("bearer-token", "bearer|auth", r"\b(?i:bearer|authorization:\s{0,9}(?:basic|token))\s{1,9}(?P<secret>[A-Za-z0-9._~+/=-]{20,}+)", "Authorization: Bearer " + _X, "bearer of bad news", random(3.0)),
    Rule("cookie", "cookie", rf"(?i:cookie)s?{_CLOSE}\s{{0,3}}[:=]\s{{0,3}}[\"']?(?P<secret>{_PAIR}(?:; ?{_PAIR}){{0,30}}+)", "Cookie: sessionid=" + _HEX, "Cookie: theme=dark; lang=en", cookie),
    Rule("login", "curl|--user", r"(?<![\w-])(?:-u|--(?:proxy-)?user)[ =]?[\"']?[\w.@+-]{1,64}+:(?P<secret>[^\s\"'`]{3,120}+)", "curl -u admin:" + "Qm7vK2xLp9 https://example.com", "curl -u $USER:$PASS", login),
    Rule("option", "-password|-passwd|--pass|-token|-secret|-api-key|-apikey|-access-key", rf"(?<![\w-])--(?:[a-z][\w-]{{0,20}}-)?(?:password|passwd|pass|token|secret|api-?key|access-key)\s{{1,3}}[\"']?{_VALUE}", "deploy --token " + _X, "deploy --token from-vault-2", token),
    Rule("password", "password|passwd|passphrase|passwort|kennwort|pwd|mot de passe|contrase|senha", f"{_PHRASE}{_CLOSE}{_WHOSE}{_IS}{_VALUE}", "DB_PASSWORD=" + "c0rrect-h0rse-battery", "password: see 1Password", password),
    Rule("generic-secret", "secret|token|api key|apikey|api_key|api-key|access key|accesskey|access_key|access-key|credential|auth|pass=|pass:|pass =|pass :|pass\"|pass'|pw=|pw:|pw =|pw :|pw\"|pw'", f"{_KEY}{_CLOSE}{_WHOSE}{_IS}{_VALUE}", "CLIENT_SECRET=" + "Qm7vK2xLp9Wd4", "secret: required", token),
)  # fmt: skip
