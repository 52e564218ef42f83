"""Secrets in a field that is called after them: name and value apart, elements, calls that set, environment variables."""

from memman.model.likely import field, login, password
from memman.model.secret_phrases import VALUE
from memman.model.secret_rule import Rule, whole
from memman.model.secret_value import value

_CALLED = whole("called", r"(?=[\w.:-]{0,60}?(?i:pass|pwd|kennwort|secret|token|key|cred|_salt))[\w.:-]{2,80}")
_CALLS = "pass|pwd|kennwort|secret|token|key|cred"
_WORDS = "password|passwd|passphrase|passwort|_pass|pwd|kennwort|secret|token|key|credential|creds|_salt"
# Lines that may stand between a name and its value, as Terraform has them.
_LINES = r"(?:[\s,;{]{1,40}(?:(?:type|description|sensitive)\s{0,9}=[^\n]{0,120}\n\s{0,20}){0,3}|[^<>\n]{0,40}?\s)"
_X = "Qm7vK2xLp9" + "Wd4Zk3vQ9t"
FIELDS: tuple[Rule, ...] = (
    Rule("named-value", _WORDS, rf"\b(?i:name|key|variable|id|property)[\"']?\s{{0,3}}[:=]?\s{{0,3}}[\"']?{_CALLED}[\"']?{_LINES}[\"']?(?i:value|default)[\"']?\s{{0,3}}[:=]\s{{0,3}}(?P<open>[\"']?){VALUE}", "- name: DB_PASSWORD\n  value: " + _X, "- name: DB_PASSWORD\n  valueFrom: db-credentials", field),
    Rule("element", _WORDS, rf"<(?:[\w-]{{1,20}}:)?{_CALLED}(?:\s[^<>\n]{{0,80}})?>\s{{0,20}}(?:<!\[CDATA\[)?(?P<secret>(?:[^<>\s\]]|\](?!\]>)){{4,200}})(?:\]\]>)?\s{{0,20}}</", "<password>" + _X + "</password>", "<password>required</password>", field),
    Rule("property-list", _WORDS, rf"<key>{_CALLED}</key>\s{{0,20}}<string>(?P<secret>[^<>\n]{{4,200}})</string>", "<key>password</key>\n<string>" + _X + "</string>", "<key>CFBundleKey</key><string>shop</string>", field),
    Rule("call", "password|passwd|passphrase", rf"(?i:\.|\bset_?|\bwith_?)(?i:password|passwd|passphrase)\(\s{{0,3}}(?P<open>[\"'`]){VALUE}[\"'`]\s{{0,3}}\)", 'Builder().password("' + _X + '")', 'form.password("new_password")', password),
    Rule("setter", _WORDS, rf"[\"'`]{_CALLED}[\"'`]\s{{0,3}},\s{{0,20}}(?P<open>[\"'`]){VALUE}[\"'`]", 'config.set("db.password", "' + _X + '")', '["password", "password_confirmation"]', field),
    Rule("variable", _WORDS, rf"\b(?:ENV|ARG|setx|setenv|export|_authToken)\s{{1,3}}(?P<called>(?=\w{{0,60}}?(?i:{_CALLS}))\w{{3,80}})\s{{1,3}}(?P<open>[\"']?){VALUE}", "ENV API_TOKEN " + _X, "ENV API_TOKEN unset", field),
    Rule("netrc", "password", r"(?:\b(?:machine\s{1,9}\S{1,120}|default(?=[^\n]{0,200}\d))\s{1,20}login\s{1,9}\S{1,80}\s{1,20}password\s{1,9})" + value(3), "machine git.example.com login bob password " + "lake7", "machine git.example.com login bob password <it>", login),
)  # fmt: skip
