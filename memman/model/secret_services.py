"""Keys that look like any random string: they are known by the service named before them, and by their exact length."""

import re
from collections.abc import Iterator

from memman.model.secret_rule import Rule
from memman.model.secret_shape import entropy, named

# Service -> the words for it, and the forms its keys have: a letter for the alphabet, and how many of it.
_SERVICES: dict[str, tuple[str, str]] = {
    "adafruit": ("adafruit", "t32"),
    "adobe": ("adobe", "h32"),
    "airtable": ("airtable", "n17"),
    "algolia": ("algolia", "n32"),
    "alibaba": ("alibaba", "n30"),
    "assemblyai": ("assemblyai", "h32"),
    "asana": ("asana", "n32 d16"),
    "atlassian": ("atlassian|confluence|jira", "n24"),
    "beamer": ("beamer", "t46"),
    "bitbucket": ("bitbucket", "n32 t64"),
    "bittrex": ("bittrex", "n32"),
    "cloudflare": ("cloudflare", "t40 h37"),
    "codecov": ("codecov", "n32"),
    "cohere": ("cohere|co_api_key", "n40"),
    "coinbase": ("coinbase", "t64"),
    "confluent": ("confluent", "n16 n64"),
    "contentful": ("contentful", "t43"),
    "datadog": ("datadog", "n40 n32"),
    "deepgram": ("deepgram", "h40"),
    "discord": ("discord", "h64 t32 d18"),
    "drone": ("droneci|drone_ci|drone-ci", "n32"),
    "dropbox": ("dropbox", "n15 t64"),
    "etsy": ("etsy", "n24"),
    "facebook": ("facebook", "h32"),
    "fastly": ("fastly", "t32"),
    "finicity": ("finicity", "h32 n20"),
    "finnhub": ("finnhub", "n20"),
    "flickr": ("flickr", "n32"),
    "freshbooks": ("freshbooks", "n64"),
    "gitter": ("gitter", "t40"),
    "gitea": ("gitea", "h40"),
    "gocardless": ("gocardless", "t45"),
    "heroku": ("heroku", "i"),
    "hubspot": ("hubspot", "i"),
    "intercom": ("intercom", "t60"),
    "jfrog": ("jfrog|artifactory|bintray|xray", "n73 n64"),
    "kraken": ("kraken", "b80,90"),
    "kucoin": ("kucoin", "h24 i"),
    "launchdarkly": ("launchdarkly", "t40"),
    "linear": ("linear", "h32"),
    "linode": ("linode", "h64"),
    "linkedin": ("linkedin|linked_in|linked-in", "n14 n16"),
    "mattermost": ("mattermost", "n26"),
    "meraki": ("meraki", "h40"),
    "messagebird": ("messagebird|message_bird|message-bird|message bird", "n25 i"),
    "netlify": ("netlify", "t40,46"),
    "new-relic": ("newrelic|new_relic|new-relic|new relic", "n64"),
    "nytimes": ("nytimes|newyorktimes|new-york-times|new_york_times", "t32"),
    "okta": ("okta", "t42"),
    "opsgenie": ("opsgenie", "i"),
    "plaid": ("plaid", "n24 n30"),
    "postmark": ("postmark", "i"),
    "private-ai": ("privateai|private_ai|private-ai|private ai", "n32"),
    "railway": ("railway", "i"),
    "rapidapi": ("rapidapi", "t50"),
    "sendbird": ("sendbird", "h40 i"),
    "sentry": ("sentry", "h64"),
    "snyk": ("snyk", "i"),
    "sonar": ("sonar", "t40"),
    "sourcegraph": ("sourcegraph", "h40"),
    "squarespace": ("squarespace", "i"),
    "sumologic": ("sumo", "n14 n64"),
    "travis": ("travis", "n22"),
    "twilio": ("twilio", "h32"),
    "twitch": ("twitch", "n30"),
    "twitter": ("twitter", "n45 n25 n50 p"),
    "wandb": ("wandb", "h40"),
    "zendesk": ("zendesk", "n40"),
}
_ALPHABETS = {"h": "[0-9a-fA-F]", "n": "[A-Za-z0-9]", "t": r"[\w=-]", "b": r"[\w/=+-]", "d": r"\d"}
_WHOLE = {
    "i": r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "p": r"\d{15,25}-[A-Za-z0-9]{20,40}",
}
_BETWEEN = (
    r"(?P<gap>[ \t\w.-]{0,32})[\s\"'`\])*]{0,3}(?::{1,3}=|=>|\?=|\|\||[=:>,]|\s(?i:is|was|to|ist|lautet|est|es))"
    r"[\s\"'`=*]{0,5}"
)
_BEHIND = r"(?![\w+/=-])"
# Characters before the service's name in which a word such as `token` may stand.
_BEFORE = 24
_NAMING = r"(?i)key|token|secret|api|auth|access|client|cred|pass|pwd|licen[cs]e|private"
_DIGEST = r"(?i)sha-?\d|md5|digest|hash|checksum|commit|revision|integrity|etag|public"
# Everyday ids have this form too: a key only where it is called one.
_PLAIN = r"[0-9a-fA-F-]+"
_SAMPLE = "k7Qz3vT9mLw2Rb8Xy5Nc1Hd6Pf4Gj0Ms"


def _keyed(match: re.Match[str]) -> bool:
    """Whether what follows a service's name is a key of it rather than a name, a digest or an id."""
    value, gap = match["secret"], match["gap"]
    said = match.string[max(0, match.start() - _BEFORE) : match.start()] + gap
    if not any(map(str.isdigit, value)) or re.search(_DIGEST, gap) or named(value):
        return False
    if re.fullmatch(_PLAIN, value):
        return bool(re.search(_NAMING, said))
    return entropy(value) >= 2.4  # noqa: PLR2004 - bits a character


def _form(form: str) -> str:
    return _WHOLE.get(form) or f"{_ALPHABETS[form[0]]}{{{form[1:]}}}"


def _sample(form: str) -> str:
    if form == "i":
        return "3f9a1c7e-5b2d-8046-af13-c95e7b0d2846"
    alphabet, least = _ALPHABETS[form[0]], int(form[1:].partition(",")[0])
    return "".join(re.findall(alphabet, _SAMPLE * 12))[:least]


def _rules() -> Iterator[Rule]:
    for service, (words, forms) in _SERVICES.items():
        values = "|".join(map(_form, forms.split()))
        name, form = words.partition("|")[0], forms.split()[0]
        pattern = f"(?i:{words}){_BETWEEN}(?P<secret>{values}){_BEHIND}"
        caught = f"{name}_api_key = '{_sample(form)}'"
        yield Rule(f"{service}-key", words, pattern, caught, f"{name}: commit {_sample('h40')}", _keyed)


SERVICES: tuple[Rule, ...] = tuple(_rules())
