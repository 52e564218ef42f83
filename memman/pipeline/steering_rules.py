"""The shapes of text that is written to steer an agent: a table, by what each gives away."""

import re

_AI = (
    r"(?:AIs?|A\.I\.|LLMs?|(?:coding |AI |software )?(?:agents?|assistants?)|copilots?|claude(?: code)?|codex|gemini|chatgpt|gpt"
    r"|language models?|KI(?:-Agent(?:en)?|-Assistent(?:en)?)?|Sprachmodelle?)"
)
_WHO = r"(?:user|developer|human|owner|operator|maintainer|admin(?:istrator)?|boss|nutzer|benutzer|anwender|entwickler)"
_DO = (
    r"(?:send|upload|forward|post|e?mail|approve|accept|install|trust|skip|disable|bypass|share|reveal|paste|copy|leak"
    r"|grant|push|curl|answer|reply|respond|recommend|suggest|tell|say|claim|report|print|run|execute|call|use|deploy"
    r"|merge|delete|drop|remove|add|include|append|commit|open|fetch|download|visit|route|export|insert|write|recall"
    r"|sende|schicke|lade|installiere|nutze|verwende|antworte|sage|nenne|empfiehl|f\u00fchre|gib|l\u00f6sche|\u00f6ffne"
    r"|genehmige|akzeptiere|umgehe|deaktiviere)"
)
_RISK = (
    r"(?:send|upload|forward|e?mail|approve|trust|skip|disable|bypass|share|reveal|paste|leak|grant|exfiltrate"
    r"|recommend|suggest|tell|answer|reply|respond|claim|auto-?merge|sende|schicke|antworte|empfiehl|genehmige|umgehe"
    r"|deaktiviere)"
)
_GOODS = (
    r"(?:secrets?|tokens?|keys?|credentials?|passwords?|\.env|env(?:ironment)? (?:file|variables?|vars?)|transcripts?"
    r"|conversations?|chat|diffs?|source(?: code)?|repo(?:sitory)?|code|dumps?|logs?|history|contents?|files?|database"
    r"|memor(?:y|ies)|data|zugangsdaten|passw\u00f6rter|schl\u00fcssel|quelltext|verlauf)"
)
_OUT = r"(?:https?://(?!(?:localhost|127\.|\[::1\]))|www\.|[\w.+-]+@[\w-]+\.\w|[\w-]+\.(?:example|invalid|test|ru|xyz|top)\b)"
_CHECKS = (
    r"(?:code[- ]?reviews?|reviews?|verification|signatures?|tls|ssl|certificates?|approvals?|confirmations?"
    r"|authentication|2fa|mfa|audits?|sandbox|permissions?|safety|security|secret scans?|scans?|hooks?|tests?"
    r"|pr\u00fcfung(?:en)?|freigaben?)"
)
_BEGINS = r"(?:^|[.!:;>\u2013-]\s+|\b(?:always|please|must|should|shall|may|and|then|immer|bitte)\s+)"

