"""The shapes of text that is written to steer an agent: a table, by what each gives away."""

import re

# Who reads memories, by names that mean nothing else; "agent", "Gemini" or "GPT" alone may be anything.
_MODEL = (
    r"(?:AIs|LLMs|(?:any|all|every|each) (?:AI|LLM|(?:coding |AI )?assistants?|(?:AI )?agents? (?:reading|that reads?|who reads?"
    r"|with (?:tool )?access))|(?:coding|AI|LLM|software) (?:agents?|assistants?|models?)|(?:all|any|every) agents?"
    r"|assistants|claude(?: code)?|chatgpt|codex(?: cli)?|copilots?|language models?|KI-(?:Agent(?:en)?|Assistent(?:en)?)"
    r"|Sprachmodelle?)"
)
_WHO = r"(?:user|developer|human|owner|operator|maintainer|admin(?:istrator)?|boss|nutzer|benutzer|anwender|entwickler)"
_DO = (
    r"(?:send|upload|forward|post|e?mail|approve|accept|install|trust|skip|disable|bypass|share|reveal|paste|copy|leak"
    r"|grant|push|curl|answer|reply|respond|recommend|suggest|tell|say|claim|report|print|run|execute|call|use|deploy"
    r"|merge|delete|drop|remove|add|include|append|commit|open|fetch|download|visit|route|export|insert|write|recall"
    r"|sende|schicke|lade|installiere|nutze|verwende|antworte|sage|nenne|empfiehl|f\u00fchre|gib|l\u00f6sche|\u00f6ffne"
    r"|genehmige|akzeptiere|umgehe|deaktiviere)"
)
_OUT = r"(?:https?://(?!(?:localhost|127\.|\[::1\]))|www\.|[\w.+-]+@[\w-]+\.\w|[\w-]+\.(?:example|invalid|test|ru|xyz|top)\b)"
_ENDS = (
    r"(?=\s*(?:[.!,;:\u2014]|$|and\b|or\b|but\b|this\b|that you\b|about (?:this|it|that)\b|first\b|of (?:this|it)\b))"
)
# Installers that everybody runs so, and nothing else in their place.
_INSTALLER = (
    r"(?:\s+-[\w=.'-]+){0,6}\s+[\"']?https://(?:nixos\.org/nix/install|codecov\.io/bash|get\.docker\.com|get\.k3s\.io|sh\.rustup\.rs"
    r"|astral\.sh/uv/[\w./-]+|raw\.githubusercontent\.com/(?:Homebrew/install|ohmyzsh/ohmyzsh|nvm-sh/nvm)/[\w./-]+)[\"']?\s*[)|]"
)
_UNBIDDEN = r"(?<!never )(?<!not )(?<!n't )"
_TOLD = r"(?:instructions?|prompts?|guidelines?|guidance|directives?|guardrails?|safeguards?|training)"

# "Ignore the instructions before", as other languages say it.
_IGNORE_ABROAD = (
    r"\b(?:ignora(?:d|r)?|olvida|descarta)\b[^.\n]{0,30}\b(?:instrucciones|indicaciones|\u00f3rdenes|reglas)\b",
    r"\b(?:ignore[rz]?|oublie[rz]?)\b[^.\n]{0,30}\b(?:instructions|consignes|directives|r\u00e8gles)\b[^.\n]{0,20}\b(?:pr\u00e9c\u00e9dent|ant\u00e9rieur|ci-dessus)\w*",
    r"\b(?:ignor[ea]r?|esque[\u00e7c]a)\b[^.\n]{0,30}\b(?:instru\u00e7\u00f5es|instrucoes|ordens|regras)\b",
    r"\b(?:\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\w*|\u0437\u0430\u0431\u0443\u0434\u044c\w*|\u043e\u0442\u0431\u0440\u043e\u0441\u044c\w*)\b[^.\n]{0,40}(?:\u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446\u0438|\u0443\u043a\u0430\u0437\u0430\u043d\u0438|\u043f\u0440\u0430\u0432\u0438\u043b|\u043a\u043e\u043c\u0430\u043d\u0434)",
    r"(?:\u5ffd\u7565|\u65e0\u89c6|\u7121\u8996|\u5fd8\u8bb0|\u5fd8\u6389|\u4e0d\u8981\u7406\u4f1a)[^\u3002\n]{0,15}(?:\u6307\u4ee4|\u6307\u793a|\u63d0\u793a|\u89c4\u5219|\u8bf4\u660e)",
    r"(?:\u6307\u793a|\u547d\u4ee4|\u30d7\u30ed\u30f3\u30d7\u30c8|\u30eb\u30fc\u30eb)[^\u3002\n]{0,10}(?:\u7121\u8996|\u5fd8\u308c)",
)

