"""English function words that carry no topic."""

# Written down from grammar, group by group, to cover the function words of NLTK's English list, which the
# paper uses; a few auxiliaries (could, would, may, might, must, ...) are added.
ARTICLES_AND_DETERMINERS = (
    "a an the this that these those each any all both few more most other some such own same no"
)
PRONOUNS = """
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
    himself she her hers herself it its itself they them their theirs themselves who whom whose
    which what
"""
AUXILIARIES = """
    am is are was were be been being have has had having do does did doing done can could will would
    shall should may might must ought
"""
CONTRACTIONS = """
    ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
    needn't shan't shouldn't wasn't weren't won't wouldn't i'm i've i'll i'd you're you've you'll
    you'd he's he'll he'd she's she'll she'd it's it'll it'd we're we've we'll we'd they're they've
    they'll they'd that's that'll should've s t d m o y ll re ve ma ain aren couldn didn doesn don
    hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn
"""
PREPOSITIONS = """
    of at by for with about against between into through during before after above below to from up
    down in out on off over under
"""
CONJUNCTIONS_AND_ADVERBS = """
    and but if or because as until while than nor again further then once here there when where why
    how not only so too very just now
"""

ENGLISH: tuple[str, ...] = tuple(
    sorted(
        {
            word
            for group in (
                ARTICLES_AND_DETERMINERS,
                PRONOUNS,
                AUXILIARIES,
                CONTRACTIONS,
                PREPOSITIONS,
                CONJUNCTIONS_AND_ADVERBS,
            )
            for word in group.split()
        }
    )
)
