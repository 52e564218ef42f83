"""Passwords that tools take as options and arguments: rows of the tools and where in their command it stands."""

from memman.model.likely import login
from memman.model.secret_rule import Rule
from memman.model.secret_value import value

# What may stand between a tool's name and the option: not another command.
_REST = r"[^\n;|]{0,200}?"
_VALUE = rf"[\"']?{value(4)}"
_X = "lake7" + "Graphite"
# Tool -> the words for it, a pattern of it, what stands before the password, an example that is none.
_TOOLS: dict[str, tuple[str, str, str, str]] = {
    "mysql": ("mysql|mariadb", r"(?:mysql|mariadb)[\w-]{0,20}", r"\s-p(?!ort\b|roto)", "mysql -u root -p shop"),
    "registry": (" login", r"(?:docker|podman|nerdctl|helm|oras|skopeo|buildah|crane|az|oc|cf|vault)\s[^\n;|]{0,40}?login", r"\s-p[= ]{1,3}", "docker login -u bob --password-stdin"),
    "sshpass": ("sshpass", "sshpass", r"\s-p\s?", "sshpass -p $PASS ssh host"),
    "redis": ("redis-cli|valkey-cli", "(?:redis|valkey)-cli", r"\s(?:-a|--pass)\s{1,3}", "redis-cli -a $PASS ping"),
    "mongo": ("mongo", r"mongo(?:sh|dump|restore|import|export)?", r"\s-p\s{1,3}", "mongosh -u app -p $PASS"),
    "htpasswd": ("htpasswd", "htpasswd", r"\s-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}\s{1,3}\S{1,120}\s{1,3}\S{1,60}\s{1,3}", "htpasswd -b file bob $PASS"),
    "smb": ("smbclient|rpcclient|wmic|winexe", r"(?:smbclient|rpcclient|wmic|winexe)", r"\s-U\s{0,3}[\"']?[\w.\\/@-]{1,60}%", "smbclient -U bob%$PASS //srv/x"),
    "net-use": ("net use", r"(?i:net\s(?:use|user))", r"\s(?:[a-zA-Z]:\s{1,3})?\\\\[^\s\"']{3,120}\s{1,3}(?![/$%*])", r"net use \\srv\share * /user:bob"),
    "sqlplus": ("sqlplus|impdp|expdp", r"(?:sqlplus|impdp|expdp)", r"\s[\w.$#]{1,40}/(?=[^\s/]{1,80}@)", "sqlplus /@orcl as sysdba"),
    "jdbc": ("jdbc:oracle", r"jdbc:oracle:\w{2,5}", r":[\w.$#]{1,40}/(?=[^\s/]{1,80}@)", "jdbc:oracle:thin:@db:1521"),
    "ldap": ("ldap", r"ldap(?:search|modify|add|delete|passwd|whoami)", r"\s-w\s{1,3}", "ldapsearch -W -D cn=admin"),
    "openssl": ("openssl|keytool|jarsigner", "(?:openssl|keytool|jarsigner)", r"(?:\s-pass(?:in|out)?\s{1,3}pass:|\s-(?:store|key)pass\s{1,3})", "openssl rsa -passin env:PASS"),
    "putty": ("plink|pscp|psftp|putty", r"(?:plink|pscp|psftp|putty)", r"\s-pw\s{1,3}", "plink -pw $PASS host"),
    "archive": ("7z|rar ", r"(?:7za?|7zz|unrar|rar)", r"\s-p(?![ou])", "7z x archive.7z -o/tmp/out"),
    "unzip": ("zip ", r"(?:un)?zip", r"\s-P\s{1,3}(?!(?:option|flag|switch|parameter|is|was|with|and|or|to|for|on|in)\b)", "unzip -P option is insecure"),
    "sqlcmd": ("sqlcmd|bcp ", r"(?:sqlcmd|bcp)", r"\s-P\s?", "sqlcmd -S db -E"),
    "mqtt": ("mosquitto", r"mosquitto_\w{3}", r"\s-P\s{1,3}", "mosquitto_sub -t topic -p 1883"),
    "rabbitmq": ("rabbitmqctl", "rabbitmqctl", r"\s(?:add_user|change_password|authenticate_user)\s{1,3}\S{1,60}\s{1,3}", "rabbitmqctl list_users name"),
    "rdp": ("xfreerdp|cmdkey", r"(?:xfreerdp|cmdkey)\w{0,4}", r"\s/p(?:ass)?:", "xfreerdp /u:bob /port:3389"),
    "piped": ("echo|printf|<<<", r"\b(?:echo|printf)\s{1,3}(?:-n\s)?(?=(?:'[^'\n]{4,120}'\s{0,3}|\"[^\"\n]{4,120}\"\s{0,3}|[^\n|]{4,120})\|\s{0,3}(?:sudo\s-S|\S{1,20}\s[^\n]{0,60}(?:password|token)-?stdin|passwd|chpasswd))", "", "echo $PASS | sudo -S ls"),
    "user": ("useradd|usermod", "(?:useradd|usermod)", r"\s-p\s{1,3}", "useradd -p $HASH bob"),
    "net-user": ("net user", r"(?i:net\suser)", r"\s[\w.-]{1,60}\s{1,3}(?![/*])", "net user bob /add"),
    "ssh-key": ("ssh-keygen", "ssh-keygen", r"\s-N\s{1,3}", "ssh-keygen -t ed25519 -N '' -f key"),
    "github": ("gh secret", r"gh\ssecret\sset", r"\s(?:--body|-b)[= ]{1,3}", "gh secret set DB --body $DB"),
    "aws": ("--secret-string", "aws", r"\s--secret-string[= ]{1,3}(?!file:)", "aws x --secret-string file://x.json"),
    "config": ("requirepass|masterauth", r"(?:requirepass|masterauth)\s{1,3}", "", "requirepass $PASS"),
    "wifi": ("psk", r"(?i:psk)\s{0,3}=\s{0,3}(?=[\"'])", "", 'psk="$PSK"'),
    "sql": ("identified", r"(?i:identified\s{1,3}(?:with\s{1,3}[\w'\"]{1,60}\s{1,3})?by)\s{1,3}(?=[\"'])", "", "IDENTIFIED BY '<secret>'"),
    "here": ("<<<", r"(?:--with-token|--password-stdin|-S)\s{0,3}<<<", r"\s{0,3}", "gh auth login --with-token <<< $TOKEN"),
}  # fmt: skip
_CAUGHT = {
    "mysql": "mysql -u root -p{}", "registry": "docker login -u bob -p {}", "sshpass": "sshpass -p {} ssh host",
    "redis": "redis-cli -a {} ping", "mongo": "mongosh -u app -p {}", "htpasswd": "htpasswd -b file bob {}",
    "smb": "smbclient -U bob%{} //srv/x", "net-use": r"net use \\srv\share {} /user:bob",
    "sqlplus": "sqlplus system/{}@ORCL", "jdbc": "jdbc:oracle:thin:scott/{}@db", "ldap": "ldapsearch -x -w {}",
    "openssl": "openssl rsa -passin pass:{}", "putty": "plink -pw {} host", "archive": "7z x archive.7z -p{}",
    "unzip": "unzip -P {} archive.zip", "sqlcmd": "sqlcmd -S db -U sa -P {}", "mqtt": "mosquitto_sub -u bob -P {}",
    "rabbitmq": "rabbitmqctl add_user bob {}", "rdp": "xfreerdp /u:bob /p:{}", "piped": "echo {} | sudo -S ls",
    "user": "useradd -p {} bob", "net-user": "net user bob {} /add", "ssh-key": "ssh-keygen -N {} -f key",
    "github": "gh secret set DB --body {}", "aws": "aws secretsmanager create-secret --secret-string {}",
    "config": "requirepass {}", "wifi": 'psk="{}"', "sql": "CREATE USER bob IDENTIFIED BY '{}'",
    "here": "gh auth login --with-token <<< {}",
}  # fmt: skip


def _rule(name: str, words: str, tool: str, option: str, spared: str) -> Rule:
    between = _REST if option and name not in ("jdbc", "here") else ""
    return Rule(
        f"{name}-password",
        words,
        f"(?<![\\w-])(?:{tool}){between}{option}{_VALUE}",
        _CAUGHT[name].format(_X),
        spared,
        login,
    )


TOOLS: tuple[Rule, ...] = tuple(_rule(name, *row) for name, row in _TOOLS.items())
