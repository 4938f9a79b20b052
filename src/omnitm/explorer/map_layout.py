"""From vectors to a map of the vocabulary.

True neighbours by the model's own metric, a first layout along the main axes, points arranged by t-SNE,
clusters with names, and how far each point can be trusted: the share of a word's true neighbours that are
near it on the map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import needs_extra
from omnitm.explorer.map_file import Cluster, VocabularyMap
from omnitm.similarity.combined import Combined
from omnitm.similarity.profiles import best_known
from omnitm.similarity.row_profile import unit_rows
from omnitm.vectors import WordVectors

Progress = Callable[[float], None]
StepProgress = Callable[[str, float], None]


def main_axes(matrix: NDArray[Any], n_axes: int) -> NDArray[np.float32]:
    """Project unit rows, less their mean, on the axes along which they differ most; longest axis first."""
    n_axes = min(n_axes, *matrix.shape)
    if n_axes == 0:
        return np.zeros((len(matrix), 0), dtype=np.float32)
    rows = unit_rows(matrix)
    rows -= rows.mean(axis=0)
    if rows.shape[1] <= rows.shape[0]:
        _, axes = np.linalg.eigh(rows.T @ rows)
        scores = rows @ axes[:, : -n_axes - 1 : -1]
    else:
        # Fewer rows than columns: R R' = U S^2 U' is smaller, and the scores are U S.
        squares, turns = np.linalg.eigh(rows @ rows.T)
        lengths = np.sqrt(np.maximum(squares, 0))
        scores = (turns * lengths)[:, : -n_axes - 1 : -1]
    # a mirror image is the same map
    signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(n_axes)])
    return np.ascontiguousarray(scores * np.where(signs == 0, 1, signs), dtype=np.float32)


_ROWS_AT_A_TIME = 512
_WORDS_AT_A_TIME = 64
_MANY = 1_000  # words from which neighbours are found by smoothed rows, and points arranged on a grid
_NEAR_AXES = 400  # the strongest of up to 800 smoothed dimensions
_CELL = 150  # words of a cell, on average
_NEAR_CELLS = 48  # in which neighbours are looked for
_CELL_ROUNDS = 10


class NeighbourLists(NamedTuple):
    """The nearest rows of every row, nearest first, and their scores; words x neighbours."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float32]


def map_metric(vectors: WordVectors) -> str:
    """Name the metric whose neighbours a map tries to keep: the default, if it compares trained words."""
    return "similarity" if vectors.default_metric == "similarity" else "cosine"


def likely_neighbours(vectors: WordVectors, count: int, progress: Progress | None = None) -> NeighbourLists:
    """Find the nearest words of every word: exactly among few words, by smoothed rows among many.

    Of 40,000 words the exact ten nearest of each take 240 CPU seconds; 84 % of them are among the sixty that
    smoothed rows find in 20.
    """
    count = min(count, max(len(vectors) - 1, 0))
    if map_metric(vectors) == "cosine":
        return _nearest(unit_rows(vectors.matrix), count, progress)
    if len(vectors) > _MANY:
        return _nearest(_smoothed_axes(vectors), count, progress)
    return true_neighbours(vectors, np.arange(len(vectors)), count, progress)


def true_neighbours(
    vectors: WordVectors, rows: NDArray[np.intp], count: int, progress: Progress | None = None
) -> NeighbourLists:
    """Find the nearest words of some words by the default similarity, exactly."""
    found = NeighbourLists(np.zeros((len(rows), count), np.int64), np.zeros((len(rows), count), np.float32))
    similarity = Combined("similarity")
    for start in range(0, len(rows) if count else 0, _WORDS_AT_A_TIME):
        block = slice(start, start + _WORDS_AT_A_TIME)
        found.rows[block], found.scores[block] = similarity.nearest_of_rows(vectors, rows[block], count)
        if progress is not None:
            progress(min(start + _WORDS_AT_A_TIME, len(rows)) / len(rows))
    return found


