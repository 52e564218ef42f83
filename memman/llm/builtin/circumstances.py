"""Shapes in which a person tells what was settled, and where things stand: in the notation of `orders`."""

from memman.llm.builtin.vocabulary import shapes

_SETTLED = r"""
{AT}(?:going|sticking|staying|rolling|running)_(?:with|on)_(?!(?:it|that|this|the|your|option|a|an|my|variant|plan|version)\b)\w
{IN}(?:settled|settle|standardi[sz]ed?|decided|agreed)_on_(?!(?:it|that|this|the_(?:first|second|third)|option)\b)\w
^(?:scratch|forget)_that,?_(?:we|from|everything|it's)\b
{IN}(?:team|group|we|everyone|finance|management|legal|security|ops)_(?:has_|have_|all_)?(?:agreed|decided|voted|signed_off)\b
{IN}(?:agreed|decided)_(?:with|by|at|in)_(?:the_)?(?:team|finance|legal|ops|standup|retro|management|everyone|yesterday)
{AT}the_(?:\w+_)?(?:decision|consensus|agreement|verdict)_(?:[\w']+_){0,5}?(?:is|was)(?:_that|_to|:)_\w
{IN}{WE}(?:'re|_are)_(?:done|finished|through)_with_(?!(?:it|this|that|the|them)\b)\w
{IN}so_it(?:'s|_is)_(?:going_to_be_)?{NAME}_(?:for|from|now)\b
"""
_CHANGED = r"""
{AT}{OBJ}{NAME}(?:_\w+)?_(?:is|are)(?:_now|_officially|_already|_basically|_pretty_much|_considered)*_{GONE}\b(?=.{1,80}\b(?:use|we|our|here|everything|moved?|instead|replaced|switch))
{AT}{OBJ}{NAME}(?:_\w+)?_(?:is|are)(?:_now|_officially|_already)*_(?:deprecated|obsolete|off_the_table|eol|retired|discontinued|being_phased_out|decommissioned)\b
{IN}{WE}(?:'ve|_have|_had)?(?:_all|_just|_finally|_recently|_already|_officially)*_{QUIT}_(?!(?:it|this|that|them|the_(?:call|line|ball))\b)\w
{IN}(?:we|they|ops|devops|the_\w+_team|management|finance|legal|security)_(?:{QUIT}|moved|migrated|switched|renamed|replaced)_.{0,60}\b{DATED}
{AT}(?!(?:it|this|they|them|these|I|we)\b)\w+(?:_\w+){0,3}_(?:has_|was_|were_|got_|have_)?(?:been_)?(?:moved|migrated|renamed|switched|converted)_(?:over_)?to_.{0,60}?\b{DATED}
{IN}(?:is|are|it's|it_is|its)_all_{NAME}_(?:now|these_days|nowadays|by_now)\b
{IN}{WE}(?:'ve|_have|_had)?(?:_\w+ly|_all|_just|_now)*_(?:moved|migrated|switched|converted|ported|gone|went)_(?:everything_|all_.{1,30}?_|(?:the|our)_(?:whole_|entire_|full_)?(?:\w+_)?{PLACE}_|over_)*to_(?!(?:the|this|that|a|an|it|work|do|see)\b)\w
{IN}{WE}(?:_will|'ll)?_(?:go|stick|stay)_with_(?!(?:it|this|that|the|your|option|plan|an?)\b)\w
{IN}\w+_(?:has_been|have_been|was|were|got|is|are)_(?:replaced|superseded|merged|folded|absorbed)_(?:by|with|into)_.{0,60}?{DATED}
{IN}(?:no_longer_exists?|doesn'?t_exist_any_?more|(?:is|are)_no_longer_(?:supported|maintained|a_thing)|(?:is_not|isn'?t|are_not|aren'?t)_a_thing)\b
{AT}(?:all_new|new|our|all)_{KIND}_(?:is|are)_{CAP}
"""
_GIVEN = r"""
{AT}(?:(?:fyi|so|because|since|cause)[,:]?_)?(?:(?:our|the|all)_)?{SITE}_(?:always_|still_|all_)?{SETUP}(?!\w)
{IN}everything_(?:we_(?:have|own|run)|of_ours)_(?:is|runs|lives|sits|goes)_(?:on|in|at|under|behind)\b
{IN}(?:it'?s|its|it_is|they'?re|that'?s|that_is)_(?:called|named|spelled|spelt|pronounced)_(?!(?:once|twice|from|by|in|on|with|when|for|at|every|only)\b)[\w`'"]+(?:_\w+)?,?_not_
{IN}(?:team_\w+|the_\w+_team|\w+)_(?:owns|maintains|is_(?:in_charge_of|responsible_for))_.{1,60}?(?:,_not_(?:me|us|you)|\b(?:ask|ping|go_to|talk_to)\b)
{AT}(?:(?:our|the|your|its)_)?(?:\w+_){0,4}?{SETTING}_(?:is|should_be|must_be)_\S+,?_(?:and_)?(?:you|yours?)(?:'ve|_have)?_(?:used|put|wrote|took|set|typed|had|called)\b
{AT}(?:(?:our|the|your|its)_)?(?:\w+_){0,3}?{SETTING}_is_\S+,?_(?:and_)?not_\S
{IN}(?:is|are|'s|'re)_not_{NAME}_.{0,30}?\bwe\b.{0,30}?\b(?:it'?s|it_is|but|we_use)_{NAME}
{IN}{WE}(?:'re_not|_are_not|_aren'?t)_(?:using|on|running|deploying|doing|targeting|hosted|with)_(?!(?:it|this|that|the|any|sure)\b)\w
{AT}{WE}(?:'re|_are)(?:_still|_all|_already)?_(?:on|under|bound_by|stuck_on|stuck_with|using|running|hosted_\w+)_(?!(?:an?|the|it|this|that|track|time|schedule|hold|call|late|out|into|low|short|behind|pressure|same|fire|vacation|holiday|board|my|your|about|good|for)\b)\w
{IN}(?:it'?s|its|they'?re|it_is)_all_(?!(?:good|fine|green|red|broken|yours?|set|done|there|right|over|ok|about|the|in|of|gone|wrong|working|clear|or|you|a|he|fun|very|too|so|just)\b){NAME}(?:_(?:here|now)\b|(?=[.,;!]|$))
{IN}there(?:'s|_is|_are|_is_currently)_no_(?!(?:need|way|reason|such|point|difference|error|longer|rush|hurry|doubt)\b){NAME}_(?:(?:on|in|at)_(?:these|our|the_\w+)_(?:machines?|servers?|boxes|cluster|runners?|{PLACE}|images?|network|laptops?)|{HERE})
{AT}(?:the|our)_(?:\w+_){0,2}(?:lead|owner|reviewer|contact|maintainer|manager|approver|product_owner|designer)_(?:for_.{1,30}?_|of_.{1,30}?_|on_.{1,30}?_|in_.{1,30}?_)?is_(?:now_)?{CAP}
{IN}I(?:'m|_am)_(?:based_)?in_(?-i:[A-Z])\w+
{AT}our_(?:\w+_){0,2}?(?:{SETTING}|{TOOL})s?_(?:is|are)_(?!{STATE}\b)\S
{IN}we_(?:call|named?|spell|abbreviate)_(?:them|it|this|that|these|those|our)_\w
{IN}(?:it'?s|its|say|write|spell_it|call_(?:it|them))_["'`][\w .-]{1,30}["'`],?_(?:and_)?not_
{AT}(?:please_)?(?:say|write|spell_it|call_(?:it|them))_[\w-]+,?_(?:and_)?(?:not|never|instead_of)_\w
\b(?:is|are)_(?:\w+_){0,4}?source_of_truth\b
"""

CIRCUMSTANCES = (
    *shapes("decision", _SETTLED),
    *shapes("decision", _CHANGED, wary=True),
    *shapes("fact", _GIVEN, wary=True),
)
