"""Score models on word pairs: the same pairs and the same resamples for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from omnitm.errors import ParameterError
from omnitm.evaluation.correlation import Correlations, correlations, interval, resamples
from omnitm.evaluation.datasets import PAPER_SETS
from omnitm.evaluation.pairs import WordPairs, load_pairs, spelling
from omnitm.evaluation.results import Agreement, GroupResult, ModelResult, SetResult, SimilarityReport
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from omnitm.vectors import WordVectors

DEFAULT = "default"
FREQUENCY_EDGES = (300, 1_000, 3_000, 10_000)
_FEWEST_PAIRS = 3
_FEWEST_PAIRS_OF_A_GROUP = 10  # a correlation of fewer pairs says nothing


@dataclass(frozen=True)
class _Usable:
    """The pairs of a set that all models know, as the models spell them."""

    pairs: WordPairs
    kept: NDArray[np.intp]
    words: list[tuple[str, str]]

    @property
    def judged(self) -> NDArray[np.float64]:
        return self.pairs.scores[self.kept]


def evaluate_similarity(
    models: Mapping[str, WordVectors],
    sets: Iterable[str | Path | WordPairs] = PAPER_SETS,
    *,
    metrics: Sequence[str] | Mapping[str, Sequence[str]] = (DEFAULT,),
    data: str | Path | None = None,
    frequencies: Mapping[str, int] | None = None,
    frequency_edges: Sequence[int] = FREQUENCY_EDGES,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    download: bool = True,
    on_row: Callable[[str], object] | None = None,
) -> SimilarityReport:
    """Correlate the similarities of models with human judgements.

    All models are compared on the pairs that all of them know, and on the same bootstrap resamples.

    Parameters
    ----------
    models
        Word vectors by name, the first being what the others are compared with.
    sets
        Names of published sets, files of pairs, or pairs.
    metrics
        Metrics of `WordVectors`, for all models or by the name of the model; "default" is each model's own.
        One that a model does not have is left out for that model.
    data
        Folder with the published sets; None: the folder named by OMNITM_DATA.
    frequencies
        Documents per word; gives results by frequency of a pair's rarer word.
    frequency_edges
        Where frequency bands begin.
    n_resamples, confidence, seed
        Of the bootstrap; 0 resamples: no confidence intervals.
    on_row
        Called with what is scored next.
    """
    if not models:
        raise ParameterError("evaluate_similarity needs at least one model. Got none.")
    check_integer("evaluate_similarity", "n_resamples", n_resamples, 0, 1_000_000)
    loaded = [_as_pairs(source, data, download) for source in sets]
    notes: list[str] = []
    usable = [_common_pairs(pairs, models, notes) for pairs in loaded]
    usable = [part for part in usable if len(part.kept) >= _FEWEST_PAIRS]
    if not usable:
        names = ", ".join(pairs.name for pairs in loaded) or "no set"
        raise ParameterError(
            f"No set has {_FEWEST_PAIRS} pairs that all models know (looked at {names}); train the words of "
            "the pairs, or leave out the model that lacks them."
        )
    weights = [resamples(len(part.kept), n_resamples, seed) for part in usable]
    bench = _Bench(usable, weights, confidence, frequencies, frequency_edges)
    by_model = metrics if isinstance(metrics, Mapping) else dict.fromkeys(models, metrics)
    rows: list[_Row] = []
    for name, vectors in models.items():
        for metric in _metrics_of(vectors, by_model[name]):
            if on_row:
                on_row(f"{name}, {metric}")
            rows.append(bench.row(name, vectors, metric))
    if not rows:
        asked = dict.fromkeys(metric for chosen in by_model.values() for metric in chosen)
        raise ParameterError(f"No model has the metric {', '.join(asked)}; leave --metric out.")
    _note_groups(notes, usable, frequencies)
    results = tuple(replace(row.result, difference=_difference(row, rows[0], confidence)) for row in rows)
    return SimilarityReport(results, n_resamples, confidence, seed, tuple(notes))


def pair_scores(
    vectors: WordVectors, words: Sequence[tuple[str, str]], metric: str | None = None
) -> NDArray[np.float64]:
    """Score pairs of words; None: by the vectors' own metric."""
    return np.array([vectors.similarity(first, second, metric=metric) for first, second in words])  # type: ignore[arg-type]