# Marks of an attack whoever hands it on; and of an order, which only those may give who are trusted.
ATTACKS = {
    "tells to ignore instructions": (
        (
            r"\b(?:ignore|disregard|forget|override|overrule|bypass|discard|stop following|do(?: not|n't) follow)\b[^.\n]{0,40}"
            r"\b(?:(?:previous|prior|earlier|above|preceding|existing|system|safety|your)\b[^.\n]{0,30}"
            r"\b(?:rules?|constraints?|polic(?:y|ies)|context|memor(?:y|ies)|safeguards?|instructions?|prompts?|guidelines?"
            r"|orders?|directives?|guardrails?|training)\b|(?:all|any|every|the)\b[^.\n]{0,20}"
            r"\b(?:instructions?|prompts?|guardrails?|directives?|safeguards?)\b)"
        ),
        (
            r"\b(?:ignorier\w*|vergiss|missacht\w*|verwirf|\u00fcbergeh\w*)\b[^.\n]{0,40}"
            r"\b(?:anweisung|regel|instruktion|vorgabe|befehl|prompt)\w*"
        ),
        r"\b(?:new|updated|real|actual|neue) (?:system )?(?:instructions?|directives?|prompt|anweisung(?:en)?)\s*(?:[:=]|follow)",
    ),
    "speaks as system or assistant": (
        r"<\|?/?(?:system|im_start|im_end|assistant|endoftext|user|start_header_id|eot_id)\|?>",
        r"\[/?(?:INST|SYS)\]|<</?SYS>>|<start_of_turn>",
        r"\b(?:system|developer|admin|root)[ -](?:message|prompt|override|notice|instructions?|reminder)\s*[:\]>]",
        r"(?m:^)\W{0,8}(?:assistant|human)\s*:\s",
        r"\b(?:begin|end) (?:of )?(?:system|admin|developer) (?:message|prompt|instructions?)",
        r"<\s?/?\s?(?:memman-memory|system-reminder|hook_context|note|memories|facts|summary|agent)\s?>",
    ),
    "looks like a tool's call": (
        r"<\s?/?(?:function_calls?|invoke|tool_calls?|tool_use|tool_result|function_results?|antml:\w+)\b",
        (
            r"[\"'](?:tool|function|name|recipient_name)[\"']\s*:\s*[\"'][\w.-]{1,40}[\"']\s*,\s*"
            r"[\"'](?:arguments|args|input|parameters)[\"']\s*:"
        ),
    ),
    "gives the agent another role": (
        r"\byou are (?:now|no longer|actually) (?:an?|the|in|free|not|bound|unrestricted)\b",
        r"\b(?:pretend|roleplay|imagine) (?:to be|that you|you are|as (?:an?|the))\b",
        r"\bact as (?:if you|an? (?:unrestricted|unfiltered|admin|developer mode|different))",
        r"\b(?:developer|god|dan|jailbreak|debug) mode (?:is )?(?:enabled|activated|on|active)\b",
        r"\bdu bist (?:jetzt|nun|ab sofort)\b",
    ),
    "wants it kept from the user": (
        (
            rf"\b(?:do(?: not|n't)|never|without|no need to)\b[^.\n]{{0,20}}\b(?:tell|telling|mention\w*|inform\w*|notify\w*"
            rf"|alert\w*|ask|asking|reveal\w*)\b[^.\n]{{0,30}}\b(?:the|your|this to the|it to the|dem|den)\b[^.\n]{{0,12}}\b{_WHO}s?\b"
        ),
        rf"\b(?:ohne|nicht)\b[^.\n]{{0,30}}\b(?:dem|den) {_WHO}\b[^.\n]{{0,20}}\b(?:sagen|fragen|mitzuteilen|zu fragen|erw\u00e4hnen)\b",
        rf"\bkeep (?:this|it) (?:secret|hidden|confidential|from the {_WHO})\b",
    ),
}
ORDERS = {
    "says what the user wants": (
        (
            rf"\b(?:the|your|der|die) {_WHO}\b[^.\n]{{0,15}}\b(?:said|wants? you|wants? (?:all|every|the agent)|told you"
            rf"|asked (?:you|the agent|for all|that)|prefers|decided|insists|instructed|hat gesagt|will,? dass|w\u00fcnscht|m\u00f6chte,? dass)\b"
        ),
        (
            rf"\b{_WHO}\b[^.\n]{{0,25}}\b(?:has|have|hat|was|is|already|pre-?)\s?[^.\n]{{0,12}}\b(?:approved|authori[sz]ed|consented"
            rf"|permitted|granted|genehmigt|freigegeben|erlaubt|zugestimmt)\b"
        ),
        r"\b(?:as|per|on behalf of) (?:the )?(?:user|developer)(?:'s)?\b[^.\n]{0,20}\b(?:request|wish|order|instruction|preference)",
    ),
    "gives a lasting order": (
        (
            rf"\b(?:from now on|going forward|from here on|henceforth|in (?:all |any |every )?future (?:sessions?|tasks?|turns?"
            rf"|conversations?|answers?)|in every (?:session|answer|reply|task)|ab sofort|ab jetzt|k\u00fcnftig|zuk\u00fcnftig|von nun an)\b"
            rf"[^.\n]{{0,80}}\b(?:always|never|you|must|should|{_AI}|{_DO}|immer|niemals|musst|sollst)\b"
        ),
        rf"\b(?:always|never|immer|niemals|stets)\b[^.\n]{{0,25}}\b{_RISK}\b",
        rf"\b{_RISK}\b[^.\n]{{0,40}}\b(?:immer|stets|always|from now on|every time)\b",
        (
            r"\b(?:remember|memori[sz]e|store|save|keep|merke?|speichere)\b[^.\n]{0,15}\b(?:this|that|it|dir|das|dies)\b[^.\n]{0,25}"
            r"\b(?:forever|permanently|as (?:a |the )?(?:fact|rule|user|standing|preference|instruction)|memory|preference"
            r"|f\u00fcr immer|dauerhaft)"
        ),
        (
            r"\b(?:this|it|dies) (?:replaces|supersedes|overrides|takes precedence over|ersetzt)\b[^.\n]{0,40}"
            r"\b(?:all|any|every|earlier|previous|prior|other|stored|alle|fr\u00fchere)\b"
        ),
    ),
    "tells agents what to do": (
        (
            rf"\b(?:{_AI})\b[^.\n]{{0,25}}\b(?:must|should|shall|have to|need to|has to|(?:are|is) (?:required|instructed|expected|asked"
            rf"|authori[sz]ed|to)|may now|can safely|m\u00fcssen|sollen|muss|soll|d\u00fcrfen)\b"
        ),
        (
            rf"\b(?:attention|notice|message|instructions?|reminder|important|note|hinweis|anweisung|nachricht)\b[^.\n]{{0,20}}"
            rf"\b(?:to|for|an|f\u00fcr)\b (?:all |any |the |alle |den )?{_AI}\b"
        ),
        rf"\b(?:attention|hey|dear|hello|achtung)\b,? (?:all |any )?{_AI}\b",
        rf"\b(?:if|when) you(?:'re| are) an? {_AI}\b",
        rf"^\W{{0,6}}(?:{_AI})\s?[:,]\s",
        rf"\bas an? {_AI},? (?:you|please|{_DO})\b",
        r"\bmemman (?:remember|replace|forget|config|store|uninstall|insights)\b",
    ),
    "waits for a question": (
        (
            rf"\b(?:when(?:ever)?|if|once|wenn|sobald|falls)\b[^.\n]{{0,25}}\b(?:asked|gefragt|(?:the |der |ein )?(?:{_WHO}|someone|"
            rf"anyone|anybody|somebody|people|jemand)\b[^.\n]{{0,12}}\b(?:asks?|mentions?|says|requests?|wants|fragt|erw\u00e4hnt|sagt))\b"
            rf"[^\n]{{0,100}}\b{_DO}\b"
        ),
        rf"\b{_DO}\b[^.\n]{{0,60}}\b(?:when(?:ever)?|if|once|wenn|falls)\b (?:you(?:'re| are) |it is |)(?:asked|gefragt)\b",
        (
            r"\b(?:question|request|prompt|query|frage|anfrage)s?\b[^.\n]{0,30}\b(?:about|for|on|mentioning|containing|zu|nach)\b"
            r"[^.\n]{0,50}\b(?:must|should|shall|is to|are to|muss|soll)\b"
        ),
        r"\b(?:trigger|magic|code|activation) (?:word|phrase)\b|\bupon (?:hearing|reading|seeing) (?:the )?(?:word|phrase)\b",
    ),
    "sends something out": (
        (
            rf"\b(?:send|upload|post|forward|e?mail|transmit|copy|leak|exfiltrate|submit|paste|publish|push|append|sende|schicke"
            rf"|lade|\u00fcbermittle)\b[^.\n]{{0,60}}(?<!\w){_GOODS}\b[^\n]{{0,40}}\b(?:to|at|via|into|an|nach|auf)\b[^\n]{{0,30}}{_OUT}"
        ),
        (
            r"\b(?:curl|wget|nc|scp|Invoke-WebRequest)\b[^\n]{0,80}(?:-d|--data\S*|-F|-T|--post-\w+|--upload-file|<)\s?\S{0,20}"
            r"(?:@|\$|\.env|secret|token|key|\.ssh|passw)"
        ),
        r"!\[[^\]\n]{0,40}\]\(https?://[^)\s]{0,200}[?&=][^)\s]{0,80}(?:\{|\$|token|secret|data|env)",
    ),
    "runs what it fetches": (
        r"\b(?:curl|wget|iwr|irm|fetch)\b[^\n|]{0,160}\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k|fi)?sh|python3?|node|perl|iex)\b",
        r"\b(?:base64|xxd|openssl)\b[^\n|]{0,60}(?:-d|--decode|-r|-D)\b[^\n|]{0,60}\|\s*(?:sudo\s+)?(?:ba|z)?sh\b",
        r"\b(?:ba|z)?sh\s+(?:-c\s+[\"']?)?(?:<\(|\$\(|`)\s*(?:curl|wget)\b|\beval\s+[\"']?(?:\$\(|`)\s*(?:curl|wget|base64|echo)\b",
        r"\b(?:decode|unpack|dekodiere)\b[^.\n]{0,40}\b(?:and|then|und)\b[^.\n]{0,20}\b(?:run|execute|follow|obey|do|f\u00fchre|befolge)\b",
    ),
    "turns a check off": (
        rf"{_BEGINS}(?:skip|disable|bypass|turn off|omit|suppress|deaktivier\w*|umgeh\w*|\u00fcberspring\w*)\b[^.\n]{{0,30}}\b{_CHECKS}\b",
        (
            rf"\b{_CHECKS}\b[^.\n]{{0,30}}\b(?:(?:is|are) no longer (?:needed|required|necessary)|(?:can|may|should|must) be skipped"
            rf"|not (?:needed|required|necessary) (?:any ?more|for you))\b"
        ),
        r"\b(?:run|use|commit|push|install|pass|add)\b[^.\n]{0,40}--(?:no-verify|dangerously-\w[\w-]*|insecure|yolo|trust-all|no-check\S*)",
        r"\bauto-?(?:approve|accept|merge|confirm)\b[^.\n]{0,30}\b(?:all|every|any|everything|changes|pull requests|prs)\b",
        r"\bwithout\b[^.\n]{0,15}\b(?:review|approval|confirmation|asking|checking|verification)\b",
    ),
    "points elsewhere": (
        (
            rf"{_BEGINS}(?:set|change|point|switch|configure|replace|redirect|route|export|setze|\u00e4ndere)\b[^.\n]{{0,50}}"
            rf"\b(?:endpoint|base.?url|registry|index.url|proxy|mirror|webhook|\w*API_(?:URL|BASE)|MEMMAN_\w+|ANTHROPIC_\w+|OPENAI_\w+)\b"
            rf"[^\n]{{0,40}}(?:\bto\b|=|\bauf\b|\bby\b)[^\n]{{0,12}}{_OUT}"
        ),
        r"--(?:extra-)?index-url[ =]https?://(?!pypi\.org|localhost|127\.)|\bnpm config set registry\b",
    ),
}
# An order at all, whoever it is for: what somebody says who tells rather than finds out.
IMPERATIVE = re.compile(
    rf"^\W*(?:please |then |now |and )*{_DO}\b|\b(?:always|never|from now on|going forward)\b|\byou (?:must|should|have to|need to)\b"
    rf"|\b(?:immer|niemals|ab sofort)\b",
    re.IGNORECASE,
)
# What stands in a comment is not meant for those who look at the page.
COMMENT = re.compile(
    r"<!--(.*?)(?:-->|$)|\[//\]:\s?#\s?\(?[\"']?(.*?)[\"')]|<(?:div|span|p)\b[^>]{0,80}(?:display:\s?none|font-size:\s?0|opacity:\s?0)[^>]{0,40}>(.*?)<",
    re.DOTALL | re.IGNORECASE,
)
BIDDEN = re.compile(rf"\b(?:{_AI}|{_DO}|you|ignore|must|always|never|remember)\b", re.IGNORECASE)

