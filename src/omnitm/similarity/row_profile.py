"""The profile of a row: the coordinates that stand out from the same coordinate of other rows.

Vectors of frequent and of rare words live on different scales, and some features are large in all rows. So

1. a row is measured from its baseline, the value of features that its machine never met: the most frequent
   value; and in units of it: `x = (e - baseline) / |baseline|`,
2. a coordinate is compared with that coordinate of the best known words: `z = (x - mean) / deviation`,
3. only what stands out is kept: `r = log(1 + z - limit)` where `z > limit`, a few of a hundred coordinates,
4. and scaled to length 1: the profile.

Profiles of two words that share no feature can still be alike: *smoothed* profiles are the same rows in the
space of the strongest common patterns (singular vectors) of frequent words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from omnitm import _native
from omnitm.similarity.row_matrix import row_blocks
from omnitm.similarity.truncated_svd import patterns_of_rows, sparse_products

Reals = NDArray[np.float32]

FEWEST_WORDS = 100  # below, neither the spread of coordinates nor common patterns say much
_WORDS_PER_DIMENSION = 10  # at least; with fewer, patterns would be single words
_USUAL_BASELINE = 100.0  # the unit of rows whose baseline is 0, such as PPMI's in hundredths
_SMALLEST_DEVIATION = 1e-6  # below, a column counts as constant
_NEVER = float(np.finfo(np.float32).max)  # the limit of features that are the same for all words
_STEPS = 65_535  # of stored values, which are at most 1


@dataclass(frozen=True)
class Recipe:
    """What of a coordinate counts, and how much the strongest patterns count.

    Attributes
    ----------
    stands_out
        Deviations above the mean from which a coordinate is kept.
    power
        Patterns count with their singular value to this power: 0 is all alike.
    n_patterns
        Dimensions of smoothed profiles; fewer if there are less than ten words for each; 0: not smoothed.
    """

    stands_out: float
    power: float
    n_patterns: int


@dataclass(frozen=True, eq=False)
class RowProfile:
    """The profiles of all rows of a matrix of integers, and what is needed to make one of another vector.

    Attributes
    ----------
    baseline, gain
        Per word: `x = (e - baseline) * gain`.
    mean, limits, inverse_deviations
        Per feature: mean of x over the best known words, the x from which it stands out, and 1 / deviation.
    lengths
        Per word: length of its row of `r`.
    starts, columns, values
        In word w stand out the features `columns[starts[w] : starts[w + 1]]`, by `values` in steps of
        1/65,535 (profiles have length 1).
    projection
        features x dimensions: turns a profile into a smoothed one.
    smooth
        words x dimensions: smoothed profiles of unit length; without columns if there are too few words.
    """

    baseline: NDArray[np.int16]
    gain: Reals
    mean: Reals
    limits: Reals
    inverse_deviations: Reals
    lengths: Reals
    starts: NDArray[np.int64]
    columns: NDArray[np.uint32]
    values: NDArray[np.uint16]
    projection: Reals
    smooth: Reals

    @classmethod
    def of(
        cls,
        matrix: Any,
        own: NDArray[Any] | None,
        known: NDArray[np.intp],
        patterned: NDArray[np.intp],
        recipe: Recipe,
    ) -> RowProfile:
        """Read a matrix of integers and find what stands out in its rows.

        Parameters
        ----------
        own
            The column of each row's own word, which says nothing about it; None: columns are not words.
        known
            Rows of well known words: what is usual is found from these.
        patterned
            Rows whose common patterns are found.
        """
        own = np.full(len(matrix), -1, np.int32) if own is None else own.astype(np.int32)
        baseline = _baselines(matrix)
        mean, deviation = _moments(matrix, baseline, own, known)
        varies = deviation > _SMALLEST_DEVIATION
        # A feature stands out from mean + s * deviation on; one that never varies stands out nowhere.
        limits = np.where(varies, mean + recipe.stands_out * deviation, _NEVER).astype(np.float32)
        inverse = np.divide(1, deviation, out=np.zeros_like(deviation), where=varies).astype(np.float32)
        standing_out = _standing_out(_scaled_blocks(matrix, baseline, own), matrix.shape, limits, inverse)
        lengths = _to_unit_length(standing_out)
        projection, smooth = _smoothed(standing_out, patterned, recipe)
        return cls(
            baseline=baseline,
            gain=gain_of(baseline),
            mean=mean.astype(np.float32),
            limits=limits,
            inverse_deviations=inverse,
            lengths=lengths,
            starts=standing_out.indptr.astype(np.int64),
            columns=standing_out.indices.astype(np.uint32),
            # Values of a row of length 1 are at most 1, so 16 bits are exact to 1 / 131,070.
            values=np.rint(standing_out.data * np.float32(_STEPS)).astype(np.uint16),
            projection=projection,
            smooth=smooth,
        )

    @classmethod
    def of_nothing(cls, n_words: int) -> RowProfile:
        """Make profiles without features, of words that were not trained on this kind of coordinates."""
        none, no_rows = np.zeros(0, np.float32), np.zeros((n_words, 0), np.float32)
        return cls(
            baseline=np.zeros(n_words, np.int16),
            gain=np.ones(n_words, np.float32),
            mean=none,
            limits=none,
            inverse_deviations=none,
            lengths=np.zeros(n_words, np.float32),
            starts=np.zeros(n_words + 1, np.int64),
            columns=np.zeros(0, np.uint32),
            values=np.zeros(0, np.uint16),
            projection=np.zeros((0, 0), np.float32),
            smooth=no_rows,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.mean)

    def relative(self, vector: NDArray[Any], baseline: float, own: int | None = None) -> Reals:
        """Measure a vector from its baseline; a word's own coordinate says nothing, so it is 0."""
        gain = float(gain_of(np.array([baseline]))[0])
        scaled = (vector.astype(np.float32) - np.float32(baseline)) * np.float32(gain)
        if own is not None:
            scaled[own] = 0
        return scaled

    def deviations(self, relative: Reals) -> NDArray[np.float64]:
        """How far each coordinate stands out, in deviations above the mean of the best known words."""
        return (relative.astype(np.float64) - self.mean) * self.inverse_deviations

    def of_vector(self, relative: Reals) -> Reals:
        """Make the profile of a vector that is measured from its baseline: a number per feature."""
        features = np.flatnonzero(relative > self.limits)
        # r = log(1 + (x - limit) / deviation): the second large excess counts less than the first.
        values = np.log1p((relative[features] - self.limits[features]) * self.inverse_deviations[features])
        row = np.zeros(len(relative), dtype=np.float32)
        row[features] = values / max(float(np.sqrt((values.astype(np.float64) ** 2).sum())), 1e-30)
        return row

    def of_row(self, row: int) -> Reals:
        """Return the stored profile of a word: a number per feature, most of them 0."""
        found = np.zeros(self.n_features, dtype=np.float32)
        part = slice(int(self.starts[row]), int(self.starts[row + 1]))
        found[self.columns[part]] = self.values[part].astype(np.float32) / _STEPS
        return found

    def strengths(self, rows: NDArray[np.intp], n_features: int = 10) -> NDArray[np.float64]:
        """How much stands out in some words: the sum of their strongest features."""
        parts = (self.values[self.starts[row] : self.starts[row + 1]] for row in rows.tolist())
        strongest = [float(np.sort(values)[-n_features:].sum(dtype=np.int64)) for values in parts]
        return self.lengths[rows].astype(np.float64) * strongest

    def smoothed(self, profile: Reals) -> NDArray[np.float64]:
        """Smooth the profile of a vector, at length 1."""
        features = np.flatnonzero(profile)
        return unit(profile[features] @ self.projection[features])

    def products(self, profile: Reals, rows: NDArray[np.intp] | None = None) -> Reals:
        """Multiply a profile with those of some words; None: of all words."""
        wanted = np.arange(len(self.lengths), dtype=np.int64) if rows is None else rows.astype(np.int64)
        found = np.empty(len(wanted), dtype=np.float32)
        _native.profile_products(self.starts, self.columns, self.values, wanted, profile, found)
        found /= _STEPS
        return found

    def weighted_sum(self, rows: NDArray[Any], weights: NDArray[Any]) -> Reals:
        """Add profiles of some words, each times its weight: a number per feature, most of them 0."""
        found = np.zeros(self.n_features, dtype=np.float32)
        scaled = (weights / _STEPS).astype(np.float32)
        _native.add_profiles(self.starts, self.columns, self.values, rows.astype(np.int64), scaled, found)
        return found

    def some(self, rows: NDArray[Any]) -> Any:
        """Profiles of some words as a sparse matrix, rows x features."""
        from scipy.sparse import csr_matrix

        counts = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(counts)])
        # Entries of the wanted rows: each row counts on from where its stored entries begin.
        places = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], counts)
        values = self.values[places].astype(np.float32) / np.float32(_STEPS)
        columns = self.columns[places].view(np.int32)
        return csr_matrix((values, columns, starts), shape=(len(rows), self.n_features))

    def by_word(self) -> Any:
        """All profiles as a sparse matrix, words x features."""
        return self.some(np.arange(len(self.lengths)))

    def shares_of_smoothed(self, profile: Reals, other: NDArray[Any]) -> NDArray[np.float64]:
        """Return what each feature of a profile brings to the product of its smoothed row with another."""
        features = np.flatnonzero(profile)  # a few of a hundred
        shares = np.zeros(len(profile))
        shares[features] = profile[features] * (self.projection[features] @ other)
        return shares


