"""`omnitm evaluate interpretability`: what dimensions and first words of models are worth to a reader."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.cli.options import option
from omnitm.cli.reports import make_console, make_table, print_json
from omnitm.errors import ParameterError

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex
    from omnitm.evaluation.interpretability import Interpretability, Readout
    from omnitm.vectors import WordVectors

EXAMPLE = """\
  omnitm evaluate interpretability news-model word2vec-model --index held-out-index
with a sparse baseline made from the index that news-model was trained from:
  omnitm evaluate interpretability news-model --index held-out-index --nmf 50"""
_WORDS_AGAIN = 50  # trained with another seed


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "MODEL...", "folders of trained models", dest="models")
    option(
        parser,
        "--index HELD_OUT",
        "index of documents that the models were not trained on",
        type=Path,
        required=True,
    )
    option(parser, "--vocabulary N", "look at the N words that most held-out documents have", default=5000)
    option(parser, "--words N", "number of words to measure, drawn at random", default=500)
    option(parser, "--dimensions N", "number of dimensions to measure", default=200)
    option(
        parser, "--nmf N", "add a row for NMF of PPMI with N components, made from the first model's index"
    )
    option(parser, "--trained-on INDEX", "index that the models were trained from, if it was moved")
    option(parser, "--themes K", "add a row for the K themes of every model that has themes")
    option(parser, "--data DIR", "folder with SEMCAT, to add a score by categories")
    option(parser, "--seed N", "seed of all random draws", default=0)
    option(parser, "--json", "print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Measure all models on the same words and documents."""
    results = measure_all(arguments)
    if arguments.json:
        print_json([result.to_dict() for result in results])
    else:
        print_results(results)


def measure_all(arguments: argparse.Namespace) -> list[Interpretability]:
    """Read every model out and measure it."""
    from omnitm.corpus import DocumentIndex
    from omnitm.evaluation.categories import load_categories
    from omnitm.evaluation.interpretability import (
        Coherence,
        choose_words,
        measure_interpretability,
        nmf_of_ppmi,
        read_out,
        read_out_themes,
    )
    from omnitm.vectors import WordVectors

    for name in ("vocabulary", "words"):
        if getattr(arguments, name) < 20:
            raise ParameterError(f"--{name} must be at least 20. Got {getattr(arguments, name)} instead.")
    held_out = DocumentIndex.open(arguments.index)
    models = [WordVectors.load(path) for path in arguments.models]
    words = choose_words(models, held_out, arguments.vocabulary)
    coherence = Coherence(held_out, words)
    options: dict[str, Any] = {
        "n_dimensions": arguments.dimensions,
        "n_words": arguments.words,
        "seed": arguments.seed,
    }
    if arguments.data is not None:
        options["categories"] = load_categories("SEMCAT", arguments.data).members
    results = []
    for path, vectors in zip(arguments.models, models, strict=True):
        again = trained_again(path, vectors, words, arguments.trained_on)
        readout = read_out(path.name, vectors, words)
        results.append(measure_interpretability(readout, coherence, again=again, **options))
        if arguments.themes is not None and vectors.has_profiles:
            themes = read_out_themes(path.name, vectors, words, arguments.themes)
            again = _themes_again(path, words, arguments.themes)
            results.append(measure_interpretability(themes, coherence, again=again, **options))
    if arguments.nmf is not None:
        corpus = _index_for_nmf(arguments.models[0], words, arguments.trained_on)
        first, second = (nmf_of_ppmi(corpus, words, arguments.nmf, seed) for seed in (0, 1))
        results.append(measure_interpretability(first, coherence, again=second, **options))
    return results


def trained_again(
    path: Path, vectors: WordVectors, words: Sequence[str], trained_on: Path | None = None
) -> Readout | None:
    """Find the same model with another seed: a folder `NAME-seed1` beside it, or some words trained again.

    None where neither can be had: the index is gone, or the model is not one of ours.
    """
    from dataclasses import replace

    from omnitm.evaluation.interpretability import read_out, read_out_again
    from omnitm.store import TrainingRecord
    from omnitm.store.model_notes import index_of_model
    from omnitm.training import train_vectors
    from omnitm.vectors import WordVectors as Vectors

    other = path.with_name(f"{path.name}-seed1")
    if other.is_dir():
        vectors = Vectors.load(other)
        return read_out(other.name, vectors, [word for word in words if word in vectors])
    record, index = vectors.training, index_of_model(path, trained_on)
    if index is None or not isinstance(record, TrainingRecord):
        return None
    again = replace(record, seed=record.seed + 1)
    chosen = words[:: max(len(words) // _WORDS_AGAIN, 1)][:_WORDS_AGAIN]
    return read_out_again(vectors, train_vectors(index, chosen, settings=again.settings, seed=again.seed))


def _themes_again(path: Path, words: Sequence[str], k: int) -> Readout | None:
    """Read the themes of the same model with another seed: a folder `NAME-seed1` with all words."""
    from omnitm.evaluation.interpretability import read_out_themes
    from omnitm.vectors import WordVectors as Vectors

    other = path.with_name(f"{path.name}-seed1")
    vectors = Vectors.load(other) if other.is_dir() else None
    if vectors is None or not all(word in vectors for word in words):
        return None
    return read_out_themes(other.name, vectors, words, k)


def _index_for_nmf(model: Path, words: list[str], trained_on: Path | None) -> DocumentIndex:
    from omnitm.store.model_notes import index_of_model

    index = index_of_model(model, trained_on)
    if index is None or not set(words) <= set(index.vocabulary):
        raise ParameterError(
            f"--nmf needs the index that {model} was trained from; name it with --trained-on."
        )
    return index


def print_results(results: list[Interpretability]) -> None:
    """Print one table, a line per model."""
    from omnitm.evaluation.results import number

    faithful = "left -10 top", "left -10 random"
    numbers = (
        "dimensions",
        "used",
        "NPMI dims",
        "NPMI words",
        "NPMI near",
        "intruders",
        "categories",
        "zeros",
        *faithful,
        "stable",
        "stable dims",
    )
    table = make_table("Interpretability on held-out documents", "model", *numbers, numbers=numbers)
    for result in results:
        left = next((step for step in result.faithfulness if step.removed == 10), None)
        shares = (left.left_without_top, left.left_without_random) if left else (None, None)
        table.add_row(
            result.name,
            f"{result.n_dimensions:,}",
            f"{result.n_used:,}",
            *map(number, coherences(result)),
            *(_share(value) for value in (result.intruders_found, result.category_score, result.zeros)),
            *(_share(value) for value in (*shares, result.stability, result.dimension_stability)),
        )
    console = make_console()
    console.print(table)
    console.print(
        "NPMI: mean of the ten first words of a dimension, of a word, and of its nearest words; intruders: "
        "found among five first words (by chance 17 %); categories: of SEMCAT, "
        "held together; left: of the cosine of near words without ten "
        "coordinates; stable: first words of words and of dimensions that another seed gives as well",
        style="dim",
    )


def coherences(result: Interpretability) -> tuple[float | None, float | None, float | None]:
    """Three kinds of first words: of dimensions, of words, and nearest ones."""
    return result.dimension_coherence, result.word_coherence, result.neighbour_coherence


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
