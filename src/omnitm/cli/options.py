"""Options of commands, written as their help shows them; and those that several commands have."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

# What the name of a value says about its type; others are texts.
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("N", "K"), int),
    **dict.fromkeys(("X", "SECONDS"), float),
    **dict.fromkeys(("DIR", "FILE", "FOLDER", "INDEX", "MODEL", "PATH"), Path),
}


def option(parser: argparse._ActionsContainer, usage: str, text: str, **more: Any) -> None:
    """Add an option, or an argument without dashes, to a parser or a group of it.

    Parameters
    ----------
    usage
        Names, then what is given: "-o --output FILE", "--sets SET...", "MODEL", "[WORD...]". What is given
        has a type by its name: N and K are whole numbers, X a real one, FILE, FOLDER, INDEX and MODEL paths.
        Without it, and without choices, the option is a switch.
    text
        What help says; a default is added.
    more
        What `argparse` understands; `dest` names an argument, too.
    """
    words = usage.split()
    names = [word for word in words if word.startswith("-")]
    if len(names) < len(words):
        value = words[-1].strip("[.]")
        more = {"metavar": value, "type": _TYPES.get(value, str), **more}
        is_optional, is_repeated = words[-1].startswith("["), "..." in words[-1]
        if is_optional or is_repeated:
            more["nargs"] = "?" if not is_repeated else "*" if is_optional else "+"
        names = names or [more.pop("dest", value.lower())]
    elif "choices" not in more:
        more = {"action": "store_true", **more}
    if isinstance(default := more.get("default"), (str, int, float, Path)) and "default" not in text:
        text += f" (default: {default})"
    parser.add_argument(*names, help=text, **more)


def add_word_options(parser: argparse.ArgumentParser) -> None:
    """Add model, word and what all commands that explain a word understand."""
    option(parser, "MODEL", "folder of a trained model, or a packed model")
    option(parser, "WORD", "a trained word")
    where = "if it was moved and is neither in MODEL nor next to it"
    option(parser, "--index INDEX", f"index that the model was trained from, {where}")
    option(parser, "--documents N", "documents to show for each fact", default=1)
    option(parser, "--json", "print JSON")


def add_models(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the models that are measured."""
    option(parser, "MODEL...", f"folders of trained models, or NAME=FOLDER{more}", dest="models", type=str)


def add_data(parser: argparse.ArgumentParser, holds: str = "the sets", *, download: bool = False) -> None:
    """Add --data, the folder that holds data sets, and whether those that it lacks may be fetched."""
    option(parser, "--data DIR", f"folder with {holds} (default: $OMNITM_DATA)")
    if download:
        option(parser, "--download", f"fetch {holds} that DIR does not have from the network")


def add_fields(parser: argparse.ArgumentParser) -> None:
    """Add the names of fields of files with documents."""
    for name in ("text", "label"):
        option(parser, f"--{name}-field NAME", f"field of a file that holds the {name}", default=name)


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add --format, -o and --quiet."""
    forms = ("table", "markdown", "json", "csv")
    option(
        parser, "--format", "form of the output (default: by the ending of FILE, else a table)", choices=forms
    )
    option(parser, "-o --output FILE", "write to this file instead of the screen")
    option(parser, "--quiet", "no progress on standard error")


def add_engine_options(group: argparse._ArgumentGroup) -> None:
    """Add options that say where words are trained, or compared."""
    from omnitm.engines import ENGINES

    option(
        group,
        "--engine",
        "work in threads of this process (default), in processes that are replaced when they die, or "
        "on a Ray cluster; the result is the same",
        choices=ENGINES,
        default="threads",
    )
    option(group, "--threads --workers N", "number of threads or worker processes (default: one per core)")
    option(
        group,
        "--address HOST:PORT",
        "with --engine ray: use this running cluster, or 'auto' (default: start one here)",
    )
    slow = "replace a worker process that has finished no word for so long"
    option(group, "--patience SECONDS", f"{slow} (default: more than ten minutes)")
