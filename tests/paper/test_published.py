"""The figures that the paper prints agree with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.paper.published import published_classification, published_clusterings, published_rows

if TYPE_CHECKING:
    from omnitm.evaluation.clustering import ModelClustering


def test_averages_of_table_1() -> None:
    rows = {row.model: row for row in published_rows()}
    assert [len(row.sets) for row in rows.values()] == [5, 5, 5, 1, 5]
    assert rows["TM-AE"].average is None
    for name in ("Word2Vec", "FastText", "GloVe", "Omni TM-AE"):
        row = rows[name]
        assert row.average is not None
        for which in ("spearman", "kendall"):
            mean = np.mean([getattr(part.agreement, which) for part in row.sets])
            assert getattr(row.average, which) == pytest.approx(mean, abs=6e-4)


def test_averages_of_table_2() -> None:
    for row in published_classification():
        assert row.average == pytest.approx(np.mean(list(row.accuracies.values())), abs=1e-3)
    some = published_classification(["NB", "LR"])[0]
    assert some.average == pytest.approx((0.82 + 0.83) / 2)


@pytest.mark.parametrize("row", published_clusterings(), ids=lambda row: row.model)
def test_averages_of_table_3(row: ModelClustering) -> None:
    assert row.nmi == pytest.approx(np.mean([part.nmi.mean for part in row.sets]), abs=1e-4)
    assert row.ari == pytest.approx(np.mean([part.ari.mean for part in row.sets]), abs=1e-4)
