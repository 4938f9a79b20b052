"""The paper's Table 1: facts to stand beside ours, trained on another corpus."""

from __future__ import annotations

from omnitm.evaluation.datasets import PAPER_SETS
from omnitm.evaluation.results import Agreement, ModelResult, SetResult

SOURCE = "published, One Billion Word"

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
_METRICS = {"Omni TM-AE": "association"}


def published_rows() -> tuple[ModelResult, ...]:
    """Rows of the paper's Table 1.

    >>> published_rows()[-1].model, published_rows()[-1].source
    ('Omni TM-AE', 'published, One Billion Word')
    """
    return tuple(
        ModelResult(
            model=model,
            metric=_METRICS.get(model, "cosine"),
            sets=tuple(
                SetResult(name, None, None, Agreement(*figures))
                for name, figures in zip(PAPER_SETS, cells, strict=False)
                if figures is not None
            ),
            average=Agreement(*cells[-1]) if cells[-1] is not None else None,
            source=SOURCE,
        )
        for model, cells in _TABLE_1.items()
    )