def _as_pairs(source: Any, data: str | Path | None, download: bool) -> WordPairs:
    return source if isinstance(source, WordPairs) else load_pairs(source, data, download=download)


def _metrics_of(vectors: WordVectors, metrics: Sequence[str]) -> list[str]:
    """Metrics that these vectors have, each once."""
    wanted = [vectors.default_metric if metric == DEFAULT else metric for metric in metrics]
    return list(dict.fromkeys(metric for metric in wanted if _has_metric(vectors, metric)))


def _has_metric(vectors: WordVectors, metric: str) -> bool:
    if metric == "similarity":
        return vectors.has_likeness
    return metric == "cosine" or vectors.has_named_features


def _common_pairs(pairs: WordPairs, models: Mapping[str, WordVectors], notes: list[str]) -> _Usable:
    known: list[tuple[int, tuple[str, str]]] = []
    counts = dict.fromkeys(models, 0)
    for number, both in enumerate(zip(pairs.first, pairs.second, strict=True)):
        spelt = {
            name: tuple(spelling(word, vectors.__contains__) for word in both)
            for name, vectors in models.items()
        }
        for name, words in spelt.items():
            counts[name] += None not in words
        forms = set(spelt.values())
        if len(forms) == 1 and None not in (form := forms.pop()):
            known.append((number, form))  # type: ignore[arg-type]
    if len(set(counts.values())) > 1 or len(known) < min(counts.values()):
        each = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        notes.append(
            f"{pairs.name}: models know different words ({each} of {len(pairs):,} pairs); "
            f"all are compared on the {len(known):,} common pairs."
        )
    if len(known) < _FEWEST_PAIRS:
        notes.append(
            f"{pairs.name}: left out, only {len(known)} of its {len(pairs):,} pairs are in the vocabulary."
        )
    kept = np.array([number for number, _ in known], dtype=np.intp)
    return _Usable(pairs, kept, [form for _, form in known])


@dataclass(frozen=True)
class _Row:
    result: ModelResult
    average: Correlations | None
    """The average over the paper's sets in every resample, if there is one."""


@dataclass(frozen=True)
class _Bench:
    """What every row is measured with."""

    usable: Sequence[_Usable]
    weights: Sequence[NDArray[np.float32]]
    confidence: float
    frequencies: Mapping[str, int] | None
    edges: Sequence[int]

    def row(self, name: str, vectors: WordVectors, metric: str) -> _Row:
        sets, resampled, exact = [], {}, {}
        for part, weight in zip(self.usable, self.weights, strict=True):
            scores = pair_scores(vectors, part.words, metric)
            exact[part.pairs.name] = correlations(scores, part.judged)
            resampled[part.pairs.name] = correlations(scores, part.judged, weight)
            agreement = _agreement(exact[part.pairs.name], resampled[part.pairs.name], self.confidence)
            groups = self._groups(part, scores)
            sets.append(SetResult(part.pairs.name, len(part.pairs), len(part.kept), agreement, groups))
        mean, average = _mean(exact), _mean(resampled)
        result = ModelResult(
            model=name,
            metric=metric,
            sets=tuple(sets),
            average=_agreement(mean, average, self.confidence) if mean and average else None,
            n_words=len(vectors),
            vector_size=vectors.vector_size,
            megabytes=round(vectors.nbytes / 1e6, 3),
        )
        return _Row(result, average)

    def _groups(self, part: _Usable, scores: NDArray[np.float64]) -> tuple[GroupResult, ...]:
        kinds = part.pairs.parts_of_speech
        return group_results(
            scores,
            part.judged,
            part.words,
            parts_of_speech=[kinds[k] for k in part.kept.tolist()] if kinds else None,
            frequencies=self.frequencies,
            edges=self.edges,
        )