# Marks of an attack whoever hands it on; and of what only those may say who are trusted: what the user wants, and a
# command. Other orders are told by the judge (docs/adr/0046).
ATTACKS = {
    "tells to ignore instructions": (
        (
            r"\b(?:ignore|disregard|forget|override|overrule|bypass|discard|stop following|do(?: not|n't) follow)\b[^.\n]{0,40}"
            r"(?:\b(?:previous|prior|earlier|above|preceding|your)\b[^.\n]{0,30}"
            rf"\b(?:rules?|constraints?|polic(?:y|ies)|context|memor(?:y|ies)|orders?|{_TOLD})\b"
            rf"|\b(?:existing|system|safety)\b[^.\n]{{0,15}}\b{_TOLD}\b(?! colou?r)"
            rf"|\b(?:all|any|every|the)\b[^.\n]{{0,20}}\b(?:instructions?|prompts?|guardrails?|directives?|safeguards?)\b"
            r"(?! colou?r| (?:it|they) (?:does|do|can)(?: not|n't|not)\b))"
        ),
        (
            r"\b(?:ignore|disregard|forget)\b (?:all |everything |anything )?(?:that |what(?:ever)? )?(?:(?:was |has been |you were )?"
            r"(?:said|told|agreed|written) |came |comes |stands )?(?:before|above|earlier)\b(?! (?:the|a|an)\b)"
        ),
        (
            r"\b(?:previous|prior|earlier|above|preceding|former)\b[^.\n]{0,20}\b(?:instructions?|prompts?|guidelines?|guidance"
            r"|directives?)\b[^.\n]{0,15}\b(?:void|obsolete|invalid|cancel+ed|revoked|no longer (?:apply|valid|in force))\b"
        ),
        (
            r"\b(?:ignorier\w*|vergiss|missacht\w*|verwirf|verwerf\w*|\u00fcbergeh\w*)\b[^.\n]{0,40}"
            r"\b(?:(?:anweisung|instruktion|vorgabe|befehl|prompt)\w*|(?:vorher|bisher|zuvor|davor|oben)\w*[^.\n]{0,20}"
            r"\b(?:gesagt|geschrieben|regel|galt|steht)\w*)"
        ),
        r"\b(?:new|updated|real|actual|neue) (?:system )?(?:instructions?|directives?|prompt|anweisung(?:en)?)\s*(?:[:=]|follow)",
        *_IGNORE_ABROAD,
    ),
    "speaks as system or assistant": (
        r"<\|/?(?:system|im_start|im_end|assistant|endoftext|user|start_header_id|eot_id)\|>(?!`? (?:is|are) (?:an?|the)\b|`? (?:to|has id) \d)",
        r"(?<!and )\[/?(?:INST|SYS)\](?! and \[/(?:INST|SYS)\])|<</?SYS>>|<start_of_turn>",
        (
            rf"(?-i:\bSYSTEM)\s*:\s|(?-i:\b(?:SYSTEM|DEVELOPER|ADMIN|ROOT)[ -](?:MESSAGE|PROMPT|OVERRIDE|NOTICE|INSTRUCTIONS?|REMINDER))\s*[:\]>]"
            rf"|[\[<](?:system|developer|admin|root)[ -](?:message|prompt|override|notice|instructions?|reminder)\s*[\]>:]"
            rf"|\b(?:system|developer|admin|root)[ -](?:prompt|override|instructions?|message|notice|reminder)\s*:\s*"
            rf"(?:you\b|ignore\b|always\b|never\b|from now on\b|the (?:user|agent|assistant)\b|please\b|{_DO}\b)"
        ),
        rf"(?m:^)\W{{0,8}}(?:assistant|human|system|developer)\s*:\s*(?:you\b|I (?:will|must|have|am|shall)\b|ignore\b|always\b|never\b|from now on\b|please\b|{_DO}\b)",
        r"(?m:^)\W{0,8}(?:human|user)\s*:[^\n]{0,400}\n{1,3}\W{0,8}assistant\s*:|(?m:^)\W{0,8}assistant\s*:[^\n]{0,400}\n{1,3}\W{0,8}(?:human|user)\s*:",
        r"[\"']role[\"']\s*:\s*[\"'](?:system|developer|assistant)[\"']\s*,\s*[\"'](?:content|text|parts)[\"']\s*:",
        r"[\"']role[\"']\s*:\s*[\"']user[\"']\s*,\s*[\"'](?:content|text)[\"']\s*:\s*[\"'](?:[^\s\"']+ ){4}",
        r"(?m:^)#{1,6}\s*(?:instructions?|system|response|assistant)\s*:",
        r"\b(?:begin|end) (?:of )?(?:system|admin|developer) (?:message|prompt|instructions?)",
        r"<\s?/?\s?(?:memman-memory|system-reminder|hook_context)\s?>",
        r"(?m:^)\W{0,4}</?\s?(?:system|assistant)\s?>|(?s:\A(?:(?!<(?:note|memories|facts|summary|agent|user)\b).)*?</\s?(?:note|memories|facts|summary|agent|user)\s?>)",
    ),
    "looks like a tool's call": (
        r"<\s?/?(?:function_calls?|invoke|tool_calls?|tool_use|tool_result|function_results?|antml:\w+)\b",
        (
            r"[\"'](?:tool|function|name|recipient_name)[\"']\s*:\s*[\"'][\w.-]{0,30}(?:bash|shell|exec|run|terminal|command|write|edit"
            r"|file|fetch|http|curl|send|mail|delete|memory|remember|memman)[\w.-]{0,30}[\"']\s*,\s*"
            r"[\"'](?:arguments|args|input|parameters)[\"']\s*:"
        ),
    ),
    "gives the agent another role": (
        r"\byou are (?:now|no longer|actually) (?:an?|the|free|not|bound|unrestricted)\b|\byou are (?:now|actually) in (?:\w+ ){0,2}mode\b",
        r"\b(?:pretend|roleplay|imagine) (?:to be|that you|you are|as (?:an?|the))\b",
        r"\bact as (?:if you|an? (?:unrestricted|unfiltered|admin|developer mode|different))",
        r"\b(?:developer|god|dan|jailbreak) mode (?:is )?(?:now )?(?:enabled|activated|on|active)\b(?=\s*(?:[.!:;,]|$|and\b|you\b))",
        r"\bdu bist (?:jetzt|nun|ab sofort)\b(?! (?:in|im)\b)",
    ),
    "addresses the model": (
        (
            rf"\b(?:attention|notice|message|instructions?|reminder|important|note|hinweis|anweisung|nachricht|memo)\s(?:to|for|an"
            rf"|f\u00fcr) (?:all |any |the |every |alle |das |den |your )?(?:{_MODEL}|AI(?! (?:team|lab|department|group))|LLM|(?:AI )?agent reading|language model|model|modell)\b"
            rf"(?! (?:team|trainers?|authors?|users?|developers?|owners?))\s?[:,\u2014-]"
        ),
        rf"\b(?:attention|hey|dear|hello|achtung|liebe[rs]?),? (?:all |any )?(?:{_MODEL}|AI|agents?|assistant|model)\b\s?[:,!]",
        r"\b(?:dear|hello|attention) (?:reader|agent|model|assistant)s? with (?:\w+ )?access\b",
        rf"\b(?:if|when) you(?:'re| are) an? (?:{_MODEL}|AI|agent|assistant|language model|LLM)\b",
    ),
    "wants it kept from the user": (
        (
            rf"\b(?:do(?: not|n't)|never|without|no need to)\b (?:ever )?(?:tell|telling|inform\w*|notify\w*|alert\w*|mention\w*"
            rf"|reveal\w*|report\w*|show\w*)(?: (?:this|it|that|any of (?:this|it)|anything)(?: to)?| to)? (?:the|your) {_WHO}s?\b{_ENDS}"
        ),
        (
            rf"\b(?:do(?: not|n't)|never|without|no need to)\b (?:ever )?(?:ask|asking|bother\w*|consult\w*) (?:the|your) {_WHO}s?\b"
            r"(?=\s*(?:[.!;:]|$|and\b|or\b|first\b|before\b|(?:for|to) (?:confirm\w*|permission|approv\w*|consent)\b))"
        ),
        rf"\b(?:ohne|nicht)\b[^.\n]{{0,30}}\b(?:dem|den) {_WHO}\b[^.\n]{{0,20}}\b(?:sagen|fragen|mitzuteilen|zu fragen|erw\u00e4hnen)\b",
        rf"\bkeep (?:this|it) (?:(?:secret|hidden|confidential)(?: from the {_WHO})?|from the {_WHO})(?!:){_ENDS}",
        r"\b(?:say|tell (?:them|anyone|anybody)) nothing (?:about|of) (?:it|this|that)\b",
        r"\bn'en parlez? pas \u00e0|\bno (?:se )?lo (?:digas|menciones) (?:al|a)\b",
    ),
    "has a shell run a page": (
        r"\b(?:ba|z)?sh\s+(?:-c\s+[\"']?)?(?:<\(|\$\(|`)\s*(?:curl|wget)\b" + f"(?!{_INSTALLER})",
    ),
    "gives credentials away": (
        (
            rf"{_UNBIDDEN}\b(?:send|upload|post|forward|e?mail|transmit|leak|exfiltrate|submit|paste|publish|attach|ship|env\u00eda|envoyez?|sende"
            rf"|schick\w*)\b[^.\n]{{0,25}}(?<!\w)(?:\.env|~/\.(?:ssh|aws)\S*|(?:private |ssh |api )keys?|credentials|passwords"
            rf"|secrets|tokens)\b[^\n]{{0,25}}\b(?:to|at|via|an|nach|a|\u00e0)\b[^\n]{{0,12}}{_OUT}"
        ),
        rf"\b(?:cat|tar|zip)\b[^\n]{{0,12}}(?:~/\.(?:ssh|aws)|\.env)\b[^\n]{{0,60}}{_OUT}",
        rf"\b(?:sharing|share|sends?) (?:secrets|credentials|keys|passwords|tokens) with {_OUT}",
    ),
}
ORDERS = {
    "says what the user wants": (
        (
            rf"\b(?:the|your|der|die) {_WHO}\b[^.\n]{{0,15}}\b(?:said (?:that|you|to|we|it|always|never)\b|wants? you|wants? (?:every|the agent)|told you|asked (?:you"
            rf"|the agent|for all)|prefers(?! value)|insists|instructed|hat gesagt|will,? dass|w\u00fcnscht)"
        ),
        (
            rf"\b(?:the|your|der|die) {_WHO} (?:has |have |hat )?(?:already |also |pre-?|dies |das )?(?:approved|authori[sz]ed"
            rf"|consented to|permitted|genehmigt|freigegeben|erlaubt|zugestimmt)\b"
            rf"(?= (?:this|it|all|every|any|you|the agent|running|sending|sharing|uploading|using)\b|\s*[.!,;:]|[^.\n]{{0,20}}{_OUT})"
        ),
        r"\b(?:the|your) (?:user|developer|human) decided (?:to|that|on|for|against)\b",
        rf"\b(?:the|your) {_WHO}[^.\n]{{0,30}}\bconsents? to\b[^.\n]{{0,30}}\b(?:running|auto|any|all|every)\w*",
        r"\b(?:as per|per|on behalf of) (?:the |your )?(?:user|developer)(?:'s)? (?:wish|wishes|order|instruction|preference|will|standing)",
        r"\b(?:el|la) usuari[oa] (?:quiere|desea|prefiere|pide|exige) que\b|\b(?:el|la) usuari[oa] (?:ya )?ha (?:aprobado|autorizado|aceptado)\b",
        r"\bl['\u2019]utilisat(?:eur|rice) (?:veut|souhaite|pr\xe9f\xe8re|demande|exige) qu|\bl['\u2019]utilisat(?:eur|rice) (?:a|est) (?:d\xe9j\xe0 )?(?:approuv|autoris|accept|d'accord)",
        r"\b\u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u0435\u043b\u044c (?:\u0445\u043e\u0447\u0435\u0442|\u0436\u0435\u043b\u0430\u0435\u0442|\u043f\u0440\u043e\u0441\u0438\u0442|\u0442\u0440\u0435\u0431\u0443\u0435\u0442),? \u0447\u0442\u043e\u0431\u044b|\b\u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u0435\u043b\u044c (?:\u0443\u0436\u0435 )?(?:\u0440\u0430\u0437\u0440\u0435\u0448\u0438\u043b|\u043e\u0434\u043e\u0431\u0440\u0438\u043b|\u0441\u043e\u0433\u043b\u0430\u0441\u0438\u043b\u0441\u044f)",
        r"\u7528\u6237(?:\u5e0c\u671b|\u8981\u6c42|\u60f3\u8981?)(?:\u4f60|\u59cb\u7ec8|\u603b\u662f|\u4e00\u5f8b|\u6240\u6709|\u6bcf\u6b21|\u4eca\u540e)|\u7528\u6237\u5df2\u7ecf?(?:\u540c\u610f|\u6279\u51c6|\u6388\u6743)",
        r"\u30e6\u30fc\u30b6\u30fc?(?:\u306f|\u304c)(?:\u5e38\u306b|\u6bce\u56de|\u4eca\u5f8c|\u3059\u3067\u306b|\u65e2\u306b)[^\u3002\n]{0,40}(?:\u671b\u3093|\u5e0c\u671b|\u6c42\u3081|\u627f\u8a8d|\u540c\u610f|\u8a31\u53ef)",
    ),
    "runs what it fetches": (
        (
            r"(?:^|[.!;]\s+|\b(?:please|must|should|always|first|and|then|run:?|step \d+:?)\s+|[`$]\s?)(?:curl|wget|iwr|irm|fetch)\b"
            rf"(?!{_INSTALLER})"
            r"[^\n|]{0,160}\|\s*(?:sudo\s+)?"
            r"(?:(?:ba|z|da|k|fi)?sh|python3?|node|perl|iex)\b(?! (?:installs?|sets? up|is|was)\b)(?<!rustup.rs \| sh)"
        ),
        r"\b(?:base64|xxd|openssl)\b[^\n|]{0,60}(?:-d|--decode|-r|-D)\b[^\n|]{0,60}\|\s*(?:sudo\s+)?(?:ba|z)?sh\b(?! is\b)",
        r"\beval\s+[\"']?(?:\$\(|`)\s*(?:curl|wget|base64|echo)\b",
        r"\b(?:decode|unpack|dekodiere)\b[^.\n]{0,40}\b(?:and|then|und)\b[^.\n]{0,20}\b(?:run|execute|follow|obey|do|f\u00fchre|befolge)\b",
        r"\b(?:fetch|download|get)\s+\S+\.(?:sh|py|ps1|js)\s+and\s+(?:run|execute)\b",
    ),
}
# What stands in a comment is not meant for those who look at the page.
COMMENT = re.compile(
    r"<!--(.*?)(?:-->|$)|\[//\]:\s?#\s?\(?[\"']?(.*?)[\"')]|<(?:div|span|p)\b[^>]{0,80}(?:display:\s?none|font-size:\s?0|opacity:\s?0)[^>]{0,40}>(.*?)<",
    re.DOTALL | re.IGNORECASE,
)
BIDDEN = re.compile(
    rf"\b(?:{_MODEL}|agents?:?|assistant:?|ignore|disregard) {_DO}\b|\b(?:{_MODEL}|agents?|assistants?|AI|model)\s?[:,]"
    rf"|\b(?:ignore|disregard) (?:all|any|the|previous|your)\b|\byou (?:must|should|are)\b|\b(?:always|never) {_DO}\b|\bremember (?:this|that)\b"
    rf"|^\W*(?:please )?{_DO} [^<]{{0,80}}{_OUT}",
    re.IGNORECASE,
)

