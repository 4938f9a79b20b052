"""How the use of words differs between groups of documents: with reasons and p-values."""

from omnitm.comparison.corpora import CorpusComparison, WordChange, compare_corpora
from omnitm.comparison.words import Change, Comparison, Sides, compare

__all__ = [
    "Change",
    "Comparison",
    "CorpusComparison",
    "Sides",
    "WordChange",
    "compare",
    "compare_corpora",
]
