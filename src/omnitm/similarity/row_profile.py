"""The company that words keep: the coordinates of a row that stand out from the same coordinate of all rows.

Vectors of frequent and of rare words live on different scales, and some features are large for everybody. So

1. a row is measured from its baseline, the value of features that its machine never met: the most frequent
   value; and in units of it: `x = (e - baseline) / |baseline|`,
2. a coordinate is compared with that coordinate of all words: `z = (x - mean) / deviation`,
3. only what stands out is kept: `r = log(1 + z - 1)` where `z > 1`, a few of a hundred coordinates,
4. and scaled to length 1.

What is kept is stored feature by feature, so that a query only reads the words that share its features.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm import _native
from omnitm.similarity.row_matrix import row_blocks
from omnitm.similarity.truncated_svd import truncated_svd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from omnitm.vectors.word_vectors import WordVectors

    Reals = NDArray[np.float32]

RECIPE = 3  # of the numbers below; stored companies of other recipes are made again
STANDS_OUT = 1.0
FLOOR = 0.1  # of a baseline: differences between small associations are noise
N_SMOOTH = 300
_SMOOTH_POWER = 0.25
_WORDS_PER_DIMENSION = 10
FEWEST_WORDS = 100  # below, neither the spread of coordinates nor common patterns say much
_USUAL_BASELINE = 100.0  # the unit of rows whose baseline is 0, such as PPMI's in hundredths
_SMALLEST_DEVIATION = 1e-6
_NEVER = float(np.finfo(np.float32).max)  # the limit of features that are the same for all words
_STEPS = 65_535  # of stored values, which are at most 1
_SMOOTHED_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class Company:
    """What is known about a matrix of integer vectors after reading it once.

    Attributes
    ----------
    baseline, gain
        Per word: `x = (e - baseline) * gain`.
    mean, limits, inverse_deviations
        Per feature: mean of x over words, the x from which it stands out, and 1 / deviation.
    lengths
        Per word: length of its row of `r`.
    starts, rows, values
        Feature f stands out in the words `rows[starts[f] : starts[f + 1]]`, by `values` in steps of 1/65,535
        (rows have length 1).
    projection
        features x dimensions: turns a row of unit length into a smoothed one.
    smooth
        words x dimensions: smoothed rows of unit length; without columns if there are too few words.
    """

    baseline: NDArray[np.int16]
    gain: Reals
    mean: Reals
    limits: Reals
    inverse_deviations: Reals
    lengths: Reals
    starts: NDArray[np.int64]
    rows: NDArray[Any]
    values: NDArray[np.uint16]
    projection: Reals
    smooth: Reals

    @classmethod
    def of(cls, vectors: WordVectors) -> Company:
        """Read a matrix of integers and find what stands out."""
        matrix, own = vectors.matrix, vectors.row_features.astype(np.int32)
        baseline, mean, deviation = _moments(matrix, own)
        gain = gain_of(baseline)
        varies = deviation > _SMALLEST_DEVIATION
        limits = np.where(varies, mean + STANDS_OUT * deviation, _NEVER).astype(np.float32)
        inverse = np.divide(1, deviation, out=np.zeros_like(deviation), where=varies).astype(np.float32)
        scaled = _scaled_blocks(matrix, baseline, own)
        standing_out = _standing_out(scaled, matrix.shape, limits, inverse)
        lengths = _unit_rows(standing_out)
        projection, smooth = _smoothed(standing_out)
        by_feature = standing_out.tocsc()
        row_type = np.uint16 if len(matrix) <= 1 << 16 else np.uint32
        return cls(
            baseline=baseline,
            gain=gain,
            mean=mean.astype(np.float32),
            limits=limits,
            inverse_deviations=inverse,
            lengths=lengths,
            starts=by_feature.indptr.astype(np.int64),
            rows=by_feature.indices.astype(row_type),
            values=np.rint(by_feature.data * np.float32(_STEPS)).astype(np.uint16),
            projection=projection,
            smooth=smooth,
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def relative(self, vector: NDArray[Any], baseline: float, gain: float, own: int | None) -> Reals:
        """Measure a vector from its baseline; a word's own coordinate says nothing, so it is 0."""
        scaled = (vector.astype(np.float32) - np.float32(baseline)) * np.float32(gain)
        if own is not None:
            scaled[own] = 0
        return scaled

    def unit_row(self, relative: Reals) -> Reals:
        """Keep what stands out of a relative vector, at length 1."""
        features = np.flatnonzero(relative > self.limits)
        excess = (relative[features] - self.limits[features]) * self.inverse_deviations[features]
        values = np.log1p(excess)
        row = np.zeros(len(relative), dtype=np.float32)
        row[features] = values / max(float(np.sqrt((values.astype(np.float64) ** 2).sum())), 1e-30)
        return row

    def shared(self, unit_row: Reals) -> Reals:
        """Multiply a row with those of all words, reading only the features that stand out in it."""
        features = np.flatnonzero(unit_row).astype(np.int32)
        totals = np.zeros(len(self.lengths), dtype=np.float32)
        _native.add_postings(self.starts, self.rows, self.values, features, unit_row[features], totals)
        totals /= _STEPS
        return totals

    def by_word(self) -> Any:
        """All unit rows as a sparse matrix, words x features."""
        from scipy.sparse import csc_matrix

        values = self.values.astype(np.float32) / np.float32(_STEPS)
        parts = (values, self.rows.astype(np.int32), self.starts)
        return csc_matrix(parts, shape=(len(self.lengths), len(self.mean))).tocsr()


