"""Anything that can be a corpus, as an index."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omnitm.corpus.build import build_index
from omnitm.corpus.documents import is_number_type
from omnitm.corpus.index import DocumentIndex
from omnitm.corpus.preparation import Preparation
from omnitm.corpus.vocabulary import VocabularyRules
from omnitm.errors import CorpusError, FileError
from omnitm.files.kinds import kind_of, refuse_other_kinds, there_is


def as_index(
    corpus: Any,
    vocabulary: Sequence[str] | None = None,
    *,
    folder: Path | None = None,
    preparation: Preparation | None = None,
) -> DocumentIndex:
    """Index of a corpus in any of the forms that training takes.

    Parameters
    ----------
    corpus
        A `DocumentIndex` or the path of one; the path of text, as `omnitm train` takes it; a matrix documents
        x words, SciPy's or NumPy's; or something that can be gone over several times and gives texts or
        token lists (a list or a column of a data frame, say).
    vocabulary
        Words of the columns of a matrix; for texts and token lists, optionally, the words to look for.
    folder
        Where the index of text files is written, in place of an older one; None: it is kept in memory.
    preparation
        How text becomes words; None: `Preparation()`.

    Examples
    --------
    >>> as_index(["A cat sat.", "The cat and the dog"]).vocabulary
    ['cat', 'dog', 'sat']
    """
    if isinstance(corpus, DocumentIndex):
        return _with_same_vocabulary(corpus, vocabulary)
    if isinstance(corpus, (str, Path)):
        return _index_of_path(corpus, vocabulary, folder, preparation)
    if _is_matrix(corpus):
        if vocabulary is None:
            raise CorpusError(
                "A matrix needs the words of its columns; give them as `vocabulary`: "
                "fit(matrix, vocabulary=words)."
            )
        return DocumentIndex.from_csr(corpus, vocabulary)
    if hasattr(corpus, "to_pylist") and not hasattr(corpus, "column_names"):  # a column of an Arrow table
        corpus = corpus.to_pylist()
    rules = VocabularyRules(fixed=vocabulary)
    return DocumentIndex.from_documents(corpus, preparation=preparation, vocabulary=rules)


def _index_of_path(
    corpus: str | Path, vocabulary: Sequence[str] | None, folder: Path | None, preparation: Preparation | None
) -> DocumentIndex:
    kind = kind_of(corpus)
    if kind == "index":
        return _with_same_vocabulary(DocumentIndex.open(corpus), vocabulary)
    refuse_other_kinds(corpus, "text", "index")
    is_pattern = glob.has_magic(str(corpus)) and not any(letter.isspace() for letter in str(corpus))
    if kind == "nothing" and not is_pattern:
        if isinstance(corpus, Path):
            found = there_is(corpus, "make an index with: omnitm index TEXT -o INDEX")
            raise FileError(corpus, f"no such file or index; {found}")
        raise CorpusError(
            f"A corpus cannot be a single str, and there is no file or index called {corpus[:60]!r}; "
            "give a list of texts, or make an index: omnitm index TEXT -o INDEX."
        )
    how: dict[str, Any] = {"preparation": preparation, "vocabulary": VocabularyRules(fixed=vocabulary)}
    if folder is None:
        return DocumentIndex.from_files(corpus, **how)
    return DocumentIndex.open(build_index(corpus, folder, overwrite=folder.exists(), **how))


def _is_matrix(corpus: Any) -> bool:
    if hasattr(corpus, "tocsr") and hasattr(corpus, "shape"):
        return True
    return getattr(corpus, "ndim", 0) == 2 and is_number_type(getattr(corpus, "dtype", None))


def _with_same_vocabulary(index: DocumentIndex, vocabulary: Sequence[str] | None) -> DocumentIndex:
    if vocabulary is not None and list(vocabulary) != list(index.vocabulary):
        raise CorpusError(
            "The index has a vocabulary of its own, which differs from the one given; leave `vocabulary` "
            "out, or index the text again with it (omnitm index TEXT -o INDEX --vocabulary FILE)."
        )
    return index
