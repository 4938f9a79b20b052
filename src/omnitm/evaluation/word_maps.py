"""Maps of words in groups (the paper's t-SNE figure), and how well the groups separate."""

from __future__ import annotations

import inspect
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.evaluation.tables import PlainTable
from omnitm.evaluation.word_groups import known_groups
from omnitm.parameters import check_integer
from omnitm.vectors.document_vectors import dense_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from omnitm.vectors.word_vectors import WordVectors

NEIGHBOURS = 10
_PERPLEXITY, _LEARNING_RATE, _ITERATIONS = 30.0, 200.0, 2_000  # the paper's
PAPER_SEED = 42
_EXACT = 500  # words; few enough to compare all pairs in every step


@dataclass(frozen=True)
class Separation:
    """How well groups separate.

    Attributes
    ----------
    silhouette
        From -1 to 1; above 0 words are nearer to their own group than to the next one.
    purity
        Share of the 10 nearest neighbours of a word that are of its own group, mean over words.
    highest_purity
        The purity of a perfect separation: a group of ten leaves only nine neighbours.
    chance_purity
        What neighbours drawn at random would give.
    """

    silhouette: float
    purity: float
    highest_purity: float
    chance_purity: float


@dataclass(frozen=True, eq=False)
class WordMap:
    """Words of groups on a plane; row k of `positions` is `words[k]`, which is in `groups[k]`.

    `unknown` are words that the model does not know, `alone` those that it knows as the only ones of their
    group, which is left out.
    """

    model: str
    words: tuple[str, ...]
    groups: tuple[str, ...]
    positions: NDArray[np.float32]
    original: Separation
    on_map: Separation
    unknown: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Write everything as JSON."""
        content = {**asdict(self), "positions": self.positions.tolist()}
        return json.dumps({"kind": "omnitm word map", "version": 1, **content}, indent=2)


def map_words(
    vectors: WordVectors,
    groups: Mapping[str, tuple[str, ...]],
    *,
    name: str = "model",
    seed: int = PAPER_SEED,
    raw: bool = False,
) -> WordMap:
    """Lay words out by t-SNE with the paper's settings, and measure how well their groups separate.

    Words are compared by the cosine of the rows that documents are made of, see `dense_rows`; if `raw`, as in
    the paper: by the distance of the vectors as they are.
    """
    check_integer("map_words", "seed", seed, 0, 2**32 - 1)
    known, unknown = known_groups(groups, vectors.key_to_index)
    words = [word for members in known.values() for word in members]
    labels = [group for group, members in known.items() for _ in members]
    wanted = (word for members in groups.values() for word in members)
    alone = tuple(word for word in wanted if word not in {*words, *unknown})
    places = [vectors.get_index(word) for word in words]
    rows = vectors.matrix[places].astype(np.float32) if raw else dense_rows(vectors)[places]
    positions = _arranged(rows, seed)
    return WordMap(
        name,
        tuple(words),
        tuple(labels),
        positions,
        separation(rows, labels),
        separation(positions, labels),
        tuple(unknown),
        alone,
    )


def separation(rows: NDArray[Any], labels: list[str]) -> Separation:
    """Measure how well groups separate, by Euclidean distance; of unit rows that is by cosine."""
    from sklearn.metrics import pairwise_distances, silhouette_score

    distances = pairwise_distances(rows.astype(np.float64))
    np.fill_diagonal(distances, 0.0)
    silhouette = float(silhouette_score(distances, labels, metric="precomputed"))
    np.fill_diagonal(distances, np.inf)
    count = min(NEIGHBOURS, len(labels) - 1)
    names = np.array(labels)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :count]
    purity = float((names[nearest] == names[:, None]).mean())
    others = (names[:, None] == names).sum(axis=1) - 1
    highest = float(np.minimum(others, count).mean()) / count
    return Separation(silhouette, purity, highest, float(others.mean()) / (len(labels) - 1))


def separation_table(maps: list[WordMap]) -> PlainTable:
    """Make one table of several models' maps."""
    header = ["model", "words", "groups", "silhouette", "on the map", "10-nearest purity", "on the map"]
    table = PlainTable("How well groups of words separate", header)
    for found in maps:
        figures = (
            found.original.silhouette,
            found.on_map.silhouette,
            found.original.purity,
            found.on_map.purity,
        )
        counts = (str(len(found.words)), str(len(set(found.groups))))
        table.rows.append([found.model, *counts, *(f"{figure:.3f}" for figure in figures)])
    bounds = [f"{found.original.highest_purity:.3f} / {found.original.chance_purity:.3f}" for found in maps]
    for bound in dict.fromkeys(bounds):
        whose = [found.model for found, own in zip(maps, bounds, strict=True) if own == bound]
        name = "highest / by chance" + (f", {', '.join(whose)}" if len(whose) < len(maps) else "")
        table.rows.append([name, "", "", "1.000", "1.000", bound, bound])
    return table


def _arranged(rows: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    from sklearn.manifold import TSNE

    # scikit-learn 1.5 gave `n_iter` its new name
    iterations = "max_iter" if "max_iter" in inspect.signature(TSNE).parameters else "n_iter"
    layout = TSNE(
        n_components=2,
        perplexity=min(_PERPLEXITY, (len(rows) - 1) / 3),
        learning_rate=_LEARNING_RATE,
        random_state=seed,
        init="pca" if min(rows.shape) >= 2 else "random",
        method="exact" if len(rows) <= _EXACT else "barnes_hut",
        **{iterations: _ITERATIONS},
    )
    positions: NDArray[np.float32] = layout.fit_transform(rows)
    return positions
