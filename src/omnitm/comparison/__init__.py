"""How the use of words differs between groups of documents: with reasons and p-values."""

from omnitm.comparison.corpora import CorpusComparison, WordChange, compare_corpora
from omnitm.comparison.sides import Sides
from omnitm.comparison.words import Change, Comparison, Excerpt, compare

__all__ = [
    "Change",
    "Comparison",
    "CorpusComparison",
    "Excerpt",
    "Sides",
    "WordChange",
    "compare",
    "compare_corpora",
]
