"""Whatever a user calls a corpus, as an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.corpus.index import DocumentIndex
from omnitm.corpus.vocabulary import VocabularyRules
from omnitm.errors import CorpusError
from omnitm.files.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def as_index(corpus: Any, vocabulary: Sequence[str] | None = None) -> DocumentIndex:
    """Index of a corpus in any of the forms that training takes.

    Parameters
    ----------
    corpus
        A `DocumentIndex`, the path of one, a SciPy sparse matrix documents x words, or something that can be
        gone over several times and gives texts or token lists (a list, say), prepared as in the paper.
    vocabulary
        Words of the columns of a matrix; for texts and token lists, optionally, the words to look for.

    Examples
    --------
    >>> as_index(["A cat sat.", "The cat and the dog"]).vocabulary
    ['cat', 'dog', 'sat']
    """
    if isinstance(corpus, DocumentIndex):
        return _with_same_vocabulary(corpus, vocabulary)
    if isinstance(corpus, Path) or (isinstance(corpus, str) and kind_of(corpus) == "index"):
        return _with_same_vocabulary(DocumentIndex.open(corpus), vocabulary)
    if isinstance(corpus, str):
        raise CorpusError(
            f"A corpus cannot be a single str, and there is no index called {corpus[:60]!r}; "
            "give a list of texts, or make an index: omnitm index TEXT -o INDEX."
        )
    if hasattr(corpus, "tocsr") and hasattr(corpus, "shape"):
        if vocabulary is None:
            raise CorpusError("A matrix needs the words of its columns; give them as `vocabulary`.")
        return DocumentIndex.from_csr(corpus, vocabulary)
    rules = VocabularyRules() if vocabulary is None else VocabularyRules(fixed=vocabulary)
    return DocumentIndex.from_documents(corpus, vocabulary=rules)


def _with_same_vocabulary(index: DocumentIndex, vocabulary: Sequence[str] | None) -> DocumentIndex:
    if vocabulary is not None and list(vocabulary) != list(index.vocabulary):
        raise CorpusError(
            "The index has a vocabulary of its own, which differs from the one given; leave `vocabulary` "
            "out, or index the text again with it (omnitm index --vocabulary FILE)."
        )
    return index
