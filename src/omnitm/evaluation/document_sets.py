"""The published collections of labelled documents by name: what ours are, and how the paper's differ."""

from __future__ import annotations

from dataclasses import dataclass

from omnitm.errors import ParameterError


@dataclass(frozen=True)
class DocumentSet:
    """A published collection of labelled documents.

    Attributes
    ----------
    name, aliases
        What tables call it, and other spellings; case, spaces, `-` and `_` never matter.
    file
        File name, without the ending of an archive.
    label
        The field that holds the label; "first topic" is a rule of its own, see `labelled`.
    what
        What the labels are, and which documents count.
    citation, licence, home
        Whose work it is, under which terms, and where to get it.
    paper
        Labels and documents of the paper's set of that name.
    difference
        How this set differs from the paper's.
    """

    name: str
    aliases: tuple[str, ...]
    file: str
    label: str
    what: str
    citation: str
    licence: str
    home: str
    paper: tuple[int, int] | None
    difference: str


FIRST_TOPIC = "first topic"

DOCUMENT_SETS: tuple[DocumentSet, ...] = (
    DocumentSet(
        name="20 Newsgroups",
        aliases=("20news", "20newsgroups", "news20", "newsgroups"),
        file="20news.jsonl",
        label="label",
        what="messages by newsgroup, split by date, headers kept",
        citation="Lang (1995), NewsWeeder: learning to filter netnews",
        licence="none stated",
        home="http://qwone.com/~jason/20Newsgroups/",
        paper=(20, 18_846),
        difference="the paper's numbers are those of this version",
    ),
    DocumentSet(
        name="Reuters",
        aliases=("reuters", "reuters21578"),
        file="reuters21578.jsonl",
        label=FIRST_TOPIC,
        what="ModApte's training and test documents, by the first (in the alphabet) of their topics that "
        "occur in both parts",
        citation="Lewis (1997), Reuters-21578 text categorization test collection",
        licence="research use only",
        home="http://www.daviddlewis.com/resources/testcollections/reuters21578/",
        paper=(79, 10_788),
        difference="the paper does not say how a document with several topics is labelled; this rule gives "
        "its 79 labels, and one document more than it has",
    ),
    DocumentSet(
        name="Yelp",
        aliases=("yelp",),
        file="yelp.jsonl",
        label="label",
        what="reviews by business",
        citation="Yelp (2013), Kaggle's sample yelp.csv",
        licence="Yelp's terms of use",
        home="https://www.kaggle.com/c/yelp-recsys-2013",
        paper=(11_537, 229_907),
        difference="the paper's set has 23 times as many reviews and 2.8 times as many businesses; more than "
        "half of ours have a single review, which lifts every model's NMI",
    ),
    DocumentSet(
        name="Amazon",
        aliases=("amazon",),
        file="amazon.jsonl",
        label="label",
        what="reviews by product name; those without one are left out",
        citation="Datafiniti, consumer reviews of Amazon products",
        licence="CC BY-NC-SA 4.0",
        home="https://www.kaggle.com/datasets/datafiniti/consumer-reviews-of-amazon-products",
        paper=(30, 21_000),
        difference="another collection: the paper's has 30 categories of products, ours is nearly all "
        "tablets and speakers by Amazon itself, so that its figures cannot be compared",
    ),
    DocumentSet(
        name="AG News",
        aliases=("agnews", "ag"),
        file="agnews.jsonl",
        label="label",
        what="title and lead by section (world, sports, business, science)",
        citation="Zhang, Zhao & LeCun (2015), Character-level convolutional networks for text classification",
        licence="research use only",
        home="http://groups.di.unipi.it/~gulli/AG_corpus_of_news_articles.html",
        paper=(5, 120_001),
        difference="the official test set and 8,791 training rows; the paper's 120,001 rows and fifth label "
        "count the header of the training file",
    ),
    DocumentSet(
        name="IMDb",
        aliases=("imdb", "aclimdb"),
        file="imdb.jsonl",
        label="label",
        what="film reviews, positive or negative, with the official split",
        citation="Maas et al. (2011), Learning word vectors for sentiment analysis",
        licence="none stated",
        home="https://ai.stanford.edu/~amaas/data/sentiment/",
        paper=None,
        difference="the paper takes Keras' copy, already cut into the 20,000 most frequent tokens",
    ),
)  # fmt: skip

#: The five sets of the paper's Table 3, in its order.
CLUSTERING_SETS = ("20 Newsgroups", "Reuters", "Yelp", "Amazon", "AG News")


def document_set(name: str) -> DocumentSet:
    """Find a set by its name or an alias.

    >>> document_set("20news").name
    '20 Newsgroups'
    """
    found = known_document_set(name)
    if found is None:
        names = ", ".join(repr(known.name) for known in DOCUMENT_SETS)
        raise ParameterError(f"{name!r} is neither a known set of documents nor a file; known are {names}.")
    return found


def known_document_set(name: str) -> DocumentSet | None:
    """Find a set by its name or an alias; None if there is no such set."""
    wanted = "".join(letter for letter in name.lower() if letter.isalnum())
    return next((known for known in DOCUMENT_SETS if wanted in known.aliases), None)
