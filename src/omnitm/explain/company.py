"""The company that a word keeps: coordinates that stand out among those of equally frequent words.

Raw coordinates mostly tell how frequent a feature is: words that training rarely showed all sit on one low
value, and two raw vectors are nearly parallel, whatever they are about. Compared with its peers, the words in
about as many documents, a coordinate says how much this word's machine leans on that feature, and the cosine
of two such vectors is a sum over words that both lean on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_PEERS = 201
STANDS_OUT = 1.5  # deviations


def surplus(row: NDArray[Any], frequencies: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many deviations each coordinate lies above, or below, the median of its peers.

    Peers are the 201 features nearest in frequency, or all features if there are not so many. The deviation
    is the root of the mean square around the median, but at least one step of a state. What does not stand
    out by 1.5 deviations becomes 0, so that the result is sparse; but not where all features are peers.

    Parameters
    ----------
    row
        The vector of a word.
    frequencies
        In how many documents each feature occurs.

    Examples
    --------
    >>> surplus(np.array([-90, -90, -50, -90, -91]), np.array([9, 8, 8, 7, 7])).round(1).tolist()
    [0.0, 0.0, 2.2, 0.0, -0.1]
    """
    from scipy.ndimage import median_filter, uniform_filter1d

    values = row.astype(np.float64)
    if len(values) < N_PEERS:
        centred = values - np.median(values)
        return _in_deviations(centred, np.full(len(values), np.square(centred).mean()))
    order = np.argsort(-frequencies, kind="stable")
    centred = values[order] - median_filter(values[order], N_PEERS, mode="nearest")
    standing = _in_deviations(centred, uniform_filter1d(centred**2, N_PEERS, mode="nearest"))
    standing[np.abs(standing) < STANDS_OUT] = 0.0
    result: NDArray[np.float64] = np.empty(len(standing))
    result[order] = standing
    return result


def _in_deviations(centred: NDArray[np.float64], squares: NDArray[np.float64]) -> NDArray[np.float64]:
    deviations: NDArray[np.float64] = np.maximum(np.sqrt(squares), 1.0)
    return centred / deviations