def _mean(found: Mapping[str, Correlations]) -> Correlations | None:
    """Average over the paper's sets; None unless all five are there."""
    if not set(PAPER_SETS) <= set(found):
        return None
    parts = [found[name] for name in PAPER_SETS]
    return Correlations(*(np.mean([part[k] for part in parts], axis=0) for k in range(2)))


def _agreement(exact: Correlations, resampled: Correlations, confidence: float) -> Agreement:
    return Agreement(
        _finite(exact.spearman[0]),
        _finite(exact.kendall[0]),
        interval(resampled.spearman, confidence),
        interval(resampled.kendall, confidence),
    )


def _difference(row: _Row, first: _Row, confidence: float) -> Agreement | None:
    own, other = row.result.average, first.result.average
    if row is first or own is None or other is None or row.average is None or first.average is None:
        return None
    return Agreement(
        _minus(own.spearman, other.spearman),
        _minus(own.kendall, other.kendall),
        interval(row.average.spearman - first.average.spearman, confidence),
        interval(row.average.kendall - first.average.kendall, confidence),
    )


def _minus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _note_groups(notes: list[str], usable: Sequence[_Usable], frequencies: Mapping[str, int] | None) -> None:
    without = [part.pairs.name for part in usable if part.pairs.parts_of_speech is None]
    if "SimLex-999" in without:
        notes.append(
            "SimLex-999: this copy has no column with parts of speech (the original SimLex-999.txt has), "
            "so there are no results by part of speech."
        )
    if frequencies is None:
        notes.append("No results by frequency band: give the index (--index) to get them.")


def group_results(
    scores: NDArray[np.float64],
    judged: NDArray[np.float64],
    words: Sequence[tuple[str, str]],
    *,
    parts_of_speech: Sequence[str] | None = None,
    frequencies: Mapping[str, int] | None = None,
    edges: Sequence[int] = FREQUENCY_EDGES,
) -> tuple[GroupResult, ...]:
    """Correlate within groups of pairs; small groups are named, but have no correlation."""
    groups: list[GroupResult] = []
    if frequencies is not None:
        rarer = np.array([min(frequencies.get(a, 0), frequencies.get(b, 0)) for a, b in words])
        bands = np.searchsorted(np.asarray(edges), rarer, side="right")
        names = band_names(edges)
        groups.extend(
            _group("frequency", name, scores, judged, bands == number) for number, name in enumerate(names)
        )
    if parts_of_speech is not None:
        kinds = np.asarray(parts_of_speech)
        groups.extend(
            _group("part of speech", kind, scores, judged, kinds == kind)
            for kind in sorted(set(kinds.tolist()))
        )
    return tuple(group for group in groups if group.n_used)


def band_names(edges: Sequence[int]) -> list[str]:
    """Name frequency bands by the documents that the rarer word is in.

    >>> band_names([300, 1000])
    ['under 300', '300 to 999', '1,000 and more']
    """
    if not edges:
        return ["all"]
    middle = [f"{low:,} to {high - 1:,}" for low, high in pairwise(edges)]
    return [f"under {edges[0]:,}", *middle, f"{edges[-1]:,} and more"]


def _group(
    kind: Literal["frequency", "part of speech"],
    name: str,
    scores: NDArray[np.float64],
    judged: NDArray[np.float64],
    member: NDArray[np.bool_],
) -> GroupResult:
    count = int(member.sum())
    if count < _FEWEST_PAIRS_OF_A_GROUP:
        return GroupResult(kind, name, count, Agreement(None, None))
    found = correlations(scores[member], judged[member])
    spearman, kendall = (float(value[0]) if np.isfinite(value[0]) else None for value in found)
    return GroupResult(kind, name, count, Agreement(spearman, kendall))
