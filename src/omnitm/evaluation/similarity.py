"""Score models on word pairs: the same pairs and the same resamples of words for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import ParameterError
from omnitm.evaluation.correlation import (
    Correlations,
    Judgements,
    correlations,
    draw_counts,
    interval,
    pair_weights,
)
from omnitm.evaluation.datasets import PAPER_SETS, WordPairs, load_pairs, spelling
from omnitm.evaluation.results import Agreement, GroupResult, ModelResult, SetResult, SimilarityReport
from omnitm.parameters import check_integer
from omnitm.similarity.scorers import scorer
from omnitm.vectors import WordVectors

DEFAULT = "default"
FREQUENCY_EDGES = (300, 1_000, 3_000, 10_000)  # documents of the rarer word; about half a decade each
_FEWEST_PAIRS = 3  # for a rank correlation at all
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
    models: Mapping[str, WordVectors | list[WordVectors]],
    sets: Iterable[str | Path | WordPairs] = PAPER_SETS,
    *,
    metrics: Sequence[str] | Mapping[str, Sequence[str]] = (DEFAULT,),
    data: str | Path | None = None,
    frequencies: Mapping[str, int] | None = None,
    frequency_edges: Sequence[int] = FREQUENCY_EDGES,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    download: bool = False,
    on_row: Callable[[str], object] | None = None,
) -> SimilarityReport:
    """Correlate the similarities of models with human judgements.

    All models are compared on the pairs that all of them know, and on the same bootstrap resamples: of the
    words of all sets together, see `omnitm.evaluation.correlation`, and of the seeds of a model that has
    several.

    Parameters
    ----------
    models
        Word vectors by name, the first being what the others are compared with. Several vectors under one
        name are trainings from different seeds: their mean is reported.
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
    download
        Whether published sets that are not in `data` may be fetched from the network.
    on_row
        Called with what is scored next.
    """
    if not models:
        raise ParameterError("evaluate_similarity needs at least one model. Got none.")
    check_integer("evaluate_similarity", "n_resamples", n_resamples, 0, 1_000_000)
    trained = {name: _trainings(name, given) for name, given in models.items()}
    loaded = [
        source if isinstance(source, WordPairs) else load_pairs(source, data, download=download)
        for source in sets
    ]
    notes: list[str] = []
    usable = [_common_pairs(pairs, trained, notes) for pairs in loaded]
    usable = [part for part in usable if len(part.kept) >= _FEWEST_PAIRS]
    if not usable:
        names = ", ".join(pairs.name for pairs in loaded) or "no set"
        raise ParameterError(
            f"No set has {_FEWEST_PAIRS} pairs that all models know (looked at {names}); train the words of "
            "the pairs, or leave out the model that lacks them."
        )
    bench = _Bench(
        usable,
        n_resamples=n_resamples,
        confidence=confidence,
        seed=seed,
        frequencies=frequencies,
        edges=frequency_edges,
    )
    by_model = metrics if isinstance(metrics, Mapping) else dict.fromkeys(models, metrics)
    rows: list[_Row] = []
    for number, (name, seeds) in enumerate(trained.items()):
        for metric in _metrics_of(seeds[0], by_model[name]):
            if on_row:
                on_row(f"{name}, {metric}")
            rows.append(bench.row(name, seeds, metric, stream=number + 1))
    if not rows:
        asked = dict.fromkeys(metric for chosen in by_model.values() for metric in chosen)
        raise ParameterError(f"No model has the metric {', '.join(asked)}; leave --metric out.")
    _note_groups(notes, usable, frequencies)
    if n_resamples:
        several = max(len(seeds) for seeds in trained.values()) > 1
        what = "words, since pairs share them, and seeds" if several else "words, since pairs share them"
        resamples = f"{confidence:.0%} intervals: {n_resamples:,} resamples of {what}"
        notes.append(f"{resamples}; differences are paired.")
    results = tuple(replace(row.result, difference=_difference(row, rows[0], confidence)) for row in rows)
    return SimilarityReport(results, n_resamples, confidence, seed, tuple(notes))


def _trainings(name: str, given: WordVectors | list[WordVectors]) -> list[WordVectors]:
    """List the trainings of a model; refuse several that are not the same but for their seed."""
    seeds = list(given) if isinstance(given, list) else [given]
    if not seeds:
        raise ParameterError(f"The model {name!r} has no vectors; give at least one training of it.")
    found = (getattr(vectors, "training", None) for vectors in seeds)  # compact forms have no record
    records = [record for record in found if record is not None]
    for record in records[1:]:
        if record.settings != records[0].settings:
            raise ParameterError(
                f"The trainings of {name!r} have different settings, so they are no seeds of one model; give "
                "them different names."
            )
    if len({record.seed for record in records}) < len(records):
        raise ParameterError(f"Two trainings of {name!r} have the same seed; give each seed once.")
    return seeds


def _metrics_of(vectors: WordVectors, metrics: Sequence[str]) -> list[str]:
    """Metrics that these vectors have, each once."""
    wanted = [vectors.default_metric if metric == DEFAULT else metric for metric in metrics]
    return list(dict.fromkeys(metric for metric in wanted if scorer(metric).problem(vectors) is None))


def _common_pairs(pairs: WordPairs, models: Mapping[str, list[WordVectors]], notes: list[str]) -> _Usable:
    known: list[tuple[int, tuple[str, str]]] = []
    counts = dict.fromkeys(models, 0)
    for number, both in enumerate(zip(pairs.first, pairs.second, strict=True)):
        spelt = {
            name: {tuple(spelling(word, vectors.__contains__) for word in both) for vectors in seeds}
            for name, seeds in models.items()
        }
        for name, found in spelt.items():
            counts[name] += not any(None in words for words in found)
        forms = set().union(*spelt.values())
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


class _Bench:
    """What every row is measured with."""

    def __init__(
        self,
        usable: Sequence[_Usable],
        *,
        n_resamples: int,
        confidence: float,
        seed: int,
        frequencies: Mapping[str, int] | None,
        edges: Sequence[int],
    ) -> None:
        self._usable, self._confidence, self._edges = usable, confidence, edges
        self._n_resamples, self._seed, self._frequencies = n_resamples, seed, frequencies
        words = dict.fromkeys(word for part in usable for both in part.words for word in both)
        places = {word: place for place, word in enumerate(words)}
        # One draw of words for all sets and models, so that differences between models are paired.
        draws = draw_counts(len(words), n_resamples, seed)
        self._exact, self._resampled = [], []
        for part in usable:
            first, second = (np.array([places[both[k]] for both in part.words]) for k in (0, 1))
            self._exact.append(Judgements(part.judged))
            self._resampled.append(Judgements(part.judged, pair_weights(draws, first, second)))

    def row(self, name: str, seeds: Sequence[WordVectors], metric: str, stream: int) -> _Row:
        """Measure a model by one metric; `stream` keeps the draws of its seeds apart from other models'."""
        shares = draw_counts(len(seeds), self._n_resamples, self._seed, stream) / len(seeds)
        sets, exact, resampled, by_seed = [], {}, {}, {}
        for part, once, often in zip(self._usable, self._exact, self._resampled, strict=True):
            scores = [vectors.similarities(part.words, metric=metric) for vectors in seeds]  # type: ignore[arg-type]
            each = [once.correlations(values) for values in scores]
            by_seed[part.pairs.name] = [float(found.spearman[0]) for found in each]
            exact[part.pairs.name] = _mean_of(each)
            resampled[part.pairs.name] = _mean_of([often.correlations(values) for values in scores], shares)
            agreement = _agreement(exact[part.pairs.name], resampled[part.pairs.name], self._confidence)
            groups = _mean_groups([self._groups(part, values) for values in scores])
            sets.append(SetResult(part.pairs.name, len(part.pairs), len(part.kept), agreement, groups))
        mean, average = _mean(exact), _mean(resampled)
        result = ModelResult(
            model=name,
            metric=metric,
            sets=tuple(sets),
            average=_agreement(mean, average, self._confidence) if mean and average else None,
            n_words=len(seeds[0]),
            vector_size=seeds[0].vector_size,
            megabytes=round(seeds[0].nbytes / 1e6, 3),
            n_seeds=len(seeds),
            seed_averages=tuple(np.mean([by_seed[k] for k in PAPER_SETS], axis=0).tolist()) if mean else (),
        )
        return _Row(result, average)

    def _groups(self, part: _Usable, scores: NDArray[np.float64]) -> tuple[GroupResult, ...]:
        kinds = part.pairs.parts_of_speech
        return group_results(
            scores,
            part.judged,
            part.words,
            parts_of_speech=[kinds[k] for k in part.kept.tolist()] if kinds else None,
            frequencies=self._frequencies,
            edges=self._edges,
        )


def _mean_of(found: Sequence[Correlations], shares: NDArray[np.float64] | None = None) -> Correlations:
    """Average the seeds of a model: all alike, or by the share of each in every resample."""
    return Correlations(*(np.average([one[k] for one in found], axis=0, weights=shares) for k in range(2)))


def _mean_groups(found: Sequence[tuple[GroupResult, ...]]) -> tuple[GroupResult, ...]:
    """Average the seeds of a model within each group."""
    groups = []
    for same in zip(*found, strict=True):
        spearman, kendall = (
            [getattr(group.agreement, which) for group in same] for which in ("spearman", "kendall")
        )
        both = [None if None in values else float(np.mean(values)) for values in (spearman, kendall)]
        groups.append(replace(same[0], agreement=Agreement(both[0], both[1])))
    return tuple(groups)


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
        # A pair is known as well as its rarer word.
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
    return GroupResult(kind, name, count, Agreement(_finite(found.spearman[0]), _finite(found.kendall[0])))
