"""`omnitm plot`: maps of groups of words, and the states of a clause."""

from __future__ import annotations

import argparse
from pathlib import Path

from omnitm.cli.evaluate import open_models
from omnitm.cli.options import add_models, option
from omnitm.cli.reports import make_console
from omnitm.errors import ParameterError
from omnitm.parameters import check_integer

EXAMPLES = {
    "tsne": """\
  omnitm plot tsne news-model -o map.png
words of your own, a line per group such as "animals: dog, cat, horse":
  omnitm plot tsne news-model --groups groups.txt -o map.html
only the figures, of several models:
  omnitm plot tsne news-model other-model""",
    "clause": """\
  omnitm plot clause news-model happy -o clause.png
  omnitm plot clause news-model happy --clause 4 --name sad angry rich -o clause.svg""",
}


def fill_tsne(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm plot tsne`."""
    add_models(parser)
    option(
        parser,
        "-o --output FILE",
        "picture to write: .png, .svg or .html; of several models, each file has the name of its model added",
    )
    option(
        parser,
        "--groups FILE",
        "groups of words: JSON, or lines 'group: word, word' or 'word<TAB>group' (default: 130 words in "
        "the paper's 13 groups)",
    )
    option(parser, "--seed N", "seed of t-SNE", default=42)
    option(parser, "--raw", "use the vectors as they are, as the paper does")
    option(parser, "--json", "print positions and figures as JSON")


def run_tsne(arguments: argparse.Namespace) -> None:
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
        return
    console = make_console()
    separation_table(maps).show(console)
    for found in maps:
        if found.unknown:
            console.print(f"{found.model} does not know {', '.join(found.unknown)}")
        if found.alone:
            console.print(f"{found.model}: {left_alone(found)}")
    for path in drawn:
        print(f"the map is drawn in {path}")


def fill_clause(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm plot clause`."""
    option(parser, "MODEL", "folder of a trained model")
    option(parser, "WORD", "a trained word")
    option(parser, "-o --output FILE", "picture to write: .png, .svg or .pdf", default=Path("clause.png"))
    option(
        parser,
        "--clause NUMBER",
        "number of the clause (default: the positive one whose words have the highest states)",
        type=int,
    )
    option(parser, "--index INDEX", "index that the model was trained from, if it was moved")
    option(parser, "--name WORD...", "words to name in the picture", dest="named", default=[])
    option(parser, "-n N", "without --name: number of literals to name", dest="count", default=12)


def run_clause(arguments: argparse.Namespace) -> None:
    """Train the word again and draw one of its clauses."""
    from omnitm.explain import Explainer
    from omnitm.explain.plots import check_picture, plot_clause

    check_picture(arguments.output)
    check_integer("plot clause", "-n", arguments.count, 0)
    explainer = Explainer.open(arguments.model, arguments.index)
    for word in arguments.named:
        explainer.vectors.feature_index(word)
    number = arguments.clause
    if number is None:
        number = explainer.machines[arguments.word].telling_clause
    if number is None:
        raise ParameterError(
            f"{arguments.word!r} has no clause with a positive weight; name one with --clause."
        )
    clause = explainer.clause(arguments.word, number)
    features = explainer.vectors.feature_names
    plot_clause(clause, features, arguments.output, named=arguments.named, n_named=arguments.count)
    print(f"clause {number} of {arguments.word!r} (weight {clause.weight}) is drawn in {arguments.output}")
