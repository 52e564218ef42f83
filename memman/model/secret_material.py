"""Keys themselves: armoured, wrapped in base64, in the files of PuTTY and WireGuard, as JSON; and signed addresses."""

from memman.model.secret_rule import END, START, Rule, random

# Examples are put together from two pieces so that no scanner takes this file for a leak.
_X = "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
_ARMOUR = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
# Base64 in lines, as `base64` and YAML break it.
_LINES = (
    r"[A-Za-z0-9+/]{40,}={0,2}(?:(?:\\n|\s{1,24})[A-Za-z0-9+/]{16,}={0,2})*"
    r"(?:(?:\\n|\s{1,24})[A-Za-z0-9+/]{2,15}={1,2}(?![A-Za-z0-9+/=]))?"
)
# How the DER of RSA, EC and PKCS #8 private keys, and an OpenSSH key, begin in base64.
_BEGINS = r"(?:MII[A-Za-z0-9+/]{3}IBA(?:AK|DAN)|MIG[A-Za-z0-9+/]AgEAM|MHcCAQEE|MC4CAQAwBQYDK2V|b3BlbnNzaC1rZXktdjE)"
# "PRIVATE KEY" in base64, as it comes out at each place of three.
_WRAPPED = "(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)"

MATERIAL: tuple[Rule, ...] = (
    Rule("private-key", "private key", rf"(?P<secret>-{{4,5}} ?BEGIN {_ARMOUR}[\s\S]*?(?:-{{4,5}} ?END {_ARMOUR}|\Z))", "-----BEGIN RSA PRIVATE KEY-----\n" + _X + "\n-----END RSA PRIVATE KEY-----", "the private key is on the server"),
    # What `tail` shows of a key: its last lines.
    Rule("private-key-end", "private key", rf"(?<![A-Za-z0-9+/=])(?P<secret>[A-Za-z0-9+/]{{16,80}}={{0,2}}(?:(?:\\n|\s{{1,13}})[A-Za-z0-9+/]{{4,80}}={{0,2}}){{0,60}}(?:\\n|\s{{1,13}})-{{4,5}} ?END {_ARMOUR})", _X + "\n-----END PRIVATE KEY-----", "it ends in\n-----END PRIVATE KEY-----"),
    Rule("private-key-base64", "ls0tls", rf"(?P<secret>LS0tLS1CRUdJTi(?=[A-Za-z0-9+/]{{0,20}}{_WRAPPED}){_LINES})", "LS0tLS1CRUdJTiBSU0EgUFJJ" + "VkFURSBLRVktLS0tLQpa" + _X + _X, "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUN1akNDQWFLZ0F3SUJBZ0lFU0VSV1lXNXZiWEJzWlM1amIy"),
    Rule("private-key-body", "mii|mig|mhccaqee|mc4caqa|b3blbn", rf"{START}(?P<secret>{_BEGINS}{_LINES})", "MIIEpAIBAAKCAQEA" + _X + _X, "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJRTESMBAGA1UE", random(3.5)),
    Rule("putty-key", "private-lines", r"(?i:private-lines:)\s{0,3}\d{1,3}\s{1,9}(?P<secret>(?:[A-Za-z0-9+/=]{8,}\s{0,9})+)", "Private-Lines: 1\n" + _X + "=\n", "Private-Lines: 0"),
    Rule("json-web-key", "kty", r"[\"'](?:d|p|q|dp|dq|qi|k)\\?[\"']\s{0,3}:\s{0,3}\\?[\"'](?P<secret>[\w-]{20,})", '{"kty":"EC","d":"' + _X + '"}', '{"kty":"EC","x":"' + _X + '"}', random(3.0)),
    Rule("wireguard-key", "privatekey|presharedkey", r"(?i:(?:private|preshared)key)\s{0,3}=\s{0,3}(?P<secret>[A-Za-z0-9+/]{42,43}=)", "PrivateKey = " + _X + "Zk3vQ9t=", "PrivateKey = <key>"),
    Rule("signed-address", "sig=|amz-signature=", r"[?&;](?:sig|X-Amz-Signature)=(?P<secret>[\w%+/=-]{30,200})", "https://a.example/c?sv=1&sig=" + _X + "%3D", "https://a.example/?sig=x", random(3.0)),
    Rule("zapier-webhook", "hooks.zapier.com", rf"(?P<secret>hooks\.zapier\.com/hooks/catch/\d{{4,12}}/\w{{5,12}}){END}", "https://hooks.zapier.com/hooks/catch/" + "1234567/b8k3qz9", "https://hooks.zapier.com/docs"),
)  # fmt: skip
