"""How often rules hold in examples like those of training, which merge several documents into one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from omnitm.explain.matching import document_lengths, words_of_documents
from omnitm.machine import training_examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.explain.rules import Rule
    from omnitm.machine import AutoencoderSettings, Examples

_MOST_EXAMPLES = 1_000


def fresh_examples(index: DocumentIndex, settings: AutoencoderSettings, target: int, key: int) -> Examples:
    """Draw examples as training does, but others."""
    count = min(settings.total_examples, _MOST_EXAMPLES)
    return training_examples(index, replace(settings, n_examples=count, n_epochs=1), target, key ^ 1)


def firing_rates(
    index: DocumentIndex, rules: Sequence[Rule], examples: Examples
) -> list[tuple[float | None, float | None]]:
    """In what share of the examples with the word, and without it, each rule holds; None: there are none."""
    named = sorted({index.word_id(word) for rule in rules for word in (*rule.present, *rule.absent)})
    occurs = occurrences(index, examples.documents, named)
    columns = {index.vocabulary[word]: column for column, word in enumerate(named)}
    rates = []
    for rule in rules:
        present, absent = ([columns[word] for word in words] for words in (rule.present, rule.absent))
        holds = np.asarray(occurs[:, present].all(axis=1) & ~occurs[:, absent].any(axis=1))
        rates.append((_share(holds, examples.labels), _share(holds, ~examples.labels)))
    return rates


def occurrences(
    index: DocumentIndex, documents: NDArray[np.int64], words: Sequence[int]
) -> NDArray[np.bool_]:
    """Examples x words: whether a word is in one of the documents that were merged into an example."""
    flat = documents.reshape(-1).astype(np.uint32)
    column = np.full(index.n_words, -1, dtype=np.int64)
    column[list(words)] = np.arange(len(words))
    found = column[words_of_documents(index, flat)]
    rows = np.repeat(np.arange(len(flat)) // documents.shape[1], document_lengths(index, flat))
    occurs = np.zeros((len(documents), len(words)), dtype=bool)
    occurs[rows[found >= 0], found[found >= 0]] = True
    return occurs


def _share(holds: NDArray[np.bool_], among: NDArray[np.bool_]) -> float | None:
    return float(holds[among].mean()) if among.any() else None