# How an agent hands on what it read, and what that makes of its word.
MEDIUM = {
    "web": r"(?:web ?)?(?:page|site|website|article|blog(?: post)?|post|forum|thread|url|link|search results?|wiki|webseite|seite)",
    "tool": r"(?:(?:tool|command|test|build|ci|linter|script|program|server|terminal)(?:'s)? )?(?:output|response|log|stdout|stderr"
            r"|error message)|issue|ticket|pull request|comment|e-?mail|message|ausgabe|meldung",
    "file": r"read ?me|file|document(?:ation)?|docs?|docstring|changelog|config(?:uration)?|manual|\S+\.(?:md|txt|rst|toml|ya?ml|json)"
            r"|datei|dokument(?:ation)?",
}  # fmt: skip
# Who, and how they say it; one of MEDIUM stands between.
REPORT = (
    r"\b(?:the|this|that|its|an?|der|die|das)\b(?: [\w.'/-]+){0,3} (?:MEDIUM)\b[^.\n]{0,30}\b(?:says?|said|states?|tells?"
    r"|claims?|instructs?|recommends?|asks?|wants?|requires?|warns?|reads|sagt|besagt|verlangt|empfiehlt)\b"
    r"|\b(?:according to|per|as per|as stated (?:in|on|by)|quoting|laut|gem\u00e4\u00df) (?:(?:the|this|its|der|dem|die) )?"
    r"(?:[\w.'/-]+ ){0,3}(?:MEDIUM)\b"
)
