"""The classes of secrets: what must never reach disk or a provider, each with an example it must and must not catch.

The classes follow the public gitleaks rule set; patterns are our own. No
pattern may take longer than in proportion to the text: every repetition is
bounded, or gives nothing back (`++`) and begins only where such a run begins.
"""

from collections.abc import Callable
from re import Match

from memman.model.likely import cookie, entropy, login, password, shuffled, token

_START = r"(?<![A-Za-z0-9_-])"
_END = r"(?![A-Za-z0-9])"
Likely = Callable[[Match[str]], bool]


class Rule:
    """One class of secret.

    `words` decide whether the pattern is tried at all, `likely` whether what
    it found is a secret; `caught` and `spared` are examples.
    """

    __slots__ = ("caught", "likely", "name", "pattern", "spared", "words")

    def __init__(
        self, name: str, words: str, pattern: str, caught: str, spared: str, likely: Likely = lambda _: True
    ) -> None:
        self.name, self.words, self.pattern = name, words.split("|"), pattern
        self.caught, self.spared, self.likely = caught, spared, likely


def _random(least: float) -> Likely:
    """Return what asks for an entropy of `least` bits a character."""
    return lambda match: entropy(match["secret"]) >= least


def _token(name: str, words: str, body: str, caught: str, spared: str, least: float = 2.5) -> Rule:
    """Return the rule of tokens that say by their beginning what they are; `least` is their entropy in bits."""
    return Rule(
        name,
        "|".join(words.split()),
        f"{_START}(?P<secret>{body}){_END}",
        caught,
        spared,
        _random(least),
    )


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