def _smoothed_axes(vectors: WordVectors) -> NDArray[np.float32]:
    """Rows whose products are about the similarity of words: its two smoothed parts, on the main axes."""
    # A product of two rows scaled by sqrt(w) has the weight w.
    profiles, scales = vectors.profiles, np.sqrt(Combined("similarity").scales(vectors))
    parts = [profiles.topic_rows * np.float32(scales[2]), profiles.place_rows * np.float32(scales[4])]
    rows = np.concatenate(parts, axis=1)
    _, axes = np.linalg.eigh(rows.T @ rows)
    return np.ascontiguousarray(rows @ axes[:, ::-1][:, :_NEAR_AXES])


def grouped(rows: NDArray[np.float32], n_groups: int, n_rounds: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Group rows by their nearest middles (k-means): the group of each row, and the middles.

    The first middles are rows at even distances, so that nothing is drawn at random.
    """
    from scipy.sparse import csr_matrix

    middles = rows[np.linspace(0, len(rows) - 1, n_groups, dtype=np.intp)].astype(np.float64)
    own, ones = np.arange(len(rows)), np.ones(len(rows))
    for _ in range(n_rounds):
        # The nearest middle: |r - m|^2 = |r|^2 - 2 (r m - |m|^2 / 2), and |r|^2 is the same for all.
        groups = (rows @ middles.T - np.square(middles).sum(axis=1) / 2).argmax(axis=1)
        sums = csr_matrix((ones, (groups, own)), shape=(n_groups, len(rows))) @ rows
        sizes = np.bincount(groups, minlength=n_groups)[:, None]
        middles = np.where(sizes > 0, sums / np.maximum(sizes, 1), middles)
    return groups, middles


def _nearest(rows: NDArray[np.float32], count: int, progress: Progress | None) -> NeighbourLists:
    """Find the rows with the highest products with every row; among many, in the cells around its own."""
    n_cells = max(len(rows) // _CELL, 1)
    groups, middles = np.zeros(len(rows), np.intp), rows[:1]
    if n_cells > _NEAR_CELLS:
        groups, middles = grouped(rows, n_cells, _CELL_ROUNDS)
    found = NeighbourLists(np.zeros((len(rows), count), np.int64), np.zeros((len(rows), count), np.float32))
    members = [np.flatnonzero(groups == cell) for cell in range(len(middles))]
    lengths, n_done = np.square(middles).sum(axis=1), 0
    for cell, mine in enumerate(members if count else []):
        near = np.argsort(lengths - 2 * (middles @ middles[cell]), kind="stable")[:_NEAR_CELLS]
        others = np.sort(np.concatenate([members[k] for k in near.tolist()]))
        if len(others) <= count:
            others = np.arange(len(rows))
        for start in range(0, len(mine), _ROWS_AT_A_TIME):
            block = mine[start : start + _ROWS_AT_A_TIME]
            found.rows[block], found.scores[block] = _highest(rows, block, others, count)
            n_done += len(block)
            if progress is not None:
                progress(n_done / len(rows))
    return found


def _highest(
    rows: NDArray[np.float32], block: NDArray[Any], others: NDArray[Any], count: int
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Find the highest products of some rows with others, of which they are a part, without themselves."""
    scores = rows[block] @ rows[others].T
    scores[np.arange(len(block)), np.searchsorted(others, block)] = -np.inf
    likely = np.argpartition(scores, len(others) - count, axis=1)[:, len(others) - count :]
    near = np.take_along_axis(scores, likely, axis=1)
    order = np.argsort(-near, axis=1, kind="stable")
    return others[np.take_along_axis(likely, order, axis=1)], np.take_along_axis(near, order, axis=1)


PERPLEXITY = 20
N_NEIGHBOURS = 3 * PERPLEXITY  # what t-SNE looks at for this perplexity
_ITERATIONS = 100, 300  # first with attraction exaggerated, then as it is; later ones keep 1 % more
_EXAGGERATION = 12
_TOLD_EVERY = 10
_START = 1e-4  # deviation of the first positions, as t-SNE wants it


def arranged(
    neighbours: NeighbourLists, start: NDArray[np.float32], progress: Progress | None = None
) -> NDArray[np.float32]:
    """Arrange points so that neighbours stay together.

    The same bits for the same input: nothing is drawn at random, and one thread works.

    Parameters
    ----------
    neighbours
        Nearest rows and their scores; differences of scores count as differences of squared distances.
    start
        Points x 2: where they begin, at any scale.
    """
    with needs_extra("The map of the vocabulary", "explorer"):
        from openTSNE import TSNEEmbedding, affinity
        from openTSNE.nearest_neighbors import PrecomputedNeighbors
    # Of unit vectors |a - b|^2 = 2 - 2 a b, so a distance is the root of how far a score is below the best.
    distances = np.sqrt(np.maximum(neighbours.scores[:, :1] - neighbours.scores, 0)).astype(np.float64)
    known = PrecomputedNeighbors(neighbours.rows, distances)
    perplexity = min(PERPLEXITY, max(neighbours.rows.shape[1] / 3, 1))
    attraction = affinity.PerplexityBasedNN(knn_index=known, perplexity=perplexity, n_jobs=1)
    scale = _START / max(float(start[:, 0].std()), 1e-12)
    points = TSNEEmbedding(
        start.astype(np.float64) * scale,
        attraction,
        negative_gradient_method="fft" if len(start) > _MANY else "bh",
        n_jobs=1,
        random_state=0,
    )
    early, late = _ITERATIONS
    for done, iterations, pull in ((0, early, _EXAGGERATION), (early, late, None)):

        def tell(iteration: int, _error: float, _points: object, before: int = done) -> None:
            if progress is not None:
                progress((before + iteration) / (early + late))

        points = points.optimize(
            n_iter=iterations,
            exaggeration=pull,
            momentum=0.5 if pull else 0.8,
            learning_rate="auto",
            callbacks=tell,
            callbacks_every_iters=_TOLD_EVERY,
        )
    return np.asarray(points, dtype=np.float32)


NEIGHBOURS = 10


def share_kept(
    true: NDArray[np.int64], positions: NDArray[np.float32], rows: NDArray[np.intp] | None = None
) -> NDArray[np.float32]:
    """Share of the true neighbours among as many neighbours on the map, for each point, or for some rows."""
    from scipy.spatial import cKDTree

    n_points, count = true.shape
    if count == 0:
        return np.ones(n_points, dtype=np.float32)
    asked = np.arange(n_points) if rows is None else rows
    _, near = cKDTree(positions).query(positions[asked], k=count + 1)
    kept = [
        len(set(mine.tolist()).intersection(drawn.tolist()) - {k}) / count
        for k, mine, drawn in zip(asked.tolist(), true, near, strict=True)
    ]
    return np.array(kept, dtype=np.float32)


MOST_CLUSTERS = 40
N_COLOURS = 7  # that everybody can tell apart
_WORDS_PER_CLUSTER = 100
_CLUSTER_ROUNDS = 50
_AXES = 50
_FEW = 6  # words; too few for a layout of neighbourhoods
_SAMPLE = 500  # words whose exact neighbours tell how true a large map is


def first_map(vectors: WordVectors) -> VocabularyMap:
    """Lay the words out along the two main axes: quick, but neighbours are often torn apart."""
    axes = _axes(vectors)
    positions = _square(axes)
    return VocabularyMap(
        positions, None, *_clusters(vectors, unit_rows(axes), positions), "PCA", map_metric(vectors)
    )


def full_map(vectors: WordVectors, progress: StepProgress) -> VocabularyMap:
    """Lay the words out so that neighbours stay together (t-SNE), and measure how well that went.

    `progress` is told what is done, and the share of all work that is finished.
    """
    progress("reading the vectors", 0.0)
    axes = _axes(vectors)
    likely = likely_neighbours(
        vectors, N_NEIGHBOURS, lambda done: progress("finding neighbours", 0.02 + 0.33 * done)
    )
    points = axes
    if len(axes) > _FEW:
        points = arranged(
            likely, _plane(axes), lambda done: progress("arranging the words", 0.35 + 0.55 * done)
        )
    positions = _square(points)
    clusters = _clusters(vectors, np.concatenate([unit_rows(axes), positions], axis=1), positions)
    kept = share_kept(likely.rows[:, :NEIGHBOURS], positions)
    mean = None
    if map_metric(vectors) == "similarity" and len(vectors) > _MANY:
        rows = np.linspace(0, len(vectors) - 1, _SAMPLE, dtype=np.intp)
        true = true_neighbours(
            vectors, rows, NEIGHBOURS, lambda done: progress("measuring the map", 0.9 + 0.1 * done)
        )
        mean = float(share_kept(true.rows, positions, rows).mean())
    return VocabularyMap(positions, kept, *clusters, "t-SNE", map_metric(vectors), mean)


def _axes(vectors: WordVectors) -> NDArray[np.float32]:
    """Find the main axes of the space in which the model's metric compares words: words x axes."""
    if map_metric(vectors) == "similarity":
        return main_axes(vectors.profiles.topic_rows, _AXES)
    return main_axes(vectors.matrix, _AXES)


def _plane(points: NDArray[np.float32]) -> NDArray[np.float32]:
    flat = np.zeros((len(points), 2), dtype=np.float32)
    flat[:, : min(2, points.shape[1])] = points[:, :2]
    return flat


def _square(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Move and scale the first two dimensions into -1..1."""
    flat = _plane(points)
    if len(flat):
        flat -= (flat.max(axis=0) + flat.min(axis=0)) / 2
        flat /= max(float(np.abs(flat).max()), 1e-12)
    return flat


def _clusters(
    vectors: WordVectors, space: NDArray[np.float32], positions: NDArray[np.float32]
) -> tuple[NDArray[np.uint8], list[Cluster]]:
    """Group the words by what they are about and where they are, and name each group.

    Groups without a name become one, the last, with a colour of its own: their words occur with everything.
    """
    if not len(space):
        return np.zeros(0, dtype=np.uint8), []
    usual = min(max(N_COLOURS, len(space) // _WORDS_PER_CLUSTER), MOST_CLUSTERS, len(space))
    groups, _ = grouped(space, usual if space.any() else 1, _CLUSTER_ROUNDS)
    kept, groups = np.unique(groups, return_inverse=True)
    names = _cluster_names(vectors, groups, len(kept))
    named = [k for k, name in enumerate(names) if name]
    number = np.full(len(kept), len(named))
    number[named] = np.arange(len(named))
    places = np.array([_densest(positions[groups == k]) for k in named]).reshape(-1, 2)
    found = [
        Cluster(names[k], float(x), float(y), colour)
        for k, (x, y), colour in zip(named, places, _colours(places), strict=True)
    ]
    if len(named) < len(kept):
        x, y = np.median(positions[number[groups] == len(named)], axis=0)
        found.append(Cluster(_OF_MANY_TOPICS, float(x), float(y), N_COLOURS))
    return number[groups].astype(np.uint8), found


def _densest(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Find where most of the points are: the middle of those around the fullest square."""
    squares = np.floor((points + 1) / _SQUARE).astype(np.intp) + 1
    counts = np.zeros((int(2 / _SQUARE) + 4,) * 2)
    np.add.at(counts, tuple(squares.T), 1)
    # Each square with the eight around it.
    around = sum(np.roll(counts, shift, axis=(0, 1)) for shift in np.ndindex(3, 3))
    fullest = np.array(np.unravel_index(np.argmax(around), counts.shape)) - 1
    inside = (np.abs(squares - fullest) <= 1).all(axis=1)
    middle: NDArray[np.float32] = np.median(points[inside], axis=0)
    return middle


def _colours(places: NDArray[Any]) -> list[int]:
    """Give each cluster the colour whose nearest other use is farthest away."""
    colours: list[int] = []
    for number, place in enumerate(places):
        # A colour that is not used yet is infinitely far away.
        away = np.full(N_COLOURS, np.inf)
        distances = np.square(places[:number] - place).sum(axis=1)
        np.minimum.at(away, np.array(colours, dtype=np.intp), distances)
        colours.append(int(away.argmax()))
    return colours


_IN_A_NAME = 3
_OF_MANY_TOPICS = "words of many topics"
_MEANT_BY_A_NAME = 0.5  # share of a cluster's words in whose own profile a feature of its name stands out
_SQUARE = 0.06  # of the map, which goes from -1 to 1
_SHORT_WORD = 3  # letters; such words are mostly abbreviations and articles
_ABOUT_LITTLE = 30  # per cent of the words have less that stands out, and name nothing
_SAME_TOPIC = 0.2  # cosine of smoothed profiles, from which two words name the same thing


def _cluster_names(vectors: WordVectors, groups: NDArray[Any], n_groups: int) -> list[str]:
    """Name groups by the features that their words have more of than all words.

    A feature counts by its mean in the profiles of the group, times the logarithm of that mean over the mean
    of all words; it names the group where it counts most, if it is one of its words. Left out are short and
    rare words, those in whose own profile little stands out (as in function words), and forms of a word that
    is named. A name that says nothing of half of the words is none: "". Where features are not compared,
    groups have the names of their most frequent words.
    """
    plain = [
        ", ".join(vectors.index_to_key[row] for row in np.flatnonzero(groups == group)[:_IN_A_NAME].tolist())
        for group in range(n_groups)
    ]
    if map_metric(vectors) != "similarity":
        return plain
    profiles = _topic_profiles(vectors)
    counts = _feature_counts(vectors, profiles, groups, n_groups)
    forms, smooth, rows = vectors.profiles.forms, vectors.profiles.topic_rows, _rows_of_features(vectors)
    home = np.where((rows >= 0) & (groups[rows] == counts.argmax(axis=0)), counts.argmax(axis=0), -1)
    names = []
    for group in range(n_groups):
        mine = np.where(home == group, counts[group], 0)
        found: list[int] = []
        seen: set[int] = set()
        first = 0
        for feature in np.argsort(-mine, kind="stable").tolist():
            if len(found) == _IN_A_NAME or mine[feature] <= 0:
                break
            row = int(rows[feature])
            is_about = not found or smooth[row] @ smooth[first] > _SAME_TOPIC
            if row in seen or not is_about:
                continue
            first = first if found else row
            found.append(feature)
            seen |= {form for form, _ in forms.of_row(row)}
        meant = (profiles[groups == group][:, found] > 0).max(axis=1).mean() if found else 0
        is_name = meant >= _MEANT_BY_A_NAME
        names.append(", ".join(vectors.feature_names[feature] for feature in found) if is_name else "")
    return names


def _rows_of_features(vectors: WordVectors) -> NDArray[np.intp]:
    rows = np.full(vectors.vector_size, -1, dtype=np.intp)
    rows[vectors.row_features] = np.arange(len(vectors))
    return rows


def _topic_profiles(vectors: WordVectors) -> Any:
    """Put what stands out in each word into a matrix, words x features as CSR."""
    from scipy.sparse import csr_matrix

    topic, shape = vectors.profiles.topic, (len(vectors), vectors.profiles.topic.n_features)
    return csr_matrix((topic.values, topic.columns.astype(np.int32), topic.starts), shape)


def _feature_counts(
    vectors: WordVectors, profiles: Any, groups: NDArray[Any], n_groups: int
) -> NDArray[np.float64]:
    """How much each feature tells of each group; 0 for features that name nothing."""
    from scipy.sparse import csr_matrix

    topic, n_words = vectors.profiles.topic, len(vectors)
    members = csr_matrix((np.ones(n_words, np.float32), (groups, np.arange(n_words))), (n_groups, n_words))
    sums = np.asarray((members @ profiles.astype(np.float32)).todense(), dtype=np.float64)
    means, usual = sums / np.bincount(groups)[:, None], sums.sum(axis=0) / n_words
    least = max(float(usual.mean()), 1e-9) / 10
    # A term of the Kullback-Leibler divergence of the group from all words; `least` keeps rare features from
    # winning.
    counts = np.maximum(means, 0) * np.log((means + least / 100) / (usual + least))
    names_something = np.zeros(topic.n_features, dtype=bool)
    known = best_known(vectors)
    strengths = topic.strengths(known)
    telling = known[strengths >= np.percentile(strengths, _ABOUT_LITTLE)]
    names_something[vectors.row_features[telling]] = True
    is_word = np.array([len(name) > _SHORT_WORD and name.isalpha() for name in vectors.feature_names])
    return np.where(names_something & is_word, np.maximum(counts, 0), 0)
