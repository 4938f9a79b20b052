"""Measuring word vectors: similarity, analogies, ablation."""

from omnitm.evaluation.analogies import AnalogyReport, evaluate_analogies
from omnitm.evaluation.datasets import DATA_SETS, PAPER_SETS, DataSet, WordPairs, load_pairs
from omnitm.evaluation.results import ModelResult, SetResult, SimilarityReport
from omnitm.evaluation.similarity import evaluate_similarity

__all__ = [
    "DATA_SETS",
    "PAPER_SETS",
    "AnalogyReport",
    "DataSet",
    "ModelResult",
    "SetResult",
    "SimilarityReport",
    "WordPairs",
    "evaluate_analogies",
    "evaluate_similarity",
    "load_pairs",
]
