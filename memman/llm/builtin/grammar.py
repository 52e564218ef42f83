"""Kinds of English words the reconciling rules tell apart."""

from memman.llm.builtin.patterns import cues, wordset

# Words that carry nothing two statements could differ in.
VACUOUS = wordset(
    """a an the is are was were be been being am do does did have has had i we you he she it its our my your their
    us me them they this that these those there of so please very just really quite simply also too now
    currently presently today already still actually instead always""",
)
PREPOSITIONS = wordset(
    """in on at for from to by with of as via through into onto over under during after before since until within
    without across per inside outside behind about against between""",
)
LINKS = wordset("and or but because so since while when where which that if unless plus then as than")
ADVERBS = wordset("now today currently everywhere here instead too exclusively only again anymore yet still already")
ASIDES = wordset("after before when while despite during until once though although")
ARTICLES = wordset("the a an our my")
BE = wordset("is are be equals")
NEGATIONS = wordset("not no never without neither nor none cannot hardly rarely seldom")
VERBS = wordset(
    """use uses using used utilise run runs running ran deploy deploys deployed deploying host hosts hosted hosting
    build builds built building test tests tested testing lint lints format formats store stores stored storing
    write writes written ship ships keep keeps kept manage manages track tracks rely relies depend depends
    choose chose chosen pick picked adopt adopted prefer prefers serve serves served cache caches log logs
    monitor monitors send sends sent publish publishes bundle bundles install installs queue index search sit
    live lives stay commit commits is are was were am be been switched moved migrated have has had went go goes
    want wants pin pins pinned read reads expose exposes listen listens start starts decided should must call
    calls called name named handle handles authenticate authenticates back backs power powers speak speaks
    target targets held made set report reports""",
)
ROLE_VERBS = wordset(
    "runs hosts stores serves handles builds manages powers backs is caches tests lints formats sends tracks collects",
)
IRREGULAR_PAST = wordset(
    "was were went met ran took broke came saw fell wrote sent made found had got gave lost cost hit"
)

# What says that something is not (yet, or surely) so.
DOUBTS = cues(
    r"""^(?:should|could|would|can|may|shall|do|does|is|are|what|why|how|when|where|who|suppose|imagine) maybe
    perhaps might possibly probably consider(?:ing|ed|s)? thinking_(?:of|about) thought_about
    plan(?:s|ning|ned)? propos(?:e|es|ed|al|ing) suggest(?:s|ed|ing)? evaluat(?:e|es|ed|ing)
    explor(?:e|es|ed|ing) want(?:s|ed|ing)?_to would could hop(?:e|es|ing)_to wish(?:es)?
    tr(?:y|ies|ied|ying)_(?:to|out) someday eventually soon in_the_future going_to
    will_(?:be_)?(?:switch|mov|migrat|replac|drop|remov|upgrad|renam|chang)\w{0,4}
    next_(?:week|month|quarter|year|sprint) if whether unless needs?_to ha(?:s|ve|ving)_to once until
    (?:we|you|they)_(?:should|can|may) in_case discuss(?:ed|ing|es)? debat(?:ed|ing|es?) ask(?:ed|s|ing)?
    wonder(?:ed|s|ing)? told claims? rumou?rs? example e\.g almost nearly reject(?:ed|s)? declined against
    refus(?:e|ed|es) pretend fail(?:ed|s)?_to asap todo to_do: ready_to about_to ideas? options? alternatively
    recommend(?:s|ed)? scheduled hypothetical(?:ly)?""",
)
PAST = cues("used_to formerly previously originally initially historically back_then once")
ADDING = cues(
    """also as_well additionally in_addition alongside besides another additional too both plus second extra either
    along_with on_top_of sometimes occasionally one_of""",
)
# In what one text has beyond the other, these make it say something else.
RESTRICTING = wordset(
    """not never no only rarely sometimes often unless except if when until almost hardly might maybe may could should
    would want wants wanted plan plans planned try tries tried consider considered without before after longer stopped
    failed fails some most partly says said thinks claims""",
)
