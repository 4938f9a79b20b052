"""Make the corpora that the benchmarks train on: words by Zipf's law, documents with topics.

Everything follows from the numbers given, and files are kept in `OMNITM_BENCH_DIR` (or
`~/.cache/omnitm-bench`), so that we and our peers read the same bytes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex


@dataclass(frozen=True)
class CorpusPlan:
    """What a corpus looks like.

    Half of a document's words come from all words, half from the words of its topic (word k belongs to topic
    k modulo `n_topics`); within each, rank r is drawn in proportion to 1 / (r + 3), which is how natural text
    looks without its stop words. `n_tokens` are drawn per document on average, and duplicates dropped.
    """

    name: str
    n_words: int
    n_documents: int
    n_tokens: int
    n_topics: int = 50

    @property
    def path(self) -> Path:
        """Where the corpus is kept; the name holds all numbers, so a changed plan makes a new file."""
        numbers = f"{self.n_words}-{self.n_documents}-{self.n_tokens}-{self.n_topics}"
        return cache_folder() / f"{self.name}-{numbers}.npz"


def sentences(n_words: int = 40_000) -> CorpusPlan:
    """Plan short documents as in One Billion Word: about 13 distinct words each."""
    return CorpusPlan("sentences", n_words, 300_000, 14)


def reviews() -> CorpusPlan:
    """Plan long documents as in IMDb: about 100 distinct words each."""
    return CorpusPlan("reviews", 20_000, 25_000, 128)


def small() -> CorpusPlan:
    """Plan a corpus on which twenty seeds of a slow peer are affordable; no multiple of 32, on purpose."""
    return CorpusPlan("small", 301, 3_000, 12, n_topics=10)


def cache_folder() -> Path:
    """Where generated corpora are kept."""
    default = Path.home() / ".cache" / "omnitm-bench"
    return Path(os.environ.get("OMNITM_BENCH_DIR", default))


def corpus_file(plan: CorpusPlan) -> Path:
    """Return the file of a corpus, made first if it is not there."""
    if not plan.path.exists():
        plan.path.parent.mkdir(parents=True, exist_ok=True)
        offsets, words = generate(plan)
        partial = plan.path.with_suffix(f".{os.getpid()}.npz")
        np.savez(partial, document_offsets=offsets, document_words=words, n_words=plan.n_words)
        partial.replace(plan.path)
    return plan.path


def generate(plan: CorpusPlan) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw a corpus: where each document starts, and its distinct words, ascending."""
    random = np.random.default_rng(plan.n_words)
    lengths = random.integers(plan.n_tokens // 2, plan.n_tokens * 3 // 2 + 1, plan.n_documents)
    document = np.repeat(np.arange(plan.n_documents), lengths)
    topic = random.integers(0, plan.n_topics, plan.n_documents)[document]
    everywhere = draw_ranks(random, plan.n_words, len(document))
    in_topic = draw_ranks(random, plan.n_words // plan.n_topics, len(document)) * plan.n_topics + topic
    word = np.where(random.random(len(document)) < 0.5, everywhere, in_topic)
    distinct = np.unique(document * plan.n_words + word)
    counts = np.bincount(distinct // plan.n_words, minlength=plan.n_documents)
    return np.concatenate([[0], np.cumsum(counts)]), distinct % plan.n_words


def draw_ranks(random: np.random.Generator, n_ranks: int, count: int) -> NDArray[np.int64]:
    """Draw ranks 0, 1, ... by Zipf's law."""
    cumulative = np.cumsum(1 / (np.arange(n_ranks) + 3.0))
    ranks: NDArray[np.int64] = np.searchsorted(
        cumulative, random.random(count) * cumulative[-1], side="right"
    )
    return ranks


def read_index(plan: CorpusPlan) -> DocumentIndex:
    """Read a corpus as the index that omnitm trains from."""
    from omnitm.corpus import DocumentIndex

    with np.load(corpus_file(plan)) as stored:
        offsets, words = stored["document_offsets"], stored["document_words"]
    shape = (plan.n_documents, plan.n_words)
    presence = csr_matrix((np.ones(len(words), dtype=np.uint8), words, offsets), shape=shape)
    return DocumentIndex.from_csr(presence, [f"word{k}" for k in range(plan.n_words)])


def example_targets(index: DocumentIndex) -> dict[str, int]:
    """Pick a frequent, a middling and a rare word by rank of document frequency."""
    by_frequency = np.argsort(-index.document_frequencies, kind="stable")
    ranks = {"frequent": index.n_words // 400, "middling": index.n_words // 20, "rare": index.n_words // 2}
    return {name: int(by_frequency[rank]) for name, rank in ranks.items()}
