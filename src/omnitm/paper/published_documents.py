"""The paper's Tables 2 and 3: facts to stand beside ours, measured on other text."""

from __future__ import annotations

from omnitm.evaluation.document_sets import CLUSTERING_SETS

SOURCE = "published"

#: Classifiers of the paper's Table 2, in its order.
PAPER_CLASSIFIERS = ("RF", "LR", "NB", "SVM", "MLP", "TM")

# Accuracy by classifier, then the average as printed.
CLASSIFICATION: dict[str, tuple[float, ...]] = {
    "GloVe": (0.81, 0.83, 0.82, 0.80, 0.82, 0.80, 0.813),
    "Word2Vec": (0.84, 0.85, 0.81, 0.83, 0.85, 0.83, 0.835),
    "FastText": (0.71, 0.73, 0.80, 0.73, 0.77, 0.66, 0.733),
    "Omni TM-AE": (0.83, 0.85, 0.81, 0.82, 0.84, 0.83, 0.830),
    "BERT": (0.80, 0.84, 0.81, 0.81, 0.82, 0.79, 0.811),
    "ELMo": (0.84, 0.83, 0.83, 0.81, 0.84, 0.83, 0.830),
}

# NMI and ARI by set, in the order of CLUSTERING_SETS, then the averages as printed.
_CLUSTERING: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
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


def published_clustering(model: str) -> tuple[dict[str, float], dict[str, float]]:
    """NMI and ARI of a model by set, with the printed "average".

    >>> published_clustering("Word2Vec")[0]["average"]
    0.3882
    """
    nmi, ari = _CLUSTERING[model]
    names = (*CLUSTERING_SETS, "average")
    return dict(zip(names, nmi, strict=True)), dict(zip(names, ari, strict=True))


def published_models() -> tuple[str, ...]:
    """Models of the paper's Table 3."""
    return tuple(_CLUSTERING)