# How an agent hands on what it read, and what that makes of its word: what any such thing is called, and what by name.
MEDIUM = {
    "web": r"(?:web ?)?(?:page|site|website|article|blog(?: post)?|post|forum|thread|url|link|search(?: results?)?|wiki|webseite|seite)",
    "tool": r"(?:(?:tool|command|test|build|ci|linter|script|program|server|terminal)(?:'s)? )?(?:output|response|log|stdout|stderr"
            r"|error message)|issue|ticket|pull request|comment|e-?mail|message|mcp(?: server)?|ausgabe|meldung",
    "file": r"read ?me|file|document(?:ation)?|docs?|docstring|changelog|config(?:uration)?|manual|\S+\.(?:md|txt|rst|toml|ya?ml|json)"
            r"|run ?book|spec(?:ification)?|guide|hand ?book|datei|dokument(?:ation)?",
}  # fmt: skip
_DOCUMENT = r"(?:read ?me|contributing|changelog)(?:\.\w{1,4})?(?![\w./-])|[\w./-]{1,80}\.(?:md|txt|rst|adoc|html?|pdf)"
NAMED = {
    "web": r"https?://[^\s:,]{1,200}(?::\d+[^\s:,]{0,200})?|(?:web )?search(?: results?)?|web ?(?:fetch|search)|stack ?overflow|confluence"
           r"|wikipedia",
    "tool": r"mcp(?: server)?|jira|(?:pr|mr|pull request|issue|ticket) #?\d+(?: comment)?|(?-i:[A-Z]{2,10}-\d+)|`[^`\n]{2,60}`|npm"
            r"|(?:tool|command|shell|terminal|curl|wget) output",
    "file": rf"{_DOCUMENT}|[\w./-]{{1,80}}\.(?:toml|ya?ml|json|ini|cfg|[a-z]{{1,4}})",
}  # fmt: skip
_THE = r"(?:the|this|that|its|an?|der|die|das)"
_ANY = rf"(?:{_THE} )?(?:[\w.'/-]+ ){{0,3}}?(?:MEDIUM|NAMED)"
_TELLS = (
    r"(?:says?(?! nothing\b)|said|states?|tells?|told|claims?|instructs?|recommends?|suggests?|warns?|mentions?|mentioned|notes|noted|explains?"
    r"|explained|announces?|insists?|advises?|puts it|(?:shows?|showed|documents|describes?|lists?|prints?|reports?|requires?|has"
    r"|contains?)(?= that\b|\s?[:\"'\u201c]|(?: (?!that\b|which\b|where\b|how\b|a\b|the\b|no\b|\d)[\w-]+){1,2} (?:go(?:es)?|is|are|must|should)\b)"
    r"|(?:has|contains) an? (?:note|comment|line|rule)\b)"
)
# Who, and how they say it.
REPORT = (
    rf"\b{_THE}(?: [\w.'/-]+){{0,3}} (?:MEDIUM)\b[^.\n]{{0,30}}\b(?:says?(?! nothing\b)|said|states?|tells?"
    r"|claims?|instructs?|recommends?|warns?|(?:asks?|wants?|requires?)(?= (?:that|us|you|me|all|(?:AI )?agents?|everyone|users?"
    r"|developers?)\b)|reads(?=\s?[:\"'\u201c])|sagt|besagt|verlangt|empfiehlt)\b"
    rf"|(?:\b(?:{_THE}|\w+'s)(?: [\w.'/-]+){{0,3}} (?:MEDIUM)|(?<![\w./-])(?:NAMED))"
    rf"(?: (?:at|in|on|of|from|by|for) (?:the |an? )?\S{{1,80}})? (?:also |clearly |even |explicitly )?{_TELLS}(?!\w)"
    r"|\b(?:(?:according to|as per|quoting|laut|gem\u00e4\u00df|as (?:stated|documented|described|noted|written|explained|mentioned)"
    rf" (?:in|on|by)) (?:{_THE} |dem )?(?:[\w.'/-]+ ){{0,3}}(?:MEDIUM|NAMED)|per (?:(?:the|this|its) (?:[\w.'/-]+ ){{0,3}}(?:MEDIUM)|NAMED))(?!\w)"
    rf"|\b(?:in|on|at) (?:dem |der )?{_ANY},? (?:it (?:says|said|reads|states|is (?:stated|said|noted))|there (?:is|was) an? (?:note|comment|line)|steht|hei\u00dft es)\b"
    rf"|\b(?:it (?:says|said|reads|states)|I (?:just )?(?:read|saw|learn(?:ed|t)|found)(?: that| it)?) (?:in|on|at|from) {_ANY}(?!\w)"
)
# The same where the source only stands before or behind what it says: no file that somebody has worked on.
LABEL = (
    rf"(?m:^)\W{{0,4}}(?:(?:from|in|found (?:in|on|at)|seen (?:in|on|at)|quot(?:e|ed|ing) from|via) {_ANY}(?: \w+){{0,2}}\s?:\s"
    rf"|(?:source|quelle)\s?:\s{_ANY}(?!\w)"
    r"|(?:the )?(?:LABELLED)(?: (?:says?|has|returned|results?|excerpt|comment))?\s?:\s(?!(?:now |also )?(?:add|updat|fix|renam|remov|mov|document"
    r"|correct|rewr|wrote|chang|creat|bump|replac|mention|link|list|describ|extend|split|no |done|see )))"
    rf"|[(\[](?:source|quelle)\s?:\s{_ANY}(?!\w)"
    rf"|\((?:quoted |copied |taken )?from (?:the )?(?:DOCUMENT)\)|\[(?:DOCUMENT)(?::\d+)?\](?!\()"
).replace("DOCUMENT", _DOCUMENT)
LABELLED = {
    "web": r"https?://[^\s:,]{1,200}|(?:fetched|vendor|official|upstream) (?:page|document|file|docs|documentation)|web ?fetch|(?:web )?search results?|web ?search|stack ?overflow",
    "tool": r"mcp(?: \w+){0,2}|jira [a-z]+-\d+|(?:pr|mr|pull request|issue|ticket) #?\d+ comment|(?:tool|command|shell|terminal|curl|wget) output",
    "file": rf"{_DOCUMENT}|read\([^)\n]{{1,80}}\)",
}