# Examples are put together from two pieces so that no scanner takes this file for a leak.
_X = "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
_HEX = "3f9a1c7e5b2d8046af13c95e7b0d2846"
RULES: tuple[Rule, ...] = (
    _token("aws-access-key", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", "AKIA" + "Q7RZ5XKT2MNWVP4D", "AKIA_TEMPLATE"),
    _token("gcp-api-key", "aiza", r"AIza[\w-]{35}", "AIza" + _X[:35], "AIzaShort"),
    _token("google-oauth-token", "ya29.", r"ya29\.[\w-]{30,}+", "ya29." + _X, "ya29.x"),
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}+", "ghp_" + _X, "ghp_example"),
    _token("github-fine-grained-token", "github_pat_", r"github_pat_\w{60,}+", "github_pat_" + _X + _X, "github_pat_short"),
    _token("gitlab-token", "glpat- gldt- glrt-", r"gl(?:pat|dt|rt)-[\w-]{20,}+", "glpat-" + _X[:20], "glpat-x"),
    _token("anthropic-key", "sk-", r"sk-ant-[\w-]{24,}+", "sk-ant-api03-" + _X, "sk-ant-short"),
    _token("openrouter-key", "sk-", r"sk-or-v1-[0-9a-f]{48,}+", "sk-or-v1-" + _HEX + _HEX, "sk-or-v1-abc"),
    _token("openai-key", "sk-", r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}+", "sk-proj-" + _X, "sk-learn is a package", 3.5),
    _token("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+", "sk_live_" + _X[:24], "sk_live_key"),
    _token("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}+", "whsec_" + _X, "whsec_x"),
    _token("voyage-key", "pa-", r"pa-[A-Za-z0-9_-]{40,}+", "pa-" + _X + _X[:10], "pa-system", 3.5),
    _token("huggingface-token", "hf_", r"hf_[A-Za-z]{34}", "hf_" + "ZkvQtLwRbXyNcHdPfGjMsUaZkvQtLwRbXy", "hf_hub_download"),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}", "r8_" + _X + "a", "r8_x"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}+", "gsk_" + _X + _X[:10], "gsk_x"),
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,}+", "xai-" + _X + _X[:10], "xai-grok"),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{32,}+", "pplx-" + _X, "pplx-api"),
    _token("tavily-key", "tvly-", r"tvly-[\w-]{20,}+", "tvly-" + _X[:24], "tvly-dev"),
    _token("nvidia-key", "nvapi-", r"nvapi-[\w-]{40,}+", "nvapi-" + _X + _X[:10], "nvapi-x"),
    _token("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe-", r"xox[bparse]-[\w-]{10,}+", "xoxb-" + "1234567890-" + _X[:12], "xoxb-x"),
    _token("slack-app-token", "xapp-", r"xapp-\d-[\w-]{20,}+", "xapp-1-" + _X, "xapp-x"),
    _token("slack-webhook", "hooks.slack.com", r"https://hooks\.slack\.com/(?:services|workflows)/[\w/+-]{20,}+", "https://hooks.slack.com/services/" + "T0AB12CD3/B0EF45GH6/" + _X[:24], "https://hooks.slack.com/docs"),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}", "npm_" + _X, "npm_config_registry"),
    _token("pypi-token", "pypi-ageichlwas5vcmc", r"pypi-AgEIcHlwaS5vcmc[\w-]{40,}+", "pypi-AgEIcHlwaS5vcmc" + _X + _X, "pypi-server"),
    _token("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}", "rubygems_" + _HEX + _HEX[:16], "rubygems_mirror"),
    _token("docker-token", "dckr_pat_", r"dckr_pat_[\w-]{20,}+", "dckr_pat_" + _X[:27], "dckr_pat_x"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}", "dop_v1_" + _HEX + _HEX, "dop_v1_x"),
    _token("shopify-token", "shpat_ shpss_ shppa_ shpca_", r"shp(?:at|ss|pa|ca)_[0-9a-fA-F]{32}", "shpat_" + _HEX, "shpat_x"),
    _token("sendgrid-key", "sg.", r"SG\.[\w-]{16,}+\.[\w-]{32,}+", "SG." + _X[:22] + "." + _X + _X[:9], "SG.com is a site"),
    _token("mailgun-key", "key-", r"key-[0-9a-f]{32}", "key-" + _HEX, "key-value store"),
    _token("square-token", "sq0 eaaa", r"(?:sq0(?:atp|csp)-[\w-]{22,}+|EAAA[\w-]{60})", "sq0atp-" + _X[:22], "sq0 x"),
    _token("vault-token", "hvs. hvb.", r"hv[sb]\.[\w-]{24,}+", "hvs." + _X, "hvs.x"),
    _token("age-key", "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE", "AGE-SECRET-KEY-x"),
    _token("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,}+", "lin_api_" + _X, "lin_api_x"),
    _token("notion-token", "ntn_ secret_", r"(?:ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{43})", "ntn_" + _X + _X[:12], "secret_name"),
    _token("pulumi-token", "pul-", r"pul-[0-9a-f]{40}", "pul-" + _HEX + _HEX[:8], "pul-x"),
    _token("terraform-token", "atlasv1", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}+", _X[:14] + ".atlasv1." + _X + _X, "x.atlasv1.y"),
    _token("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,}+", "nfp_" + _X, "nfp_x"),
    _token("vercel-token", "vercel_", r"vercel_[a-z]++_[A-Za-z0-9]{24,}+", "vercel_blob_" + _X[:26], "vercel_env"),
    _token("fly-token", "fo1_ fly", r"(?:fo1_[\w-]{43}|FlyV1 fm\d_[\w+/=,-]{60,}+)", "fo1_" + _X + _X[:7], "fly deploy"),
    _token("sentry-token", "sntrys_", r"sntrys_[\w+/=-]{60,}+", "sntrys_" + _X + _X, "sntrys_x"),
    _token("databricks-token", "dapi", r"dapi[0-9a-f]{32}", "dapi" + _HEX, "dapi-v2"),
    _token("discord-token", "discord bot token", r"[MNO][A-Za-z\d_-]{23,25}\.[\w-]{6}\.[\w-]{27,38}", "discord M" + _X[:24] + "." + _X[:6] + "." + _X[:30], "a.b.c", 3.5),
    _token("telegram-token", "telegram bot token", r"\d{8,10}:AA[\w-]{32,34}", "telegram bot 123456789:AA" + _X[:33], "12:AA"),
    _token("json-web-token", "eyj", r"eyJ[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]{10,}+", "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + _X, "eyJhbGciOiJIUzI1NiJ9"),
    Rule("private-key", "private key", r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z))", "-----BEGIN RSA PRIVATE KEY-----\n" + _X + "\n-----END RSA PRIVATE KEY-----", "the private key is on the server"),
    Rule("url-password", "://", r"://[^\s/:@'\"\[]{0,64}:(?P<secret>[^\s/?'\"]{3,255})@", "postgres://app:" + "hunter2x@db.internal/app", "http://localhost:8080/@me", login),
    Rule("url-token", "://", r"://(?P<secret>[\w-]{16,255}+)@", "https://" + _X + "@git.example.com/a.git", "ssh://deployment-runner@host", token),
    Rule("azure-storage-key", "accountkey", r"(?i:AccountKey)=(?P<secret>[A-Za-z0-9+/]{40,}+={0,2})", "AccountKey=" + _X + _X + "==", "AccountKey=<key>"),
    Rule("aws-secret-key", "aws|secret|access key", r"(?<![A-Za-z0-9+/])(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])", "the aws one is " + _X + "9fK/", "aws/lambda/functions/ProcessOrdersDaily2", shuffled),
    Rule("bearer-token", "bearer|auth", r"\b(?i:bearer|authorization:\s{0,9}(?:basic|token))\s{1,9}(?P<secret>[A-Za-z0-9._~+/=-]{20,}+)", "Authorization: Bearer " + _X, "bearer of bad news", _random(3.0)),
    Rule("cookie", "cookie", rf"(?i:cookie)s?{_CLOSE}\s{{0,3}}[:=]\s{{0,3}}[\"']?(?P<secret>{_PAIR}(?:; ?{_PAIR}){{0,30}}+)", "Cookie: sessionid=" + _HEX, "Cookie: theme=dark; lang=en", cookie),
    Rule("login", "curl|--user", r"(?<![\w-])(?:-u|--(?:proxy-)?user)[ =]?[\"']?[\w.@+-]{1,64}+:(?P<secret>[^\s\"'`]{3,120}+)", "curl -u admin:" + "Qm7vK2xLp9 https://example.com", "curl -u $USER:$PASS", login),
    Rule("option", "-password|-passwd|--pass|-token|-secret|-api-key|-apikey|-access-key", rf"(?<![\w-])--(?:[a-z][\w-]{{0,20}}-)?(?:password|passwd|pass|token|secret|api-?key|access-key)\s{{1,3}}[\"']?{_VALUE}", "deploy --token " + _X, "deploy --token from-vault-2", token),
    Rule("password", "password|passwd|passphrase|passwort|kennwort|pwd|mot de passe|contrase|senha", f"{_PHRASE}{_CLOSE}{_WHOSE}{_IS}{_VALUE}", "DB_PASSWORD=" + "c0rrect-h0rse-battery", "password: see 1Password", password),
    Rule("generic-secret", "secret|token|api key|apikey|api_key|api-key|access key|accesskey|access_key|access-key|credential|auth|pass=|pass:|pass =|pass :|pass\"|pass'|pw=|pw:|pw =|pw :|pw\"|pw'", f"{_KEY}{_CLOSE}{_WHOSE}{_IS}{_VALUE}", "CLIENT_SECRET=" + "Qm7vK2xLp9Wd4", "secret: required", token),
)  # fmt: skip
