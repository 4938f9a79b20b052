"""English function words that carry no topic."""

# Written down from grammar, group by group, to cover the function words of NLTK's English list, which the
# paper uses. Contractions lose their apostrophe with the punctuation (don't is dont), so those that spell
# another word (we'll, she'd, I'll, he'd, ...) are left out.
ARTICLES_AND_DETERMINERS = (
    "a an the this that these those each any all both few more most other some such own same no"
)
PRONOUNS = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she
    her hers herself it its itself they them their theirs themselves who whom which what
"""
AUXILIARIES = """
    am is are was were be been being have has had having do does did doing can will should
"""
CONTRACTIONS = """
    ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
    needn't shan't shouldn't wasn't weren't won't wouldn't i'm i've you're you've you'll you'd he's
    she's it's it'll we're we've they're they've they'll they'd that's that'll should've s t d m o y
    ll re ve ma ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn
    wasn weren won wouldn
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
