"""`omnitm train --model NAME` for the models that are not Omni."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from omnitm.errors import ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from omnitm.corpus import DocumentIndex
    from omnitm.vectors import WordVectors

_ONE_GO = "it is trained in one go"
_ONLY_OMNI = {
    "resume": _ONE_GO,
    "add": _ONE_GO,
    "paper": "the paper's settings are its default",
    "keep_top": "its rows are stored whole",
}


def check_options(arguments: argparse.Namespace) -> None:
    """Refuse options that only the Omni models have."""
    for name, reason in _ONLY_OMNI.items():
        if getattr(arguments, name):
            option = "--" + name.replace("_", "-")
            raise ParameterError(f"{option} is for the Omni models, not for {arguments.model}: {reason}.")


def baseline_settings(arguments: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Collect what was given on the command line: options of the same names, --seed, --threads and --set."""
    given = {name: value for name, value in vars(arguments).items() if name in names}
    if arguments.seed is not None:
        given["seed"] = arguments.seed
    if arguments.threads is not None:
        given["n_jobs"] = arguments.threads
    return {**given, **dict(map(_pair, arguments.set))}


def train_baseline(
    arguments: argparse.Namespace,
    settings: dict[str, Any],
    open_index: Callable[[], DocumentIndex],
    choose_words: Callable[[DocumentIndex], list[str] | None],
) -> WordVectors:
    """Train and save a model; mistakes in its settings come before any work."""
    from omnitm.baselines import make_baseline
    from omnitm.vectors import WordVectors

    baseline = make_baseline(arguments.model, settings)
    index = open_index()
    vectors = baseline.train(index, choose_words(index), progress=not arguments.quiet)
    vectors.save(arguments.output, force=arguments.force)
    return WordVectors.load(arguments.output)


def _pair(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ParameterError(f"--set must be NAME=VALUE, such as --set window=10. Got {text!r}.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
