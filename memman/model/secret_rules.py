"""The classes of secrets: what must never reach disk or a provider, each with an example it must and must not catch.

The classes follow the public gitleaks rule set; patterns are our own. No
pattern may take longer than in proportion to the text: every repetition is
bounded, or begins only where such a run begins; and no two ways lead through
the same text. `++` and `(?>…)` are not used: see `secret_rule.whole`.
"""

from memman.model.secret_fields import FIELDS
from memman.model.secret_material import MATERIAL
from memman.model.secret_phrases import PHRASES
from memman.model.secret_prefixes import PREFIXES
from memman.model.secret_rule import Rule
from memman.model.secret_services import SERVICES
from memman.model.secret_tokens import TOKENS
from memman.model.secret_tools import TOOLS

# In the order in which they are tried: a token that names itself is called by its own name.
RULES: tuple[Rule, ...] = (*MATERIAL, *TOKENS, *PREFIXES, *SERVICES, *TOOLS, *FIELDS, *PHRASES)
