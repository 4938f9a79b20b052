"""The paper's Tables 1 to 3: facts to stand beside ours, measured on other text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from omnitm.evaluation.classification import CLASSIFIERS, SourceResult
from omnitm.evaluation.clustering import ModelClustering, SetClustering, Spread
from omnitm.evaluation.datasets import PAPER_SETS
from omnitm.evaluation.labelled import CLUSTERING_SETS
from omnitm.evaluation.results import Agreement, ModelResult, SetResult

SOURCE = "published"

# Spearman and Kendall per set, in the order of PAPER_SETS, then their averages as printed.
_TABLE_1: dict[str, tuple[tuple[float, float] | None, ...]] = {
    "Word2Vec": (
        (0.587, 0.410), (0.560, 0.389), (0.470, 0.322), (0.544, 0.366), (0.562, 0.391), (0.545, 0.376),
    ),
    "FastText": (
        (0.600, 0.420), (0.578, 0.403), (0.488, 0.336), (0.502, 0.344), (0.580, 0.406), (0.550, 0.382),
    ),
    "GloVe": (
        (0.504, 0.347), (0.513, 0.357), (0.460, 0.317), (0.522, 0.357), (0.559, 0.389), (0.512, 0.353),
    ),
    "TM-AE": (None, None, None, (0.506, 0.361), None, None),
    "Omni TM-AE": (
        (0.485, 0.345), (0.525, 0.374), (0.479, 0.343), (0.644, 0.462), (0.597, 0.440), (0.546, 0.393),
    ),
}  # fmt: skip

# Accuracy by classifier, in the order of CLASSIFIERS, then the average as printed.
_TABLE_2: dict[str, tuple[float, ...]] = {
    "GloVe": (0.81, 0.83, 0.82, 0.80, 0.82, 0.80, 0.813),
    "Word2Vec": (0.84, 0.85, 0.81, 0.83, 0.85, 0.83, 0.835),
    "FastText": (0.71, 0.73, 0.80, 0.73, 0.77, 0.66, 0.733),
    "Omni TM-AE": (0.83, 0.85, 0.81, 0.82, 0.84, 0.83, 0.830),
    "BERT": (0.80, 0.84, 0.81, 0.81, 0.82, 0.79, 0.811),
    "ELMo": (0.84, 0.83, 0.83, 0.81, 0.84, 0.83, 0.830),
}

# NMI and ARI by set, in the order of CLUSTERING_SETS, then the averages as printed.
_TABLE_3: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "Omni TM-AE": (
        (0.2356, 0.4402, 0.5414, 0.1229, 0.5089, 0.3698),
        (0.1181, 0.1102, 0.0042, 0.0348, 0.5162, 0.1567),
    ),
    "Word2Vec": (
        (0.2558, 0.4680, 0.5494, 0.1533, 0.5145, 0.3882),
        (0.1179, 0.1051, 0.0056, 0.0495, 0.4893, 0.1535),
    ),
    "FastText": (
        (0.2435, 0.4718, 0.5498, 0.1523, 0.5106, 0.3856),
        (0.1111, 0.1196, 0.0060, 0.0470, 0.4821, 0.1532),
    ),
    "GloVe": (
        (0.2342, 0.4553, 0.5498, 0.1277, 0.4760, 0.3686),
        (0.1154, 0.0928, 0.0050, 0.0397, 0.4500, 0.1406),
    ),
}


def published_rows() -> tuple[ModelResult, ...]:
    """Rows of the paper's Table 1.

    >>> published_rows()[-1].model, published_rows()[-1].source
    ('Omni TM-AE', 'published, One Billion Word')
    """
    return tuple(
        ModelResult(
            model=model,
            metric="association" if model == "Omni TM-AE" else "cosine",
            sets=tuple(
                SetResult(name, None, None, Agreement(*figures))
                for name, figures in zip(PAPER_SETS, cells, strict=False)
                if figures is not None
            ),
            average=Agreement(*cells[-1]) if cells[-1] is not None else None,
            source=f"{SOURCE}, One Billion Word",
        )
        for model, cells in _TABLE_1.items()
    )


def published_classification(classifiers: Sequence[str] = tuple(CLASSIFIERS)) -> tuple[SourceResult, ...]:
    """Rows of the paper's Table 2; for some classifiers only, the average is theirs."""
    rows = []
    for source, figures in _TABLE_2.items():
        every = dict(zip(CLASSIFIERS, figures, strict=False))
        chosen = {name: every[name] for name in classifiers if name in every}
        average = figures[-1] if len(chosen) == len(every) else float(np.mean(list(chosen.values())))
        rows.append(SourceResult(source, chosen, average, 0.0, SOURCE))
    return tuple(rows)


def published_clusterings() -> tuple[ModelClustering, ...]:
    """Rows of the paper's Table 3.

    >>> [row.model for row in published_clusterings()]
    ['Omni TM-AE', 'Word2Vec', 'FastText', 'GloVe']
    """
    rows = []
    for model, (nmi, ari) in _TABLE_3.items():
        figures = zip(CLUSTERING_SETS, nmi, ari, strict=False)
        sets = tuple(SetClustering(name, Spread(first), Spread(second)) for name, first, second in figures)
        rows.append(ModelClustering(model, "mean", sets, nmi[-1], ari[-1], SOURCE))
    return tuple(rows)