def gain_of(baseline: NDArray[Any]) -> Reals:
    """Return 1 / the unit of a row: its baseline, or 100 where that is 0."""
    size = np.abs(baseline.astype(np.float32))
    return (1 / np.where(size > 0, size, np.float32(_USUAL_BASELINE))).astype(np.float32)


def log_ratio(relative: Any, mean: Any) -> Any:
    """Compare how much a machine leans on a feature with what is usual for that feature."""
    return np.log((np.maximum(relative, 0) + FLOOR) / (np.maximum(mean, 0) + FLOOR))


def _moments(matrix: NDArray[Any], own: NDArray[np.int32]) -> tuple[NDArray[Any], ...]:
    """Find the baseline of each row, and the mean and the deviation of each column of scaled rows."""
    baseline = np.empty(len(matrix), dtype=np.int16)
    sums, squares = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    for start, block in row_blocks(matrix):
        part = slice(start, start + len(block))
        _native.row_modes(block, baseline[part])
        _native.ScaledRows(block, baseline[part], gain_of(baseline[part]), own[part]).moments(sums, squares)
    mean = sums / max(1, len(matrix))
    return baseline, mean, np.sqrt(np.maximum(squares / max(1, len(matrix)) - mean**2, 0))


def _scaled_blocks(
    matrix: NDArray[Any], baseline: NDArray[np.int16], own: NDArray[np.int32]
) -> Iterator[tuple[int, _native.ScaledRows]]:
    """Go through the rows, scaled, with the number of rows in each block."""
    for start, block in row_blocks(matrix):
        part = slice(start, start + len(block))
        yield len(block), _native.ScaledRows(block, baseline[part], gain_of(baseline[part]), own[part])


def _standing_out(
    blocks: Iterable[tuple[int, _native.ScaledRows]], shape: tuple[int, ...], limits: Reals, inverse: Reals
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
        scaled.count_above(limits, counts)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        columns = np.empty(starts[-1], dtype=np.int32)
        excesses = np.empty(starts[-1], dtype=np.float32)
        scaled.excess_above(limits, inverse, starts, columns, excesses)
        all_counts.append(counts)
        all_columns.append(columns)
        all_values.append(np.log1p(excesses, out=excesses))
    starts = np.cumsum(np.concatenate(all_counts))
    return csr_matrix((_joined(all_values), _joined(all_columns), starts), shape=shape)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate, without a copy if there is one part (after the empty one)."""
    return parts[1] if len(parts) == 2 else np.concatenate(parts)


def _unit_rows(matrix: Any) -> Reals:
    """Scale the rows of a sparse matrix to length 1 in place, and return their lengths."""
    sums = np.concatenate([[0.0], np.cumsum(matrix.data.astype(np.float64) ** 2)])
    lengths = np.sqrt(np.maximum(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]], 0))
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    matrix.data *= np.repeat(inverse, np.diff(matrix.indptr)).astype(np.float32)
    result: Reals = lengths.astype(np.float32)
    return result


def _smoothed(unit_rows: Any) -> tuple[Reals, Reals]:
    """Rows in the space of the strongest common patterns, and the projection that leads there.

    The patterns come from evenly spread words; singular values count with a small power, so that many
    patterns have a say.
    """
    n_words, n_features = unit_rows.shape
    size = min(N_SMOOTH, n_words // _WORDS_PER_DIMENSION)
    if n_words < FEWEST_WORDS:
        return np.zeros((n_features, 0), np.float32), np.zeros((n_words, 0), np.float32)
    step = -(-n_words // _SMOOTHED_ROWS)
    found = truncated_svd(unit_rows[::step], size)
    usable = found.singular > found.singular[0] * 1e-4
    weights = found.singular[usable] ** np.float32(_SMOOTH_POWER - 1)
    projection = np.ascontiguousarray(found.right[:, usable] * weights, dtype=np.float32)
    smooth = unit_rows @ projection
    lengths = np.linalg.norm(smooth, axis=1, keepdims=True)
    return projection, np.divide(smooth, lengths, out=np.zeros_like(smooth), where=lengths > 0)
