"""What a command accepts as a corpus: for now a text file with a document per line."""

from __future__ import annotations

import string
from collections import Counter
from pathlib import Path

import numpy as np

from omnitm.corpus import DocumentIndex
from omnitm.errors import CorpusError, FileError

_MOST_WORDS = 40_000


def open_corpus(source: str | Path, n_words: int = _MOST_WORDS) -> DocumentIndex:
    """Open an index, or make one of a text file."""
    path = Path(source)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from None
    return index_of_texts(lines, n_words)


def index_of_texts(texts: list[str], n_words: int) -> DocumentIndex:
    """Prepare texts as the paper does and keep the most frequent words."""
    import scipy.sparse as sp
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    removed = str.maketrans("", "", string.punctuation + string.digits)
    documents = [
        [w for w in text.lower().translate(removed).split() if w not in ENGLISH_STOP_WORDS] for text in texts
    ]
    counts = Counter(word for document in documents for word in document)
    if not counts:
        raise CorpusError("No word is left in the corpus.")
    vocabulary = sorted(counts, key=lambda word: (-counts[word], word))[:n_words]
    positions = {word: k for k, word in enumerate(vocabulary)}
    rows = [sorted({positions[w] for w in document if w in positions}) for document in documents]
    offsets = np.cumsum([0, *map(len, rows)])
    columns = np.array([k for row in rows for k in row], dtype=np.int64)
    matrix = sp.csr_matrix(
        (np.ones(len(columns), dtype=np.int8), columns, offsets), (len(rows), len(vocabulary))
    )
    return DocumentIndex.from_csr(matrix, vocabulary)
