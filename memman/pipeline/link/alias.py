"""Other names for the same thing, read from what facts say: k8s = Kubernetes, the billing service is called Ledger."""

import re
from collections.abc import Iterator

from memman.model.terms import STOPWORDS, name

# Words and characters of a name.
_MOST_WORDS, _LONGEST, _SHORTEST = 4, 40, 2

_WORD = r"[^\W_][\w.+#/&\-]*"
_NAME = rf"[`\"'\u201c]?(?P<{{}}>{_WORD}(?: {_WORD}){{{{0,{_MOST_WORDS - 1}}}}}?)[`\"'\u201d]?"
# What is coined is one word, or more in capitals or quotation marks.
_COINED = rf"(?:[`\"'\u201c](?P<{{0}}_quoted>[^`\"'\u201d\n]{{{{2,40}}}})[`\"'\u201d]|(?P<{{0}}>{_WORD}(?: [A-Z]\w+){{{{0,2}}}}))"
_THE = r"(?:(?:the|our|an?|my|its|their) )?"
_END = r"(?=\s*(?:[.,;:!?)\n]|$| (?:and|but|because|since|so|in|for|which|internally|here|now)\b))"


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("ONE", _NAME.format("one")).replace("OTHER", _COINED.format("other")))