def gain_of(baseline: NDArray[Any]) -> Reals:
    """Return 1 / the unit of a row: its baseline, or 100 where that is 0."""
    size = np.abs(baseline.astype(np.float32))
    return (1 / np.where(size > 0, size, np.float32(_USUAL_BASELINE))).astype(np.float32)


def baseline_of(vector: NDArray[Any]) -> float:
    """Find the most frequent value of a vector, to the nearest integer."""
    values, counts = np.unique(np.rint(vector), return_counts=True)
    return float(values[np.argmax(counts)])


def unit(vector: NDArray[Any]) -> NDArray[np.float64]:
    """Scale a vector to length 1, unless it is all zeros."""
    values = vector.astype(np.float64)
    length = float(np.linalg.norm(values))
    return values / length if length > 0 else values


def unit_rows(rows: NDArray[Any], dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Scale rows to length 1, unless they are all zeros."""
    rows = np.asarray(rows, dtype=dtype)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: NDArray[Any] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


def _baselines(matrix: Any) -> NDArray[np.int16]:
    """Find the baseline of each row."""
    baseline = np.empty(len(matrix), dtype=np.int16)
    for start, block in row_blocks(matrix):
        _native.row_modes(block, baseline[start : start + len(block)])
    return baseline


def _moments(
    matrix: Any, baseline: NDArray[np.int16], own: NDArray[np.int32], known: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of each column over some rows."""
    # 256 rows at a time bound the memory: 20 MB of a matrix with 40,000 columns.
    sums, squares = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    for rows in np.array_split(known, max(1, -(-len(known) // 256))):
        block = np.ascontiguousarray(matrix[rows])
        scaled = _native.ScaledRows(block, baseline[rows], gain_of(baseline[rows]), own[rows])
        scaled.moments(sums, squares)
    # Var[x] = E[x^2] - E[x]^2, in float64; rounding may leave it just below 0.
    mean = sums / max(1, len(known))
    return mean, np.sqrt(np.maximum(squares / max(1, len(known)) - mean**2, 0))


def _scaled_blocks(
    matrix: Any, baseline: NDArray[np.int16], own: NDArray[np.int32]
) -> Iterator[tuple[int, _native.ScaledRows]]:
    """Go through the rows, scaled, with the number of rows in each block."""
    for start, block in row_blocks(matrix):
        part = slice(start, start + len(block))
        yield len(block), _native.ScaledRows(block, baseline[part], gain_of(baseline[part]), own[part])


def _standing_out(
    blocks: Iterator[tuple[int, _native.ScaledRows]], shape: tuple[int, ...], limits: Reals, inverse: Reals
) -> Any:
    """Find what exceeds the limits, words x features; on a scale where large excesses count less."""
    from scipy.sparse import csr_matrix

    all_counts, all_columns, all_values = (
        [np.zeros(1, np.int64)],
        [np.zeros(0, np.int32)],
        [np.zeros(0, np.float32)],
    )
    for n_rows, scaled in blocks:
        counts = np.empty(n_rows, dtype=np.int64)
        # Counted first, so that the arrays have their size before they are filled.
        scaled.count_above(limits, counts)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        columns, excesses = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=np.float32)
        scaled.excess_above(limits, inverse, starts, columns, excesses)
        all_counts.append(counts)
        all_columns.append(columns)
        all_values.append(np.log1p(excesses, out=excesses))
    starts = np.cumsum(np.concatenate(all_counts))
    return csr_matrix((_joined(all_values), _joined(all_columns), starts), shape=shape)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate, without a copy if there is one part (after the empty one)."""
    return parts[1] if len(parts) == 2 else np.concatenate(parts)


def _to_unit_length(matrix: Any) -> Reals:
    """Scale the rows of a sparse matrix to length 1 in place, and return their lengths."""
    # Squared lengths of rows as differences of running sums.
    sums = np.concatenate([[0.0], np.cumsum(matrix.data.astype(np.float64) ** 2)])
    lengths = np.sqrt(np.maximum(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]], 0))
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    matrix.data *= np.repeat(inverse, np.diff(matrix.indptr)).astype(np.float32)
    result: Reals = lengths.astype(np.float32)
    return result


def _smoothed(profiles: Any, patterned: NDArray[np.intp], recipe: Recipe) -> tuple[Reals, Reals]:
    """Find the projection onto the strongest common patterns, and all profiles there, at length 1."""
    n_words, n_features = profiles.shape
    size = min(recipe.n_patterns, n_words // _WORDS_PER_DIMENSION)
    if n_words < FEWEST_WORDS or not size:
        return np.zeros((n_features, 0), np.float32), np.zeros((n_words, 0), np.float32)
    found = patterns_of_rows(profiles[patterned], size)
    # Weaker patterns are noise of float32, and a negative power would enlarge them.
    usable = found.singular > found.singular[0] * 1e-4
    # X V has columns of length s; times s**(power - 1) pattern k counts with s_k**power.
    weights = found.singular[usable] ** np.float32(recipe.power - 1)
    projection = np.ascontiguousarray(found.right[:, usable] * weights, dtype=np.float32)
    return projection, unit_rows(sparse_products(profiles, projection))
