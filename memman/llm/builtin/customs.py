"""Shapes in which a person tells how they, or their team, do things: in the notation of `orders`."""

from memman.llm.builtin.orders import filled
from memman.llm.builtin.vocabulary import shapes, worded

# Told to the agent itself; trouble is why, and no reason to doubt it.
_TOLD = r"""
{AT}{INSISTED}[,:]_(?:I_said_)?{ORDERED}
{IN}you_(?:keep|kept|always|constantly|still|again)_(?:on_)?(?:forget(?:ting)?_(?:to\b|about\b|the\b|that\b)|{DOING}\b)
{AT}next_time,?_(?:please_|pls_|you_|just_|also_|do_)*(?:{DO}|don'?t|make_sure|never|always|check)_
{AT}(?:when|whenever|every_time|each_time|before|after|once|if)_you_(?:\w+_)?(?:open|submit|raise|finish|start|write|add|create|name|generate|refactor|document|edit|touch|commit|push|merge|release|deploy|don'?t_know|aren'?t_sure|can'?t_find|get_stuck|are_stuck|introduce|bump|propose|suggest|quote|cite)\b[^,]{0,60},_(?:then_|please_|always_|just_|you_)*(?:{DO}|say_so|attach|don'?t|never|make_sure|stop)\b
{IN}before_(?:you_|\w+ing_)(?:tell_me|say|claim|declare|call_(?:it|anything|something))\b.{0,30}\b(?:done|finished|ready|fixed|complete|works?)
{IN}before_(?:you_(?:open|submit|raise|send|file)|opening|submitting|raising|filing)_(?:an?_|any_)?(?:prs?|mrs?|pull_requests?|merge_requests?|tickets?|issues?)\b
{AT}from_(?:today|tomorrow|here|this_point|next_\w+|(?:mon|tues|wednes|thurs|fri)day)(?:_on(?:wards?)?|_forwards?)\b
{IN}(?:going_ahead|until_further_notice|across_the_board|on_principle|once_and_for_all|without_being_asked)\b
{IN}(?:all|any|every|for)_future_(?:tasks?|work|changes?|commits?|prs?|sessions?|code|requests?|answers?)\b
{IN}(?:that|same)_goes_for_(?:all|every|any|the)\b
\b(?:that'?s|that_is|this_is|it'?s)_(?:just_)?(?:not_)?how_(?:we|things|everyone)\b
{IN}I(?:'m|_am)_(?:new_to|a_beginner|not_(?:very_|too_|that_)?(?:familiar_with|fluent|good_(?:at|with))|colou?r-?_?blind|dyslexic|no_expert|an_expert|a_native|not_a_native)
{IN}(?:annoys|bugs|irritates|bothers|drives|confuses|hate_it|like_it|love_it|appreciate_it)_.{0,12}?(?:when|if|that)_you_\w
{AT}(?:please_|always_|just_)*(?:push_back|challenge_me|correct_me|tell_me|warn_me|stop_me|call_me_out|remind_me|let_me_know)_(?:if|when|whenever|every_time)_I(?:'m|_am|_\w+)\b
{AT}(?:please_|just_|always_)*ask_(?:me_)?(?:if|when|whenever)_(?:you|unsure|in_doubt|something|anything)\b
{AT}(?:be|stay)_(?:more_|less_|very_|a_bit_more_)?(?:critical|honest|direct|blunt|formal|informal|polite|explicit|precise|conservative|proactive|strict|verbose|chatty|friendly)\b
{IN}I(?:'d|_would)_like_you_to_be_\w
"""
# How things are done, which is not said of what goes wrong.
_DONE = r"""
{IN}we_(?:{OFTEN}_)?{DONE}\b.{0,80}?\b{HERE}
{PLACED},?_(?:{WE}|you|nobody|no_one|people|everything|all)_(?!(?:get|see|have_to_fix|need_to_fix|got)\b)\w
{AT}(?:(?:around|over|round)_)?here_(?:we_(?:always|never|only|don'?t|do_not|all|prefer)|nobody|everyone|everything)_\w
{IN}in_general,?_(?:we|I|please|don'?t|do_not|no)_(?!want|need|can)\w
{AT}{WE}_(?:don'?t|do_not|dont|never|no_longer)_{DONE}_{OBJ}(?!(?:the|a|an)\b)\w
{AT}{WE}_(?:always|only|usually|generally|normally|typically|mostly|tend_to|strictly)_{DONE}\b
^(?:\w+,_)?{WE}_(?:all_)?(?:rebase|squash|squash-merge|squash_merge|fast-forward|pair|trunk)\b
{AT}(?:our|my|house|team|the_(?:team|house|golden|standing|general|only|project|company))_(?:\w+_)?{RULE}s?_(?:here_|now_|for_.{1,30}?)?(?:is|are|says?)\b
{AT}the_{RULE}_(?:here_|now_|for_us_)?is_(?!(?:to_make|that_it|not_clear|unclear)\b)\w
{IN}{RULE}s?_of_(?:ours|mine|the_house|the_team)\b
^(?:\w+_){0,3}{RULE}s?(?:_of_\w+|_here|_for_\w+)?:_\w
{IN}(?:is|are)_{OUT}\b
{IN}hands_off\b
{AT}(?:leave|keep)_(?:your_hands_off|away_from|out_of)_{OBJ}\w
{AT}(?:don'?t|do_not|dont|never)_(?:touch|edit|modify|change)_(?:anything|stuff|files|code|things)_(?:in|under|inside|below|from)\b
{AT}(?:please|pls|plz)_no_{STUFF}\w
{AT}no_{STUFF}(?:\w+_){1,3}?(?:anywhere|allowed|please|pls|at_all|left_behind|ever|{HERE})\b
{AT}no_(?:new|direct|raw|plain|inline|hard-?coded|unpinned|untyped|third[-_]party|external|global)_\w
{IN}I_(?:always_)?(?:want|expect|need|like)_(?:you_)?to_(?:be_asked|be_told|be_informed|see|know|ask|approve|review)\b.{0,60}\b(?:before|first|every)\b
^(?:not_(?:a_)?(?:big_|huge_)?(?:fan_of|keen_on|into)|(?:hate|love|loathe|dislike|can'?t_stand)_(?!it\b|this\b|that\b|how\b|to\b))
{AT}you(?:'re|_are)_not_(?:to|allowed_to|supposed_to)_{DO}\b
{AT}(?:(?:all|our|every|each|any|new|the)_)*{KIND}_(?:(?:always|never|only|all)_)?{KEPT}
{IN}(?:the_)?(?:whole|entire|rest_of_the)_(?:\w+_)?{PLACE}_(?:is|uses|follows|sticks|has|runs)\b
{AT}(?:this|our)_{PLACE}_(?:uses|follows|targets|sticks_to|requires|supports|only|has_no|doesn'?t_(?:use|have|support|do)|is_(?:all|strictly|pure|still_on|on|\w+[-_]only))\b
{IN}(?:everything|anything|all_files|all|files|stuff|code)_(?:in|under|inside|below)_(?!here\b|there\b|this\b|the\b)[\w./`*-]+_(?:is|are|must|should|gets?|stays?)\b
{AT}(?:keep|make)_(?:the_|your_|all_|our_)?(?:{KIND}|functions|methods|files|diffs?|classes)_(?:small|short|atomic|focused|flat|tiny|brief|concise|simple|readable|minimal|self-contained|independent|pure)\b
{IN}{DO}_(?:[\w`'/.\-]+_){1,8}?(?:in|for|with|to|on|at|before|after|of)_(?:every|each|any)_(?:single_|new_)?{RITE}\b
{VERBLESS}(?:[\w'/+-]+_){0,4}?{MANNER}\b(?:_(?:in|with|without|throughout|across|for|as|on|written)_[^,.;!?]{1,40}?)?,?_(?:please|pls|plz|only|always|everywhere|throughout|thanks)(?=[.,;:!]|$)
{VERBLESS}(?!internal|for_|in_|on_)(?:[\w'/+-]+_){1,3}?(?:only|everywhere|throughout)(?:_please|_pls)?(?=[.,;!]|$)
^(?:all|any|every)_(?:\w+_)?{KIND}_(?:in|as|with|without|through|via|on)_(?:[\w'/+-]+[_,.!]*){1,5}$
{AT}(?!the\b|this\b|these\b|those\b|they\b|you\b|we\b)\w+(?:_\w+)?_are_(?:nicer|preferred|preferable|(?:better|easier)_for_me)_(?:than|to)_\w
{IN}(?:nothing|nobody|no_one|everything|everyone|anything)_(?:new_)?(?:goes|touches|uses|pushes|merges|commits|deploys|clicks|logs_in|writes|lives|belongs)_\w
{IN}(?:everything|all_of_it|anything)_(?:new_)?(?:should|must|has_to|is_to|needs_to|gets)_(?:be_\w+_|go_|run_|live_|\w+ed_)(?:by|via|through|with|in|on|under|from)\b
\bfor_(?:anything|everything|all_things|whatever(?:'s|_is))_new\b
{VERBLESS}?(?:just_|only_|max_)?(?:one|a_single|at_most_\w+|no_more_than_\w+)_.{1,30}?_(?:at_a_time|per_(?:file|class|test|{RITE}))\b
{IN}(?:please_)?{DO}_.{3,60}?_(?:when|whenever)_you_(?:fix|add|change|write|create|commit|touch|introduce|edit|refactor|rename|delete|remove|open|use|propose|suggest|bump|upgrade)_(?!the\b|this\b|that\b|it\b)\w
{AT}(?:less|fewer|shorter|smaller|more_concise)_(?:\w+_)?(?:answers?|replies|explanations?|summaries|commits|prs|prose|chatter|boilerplate|emojis?|comments|functions|text|talk|words|messages|files|abstractions?|fluff|jargon|verbose|chatty|formal)
{IN}(?:no_need_to|you_(?:don'?t|do_not)_(?:need|have)_to|you_needn'?t|stop_trying_to|don'?t_bother_to)_(?:always_)?(?:explain|apologi[sz]e|summari[sz]e|repeat|ask_for_permission|comment|thank|recap|restate|flatter|praise|narrate)
{IN}(?:don'?t|do_not|dont|never)_{DO}_{OBJ}(?!the\b).{1,60}?_again\b
{AT}(?:you_)?(?:run|start|launch|build|lint|format|deploy|install|generate|regenerate)_(?:the_|all_|your_|our_)?(?:\w+_){0,2}?(?:with|via|using|through)_(?:`|make_|npm_|pnpm_|yarn_|just_|task_|uv_|poetry_|cargo_|bazel_|docker_|nox\b|tox\b|tilt\b|hatch_|bundle_|mix_|rake_|gradle|\./)
^(?:in_order_)?to_(?:run|build|start|test|deploy|lint|regenerate|generate|log_in|connect|release)_[^,]{1,40},?_(?:you_(?:need|have)_to_\w|you_must_\w|use_|run_|do_|call_)
{IN}(?:when|if)_I_(?:say|write|ask_for)_.{1,40}_I_mean\b
{IN}by_.{1,30}_I_mean\b
{IN}(?:is_what_we_call|is_our_(?:name|word|term|code_?name)_for)_\w
{AT}(?:stick|stay)_(?:to|with)_(?!(?:the|this|that|it|your|my|what|a|option|plan)\b)\w
{IN}(?:non-negotiable|not_negotiable|pet_peeve|deal-?_?breaker|cardinal_sin)\b
{IN}{WE}(?:'re|_are)_an?_(?:\w+_){1,3}(?:shop|house|team|company|codebase|repo|project|monorepo|org|startup)\b
{IN}I_(?:usually|normally|generally|typically|tend_to|always|never|only)_(?:read|review|work|use|write|commit|run|test|prefer|keep|start|squash|rebase|name|put|deploy|code|check)\b
{IN}make_sure_(?:that_)?(?:you|to)_(?:\w+_){1,8}?(?:before|after)_(?:you_)?(?:commit|push|merg|open|releas|deploy|submit)
^(?:please_)?(?:you_can_)?assume_I_(?:know|am|have|don'?t|do_not|can)\b
{IN}{NAME}_(?:is|are)_(?:auto-?)?(?:generated|vendored|synced|managed)\b.{0,40}?,_(?:so_)?(?:please_)?(?:don'?t|do_not|never|edit|change|leave|hands)
{AT}{WE}(?:'ve|_have)_always_\w
{AT}{WE}_(?:always_)?(?:use|write|prefer|like|do|want)_(?:\w+_)?{STYLE}\b
{AT}(?:it'?s|its)_{STYLE}(?=_here\b|_in_|_not_|_please|[.,;!]|$)
{AT}indent_with_\w
{AT}(?!the\b|this\b|that\b|it\b)\S+(?:_\w+)?_is_wrong,_(?:it'?s|its|use|should_be)_\w
{AT}(?!(?:it|this|that|they|there|he|she|which)\b)(?:[\w-]+_){1,5}?(?:is|are|goes?|lives?|stays?|belongs?)_[^,]{1,50},_never_(?:(?:in|on|as|with|to|via|by)_\w|\w+s(?=[.!,]|$))
{AT}(?!(?:the|this|that|these|those)\b)(?:\w+_){1,3}?are_(?:(?:stored|kept|written|sent|always|all|named|given)_)*(?:in_|as_)?{UNIT}\b
{AT}(?!(?:the|this|that|these|those)\b)(?:\w+_){1,2}?is_(?:always_)?(?:stored|kept|written|sent|given)_(?:in|as)_{UNIT}\b
{IN}you_(?:must_not|mustn'?t|may_not|shall_not|should_never|can_never)_(?:ever_)?(?!have\b){DO}_
{IN}(?:drop|skip|omit|lose|leave_out|cut)_.{1,40}?_(?:each|every|all|your)_(?:\w+_)?(?:answer|repl|response|message|summar|explanation|commit)
{IN}I_(?:want|need|expect)_.{2,40}?_(?:for|in|on|with|before|after)_(?:every|each|any|all)_(?:new_)?(?:\w+_)?(?:{RITE}|bugs?|thing)s?\b
{AT}(?:every|each|any)_(?:new_|single_)?(?:\w+_)?(?:{RITE}|dependency|function|endpoint|component|service|table|module|class|test|bug)_(?:comes|needs|requires|(?:starts|ends)_with|deserves|goes_(?:in|through|into))_
{IN}our_\w+_(?:has_to|have_to|must|needs?_to)_(?:work|run|support|stay|comply|be)\b
{IN}(?:don'?t|do_not|dont|never)_{DO}_.{1,40}?_in_(?:your_|the_|our_)?(?:{OURS}|{ANSWERS})\b
:_(?:leave|drop|keep)_(?:them|it|those)_(?:out|off|away)\b
{VERBLESS}(?!iterate|loop|go_|hover|look|start|come|read|move|carry|take|hand|switch|port|roll|think|talk|walk|step|scroll|drag|map|page|pass|control|maps)[\w-]+(?:_\w+)?_over_(?!an?\b|the\b)[\w-]+(?:_\w+)?(?:_please|_pls|_every_time|_any_day)?[.!]*$
^(?:please_)?avoid_(?!the\b|this\b|that\b|it\b|an?\b)\w+(?:_\w+)?(?:[.!]*$|_(?:where|when|if|whenever|wherever)_possible|_like_the_plague)
{PLACED},?_(?!the\b)(?:[\w-]+_){1,4}?(?:is|are|needs?|goes|go|must|should|has|have|gets?|requires?)_(?!{STATE}\b)\w
"""

CUSTOMS = (
    *shapes("preference", _TOLD, strong=True),
    *shapes("preference", _DONE, wary=True),
)
# An order that had to be given before, and what an order looks like.
INSISTED = filled(worded(r"\b{INSISTED}\b"))
ORDERED = filled(worded(r"^(?:and_|so_|but_)*{ORDERED}"))
