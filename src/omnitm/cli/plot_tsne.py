"""`omnitm plot tsne`: words in groups on a map, and how well the groups separate."""

from __future__ import annotations

import argparse
from pathlib import Path

from omnitm.cli.evaluate_similarity import open_models
from omnitm.cli.options import add_models, option
from omnitm.cli.reports import make_console

EXAMPLE = """\
  omnitm plot tsne news-model -o map.png
words of your own, a line per group such as "animals: dog, cat, horse":
  omnitm plot tsne news-model --groups groups.txt -o map.html
only the figures, of several models:
  omnitm plot tsne news-model other-model"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_models(parser)
    option(parser, "-o --output FILE", ".png, .svg or .html; of several models each has its name added")
    option(
        parser,
        "--groups FILE",
        "words in groups: JSON, 'group: word, word' or 'word<TAB>group' lines (default: 130 words in "
        "the paper's 13 groups)",
    )
    option(parser, "--seed N", "seed of t-SNE", default=42)
    option(parser, "--raw", "compare vectors as they are, as in the paper")
    option(parser, "--json", "print positions and figures as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Lay the words out, draw them, print the figures."""
    from omnitm.evaluation.word_maps import (
        check_ending,
        left_alone,
        load_groups,
        map_words,
        plot_map,
        separation_table,
    )

    output: Path | None = arguments.output
    if output is not None:
        check_ending(output)
    groups = load_groups(arguments.groups)
    models = open_models(arguments.models)
    maps = [
        map_words(vectors, groups, name=name, seed=arguments.seed, raw=arguments.raw)
        for name, vectors in models.items()
    ]
    drawn = []
    for found in maps:
        if output is not None:
            drawn.append(output if len(maps) == 1 else output.with_stem(f"{output.stem}-{found.model}"))
            plot_map(found, drawn[-1])
    if arguments.json:
        print("[" + ",\n".join(found.to_json() for found in maps) + "]")
        return 0
    console = make_console()
    separation_table(maps).show(console)
    for found in maps:
        if found.unknown:
            console.print(f"{found.model} does not know {', '.join(found.unknown)}", markup=False)
        if found.alone:
            console.print(f"{found.model}: {left_alone(found)}", markup=False)
    for path in drawn:
        print(f"the map is drawn in {path}")
    return 0
