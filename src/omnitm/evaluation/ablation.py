"""What matters? Change one thing at a time, train, read out, measure; every configuration is kept on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.engines import ThreadsEngine
from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.datasets import WordPairs
from omnitm.evaluation.results import PlainTable, number
from omnitm.evaluation.similarity import evaluate_similarity
from omnitm.evaluation.word_maps import figure_class
from omnitm.files.plain import keep_result, kept_result
from omnitm.machine import Autoencoder, AutoencoderSettings, word_key
from omnitm.store import index_fingerprint
from omnitm.training import train_vectors
from omnitm.vectors import WordVectors

READ_OUT = "read-out"
METRICS = ("similarity", "association-symmetric")
VERSION = 1

#: The values that are tried for each setting, the others staying as they are.
FACTORS: dict[str, tuple[Any, ...]] = {
    "n_clauses": (8, 16, 32, 64, 128),
    "accumulation": (1, 4, 8, 16, 24, 32, 64),
    "max_included_literals": (1, 3, 8, 32, None),
    "output_balancing": (0.3, 0.5, 0.7, 0.85),
    "specificity": (1.0, 1.5, 2.0, 5.0),
    "threshold": (200, 2_000, 20_000),
    "n_examples": (125, 250, 500, 1_000, 2_000, 8_000),
    "algorithm": ("exact", "fast"),
}
#: Fewer values, for a first look.
QUICK_FACTORS: dict[str, tuple[Any, ...]] = {
    name: tuple(dict.fromkeys((values[0], getattr(AutoencoderSettings(), name), values[-1])))
    for name, values in FACTORS.items()
    if name != "n_examples"
} | {"n_examples": (125, 500, 1_000)}
#: Embeddings made of the same trained states; one training per word serves all of them. `S+` and `S-` are
#: the states of a word's positive and negated literal, N the state from which a literal is included, W a
#: clause's weight.
READ_OUTS = {
    "all literals": "mean of S+ - S- over clauses with W > 0: the paper's, and ours",
    "included only": "the same, but states below N count as 0",
    "positive only": "mean of S+ over clauses with W > 0",
    "negated only": "mean of -S- over clauses with W > 0",
    "weighted": "mean of S+ - S- over clauses with W > 0, weighted by W",
    "all clauses": "mean of S+ - S- over all clauses",
}


@dataclass(frozen=True)
class AblationResult:
    """One configuration and how well it does: mean correlations over the sets, by metric."""

    factor: str
    value: str
    is_default: bool
    spearman: dict[str, float]
    kendall: dict[str, float]


@dataclass(frozen=True)
class Ablation:
    """What an ablation is run on.

    Attributes
    ----------
    folder
        Where configurations are kept; one that is there already is not measured again.
    words
        Words to train: those of the pairs.
    """

    index: DocumentIndex
    words: tuple[str, ...]
    pairs: tuple[WordPairs, ...]
    folder: Path
    settings: AutoencoderSettings = field(default_factory=AutoencoderSettings)
    seed: int = 0
    n_jobs: int = 1

    def run(
        self,
        factors: dict[str, tuple[Any, ...]],
        *,
        read_outs: bool = True,
        on_configuration: Callable[[str], object] | None = None,
    ) -> list[AblationResult]:
        """Measure all configurations; killed runs go on where they were."""
        self.folder.mkdir(parents=True, exist_ok=True)
        results: list[AblationResult] = []
        if read_outs:
            if on_configuration:
                on_configuration("read-outs")
            results.extend(self._read_outs())
        for factor, value in ((name, value) for name, values in factors.items() for value in values):
            if on_configuration:
                on_configuration(f"{factor} = {value}")
            results.append(self._setting(factor, value))
        return results

    def _read_outs(self) -> list[AblationResult]:
        missing = [name for name in READ_OUTS if self._kept(READ_OUT, name) is None]
        if missing:
            found = train_read_outs(
                self.index, self.settings, self.words, read_outs=missing, seed=self.seed, n_jobs=self.n_jobs
            )
            for name, matrix in found.items():
                vectors = WordVectors(matrix, self.words, self.index.vocabulary)
                self._measure(READ_OUT, name, vectors, is_default=name == next(iter(READ_OUTS)))
        kept = (self._kept(READ_OUT, name) for name in READ_OUTS)
        return [result for result in kept if result is not None]

    def _setting(self, factor: str, value: Any) -> AblationResult:
        kept = self._kept(factor, value)
        if kept is not None:
            return kept
        settings = replace(self.settings, **{factor: value})
        vectors = train_vectors(
            self.index, self.words, settings=settings, seed=self.seed, engine=ThreadsEngine(self.n_jobs)
        )
        return self._measure(factor, value, vectors, is_default=settings == self.settings)

    def _measure(self, factor: str, value: Any, vectors: WordVectors, *, is_default: bool) -> AblationResult:
        report = evaluate_similarity({"model": vectors}, self.pairs, metrics=METRICS, n_resamples=0)
        means: dict[str, dict[str, float]] = {"spearman": {}, "kendall": {}}
        for row in report.rows:
            for which, found in means.items():
                values = [getattr(part.agreement, which) for part in row.sets]
                found[row.metric] = float(np.mean([v for v in values if v is not None] or [0.0]))
        result = AblationResult(factor, str(value), is_default, **means)
        keep_result(self._path(factor, value), self._plan(factor, value), asdict(result))
        return result

    def _kept(self, factor: str, value: Any) -> AblationResult | None:
        kept = kept_result(self._path(factor, value), self._plan(factor, value))
        return None if kept is None else AblationResult(**kept)

    def _path(self, factor: str, value: Any) -> Path:
        return self.folder / f"{factor}={value}.json".replace(" ", "-")

    def _plan(self, factor: str, value: Any) -> str:
        """Hash everything that a result depends on."""
        sets = [(p.name, p.first, p.second, p.scores.tolist()) for p in self.pairs]
        facts = [VERSION, asdict(self.settings), factor, str(value), self.seed, self.words, sets]
        return hashlib.sha256(json.dumps([*facts, index_fingerprint(self.index)]).encode()).hexdigest()


def read_out(
    name: str, states: NDArray[np.uint8], weights: NDArray[np.int32], include_from: int
) -> NDArray[np.int16]:
    """Make an embedding from states (clauses x literals) and weights; zeros without clauses."""
    kept = np.ones(len(weights), dtype=bool) if name == "all clauses" else weights > 0
    n_words = states.shape[1] // 2
    if not kept.any():
        return np.zeros(n_words, dtype=np.int16)
    shares = weights[kept].astype(np.int64)
    if name != "weighted":
        shares[:] = 1
    chosen = states[kept].astype(np.float32)
    if name == "included only":
        chosen *= chosen >= include_from
    sums = shares.astype(np.float32) @ chosen
    positive, negated = sums[:n_words], sums[n_words:]
    if name == "positive only":
        negated = np.zeros_like(negated)
    elif name == "negated only":
        positive = np.zeros_like(positive)
    mean = (positive.astype(np.float64) - negated) / int(shares.sum())
    return np.asarray(np.floor(mean), dtype=np.int16)


def train_read_outs(
    index: DocumentIndex,
    settings: AutoencoderSettings,
    words: Sequence[str],
    *,
    read_outs: Sequence[str] = tuple(READ_OUTS),
    seed: int = 0,
    n_jobs: int = 1,
) -> dict[str, NDArray[np.int16]]:
    """Train words once each, and read every embedding out of the same states."""
    matrices = {name: np.empty((len(words), index.n_words), dtype=np.int16) for name in read_outs}

    def work(first: int) -> None:
        machine = Autoencoder(index, settings)
        for row in range(first, len(words), n_jobs):
            target = index.word_id(words[row])
            machine.train(target, word_key(seed, words[row]))
            states, weights = machine.states, machine.weights
            for name, matrix in matrices.items():
                matrix[row] = read_out(name, states, weights, settings.include_from)
                matrix[row, target] = 0  # hidden literals say nothing

    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(work, range(n_jobs)))
    return matrices


def check_factors(names: Sequence[str] | None, *, quick: bool) -> dict[str, tuple[Any, ...]]:
    """Choose factors by name; None: all."""
    known = QUICK_FACTORS if quick else FACTORS
    for name in names or ():
        if name not in known and name != READ_OUT:
            raise ParameterError(f"{name!r} is no factor; choose from {', '.join((READ_OUT, *known))}.")
    return {name: values for name, values in known.items() if names is None or name in names}


def ablation_table(results: Sequence[AblationResult]) -> PlainTable:
    """Make one table of all configurations; the default is marked."""
    header = ["factor", "value", *(f"{m}, {w}" for m in METRICS for w in ("Spearman", "Kendall"))]
    table = PlainTable("Ablation: one thing changed at a time (* default)", header, n_labels=2)
    for result in results:
        mark = " *" if result.is_default else ""
        cells = [
            number(getattr(result, which).get(metric))
            for metric in METRICS
            for which in ("spearman", "kendall")
        ]
        table.rows.append([result.factor, result.value + mark, *cells])
    return table


_COLUMNS = 3  # panels beside each other


def plot_ablation(results: Sequence[AblationResult], path: Path) -> None:
    """Draw quality against every factor, one panel per factor, into a PNG, SVG or PDF file."""
    factors = list(dict.fromkeys(result.factor for result in results))
    n_rows = -(-len(factors) // _COLUMNS)
    figure = figure_class()(figsize=(4.2 * _COLUMNS, 3.2 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, _COLUMNS, squeeze=False, sharey=True).ravel()
    for axis, factor in zip(axes, factors, strict=False):
        _panel(axis, factor, [result for result in results if result.factor == factor])
    for axis in axes[len(factors) :]:
        axis.set_visible(False)
    axes[0].legend(loc="lower left", fontsize="small")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise FileError(path, f"cannot be written: {error}") from None


def _panel(axis: Any, factor: str, results: Sequence[AblationResult]) -> None:
    places = range(len(results))
    for metric in results[0].spearman:
        axis.plot(places, [result.spearman[metric] for result in results], marker="o", label=metric)
    for place, result in enumerate(results):
        if result.is_default:
            axis.axvline(place, color="0.8", zorder=0)
    axis.set_title(factor.replace("_", " "))
    axis.set_xticks(list(places), [result.value for result in results], rotation=20, fontsize="small")
    axis.set_ylabel("mean Spearman")
    axis.grid(axis="y", alpha=0.3)
