"""`omnitm evaluate ablation`: which settings and which parts of the states matter."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from omnitm.cli.options import add_data, option
from omnitm.cli.reports import make_console, working
from omnitm.errors import ParameterError
from omnitm.evaluation.datasets import PAPER_SETS

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex
    from omnitm.evaluation.datasets import WordPairs

EXAMPLE = """\
  omnitm evaluate ablation news-index -o ablation --data wordsim/ --quick
stopped? the same command goes on with the configurations that are missing;
only some factors, on words of your own:
  omnitm evaluate ablation news-index -o ablation --only n_clauses read-out --words words.txt"""
_QUICK_WORDS = 300


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "INDEX", "index of a corpus, made by `omnitm index`")
    option(parser, "-o --output DIR", "folder for results", required=True)
    option(parser, "--words FILE", "words to train, one per line (default: all words of the sets)")
    option(parser, "--sets SET...", "sets of pairs", default=list(PAPER_SETS))
    add_data(parser, download=True)
    option(parser, "--only FACTOR...", "only these settings, or 'read-out'")
    option(parser, "--quick", f"fewer values, at most {_QUICK_WORDS} words")
    option(parser, "--no-plot", "no plot, which needs matplotlib")
    option(parser, "--threads N", "threads to train in (default: one per core)")
    option(parser, "--quiet", "no progress, no table")


def run(arguments: argparse.Namespace) -> None:
    """Measure what is missing, then write table and plot."""
    from omnitm.corpus import DocumentIndex
    from omnitm.engines import ThreadsEngine
    from omnitm.evaluation.ablation import READ_OUT, Ablation, ablation_table, check_factors, plot_ablation
    from omnitm.evaluation.datasets import load_pairs
    from omnitm.evaluation.word_maps import figure_class
    from omnitm.files.kinds import refuse_to_replace

    refuse_to_replace(arguments.output, "folder")
    if not arguments.no_plot:
        figure_class()
    factors = check_factors(arguments.only, quick=arguments.quick)
    index = DocumentIndex.open(arguments.index)
    pairs = [load_pairs(source, arguments.data, download=arguments.download) for source in arguments.sets]
    words = _words(arguments, index, pairs)
    ablation = Ablation(
        index,
        words,
        tuple(pairs),
        arguments.output / "configurations",
        n_jobs=ThreadsEngine(arguments.threads).n_jobs,
    )
    with working(arguments, "reading") as status:
        results = ablation.run(
            factors,
            read_outs=arguments.only is None or READ_OUT in arguments.only,
            on_configuration=lambda text: status.update(f"{text} ({len(words):,} words)"),
        )
    table = ablation_table(results)
    (arguments.output / "ablation.md").write_text(table.to_markdown(), encoding="utf-8")
    content = {
        "version": 1,
        "kind": "omnitm ablation",
        "words": len(words),
        "results": [*map(asdict, results)],
    }
    (arguments.output / "ablation.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if not arguments.no_plot:
        plot_ablation(results, arguments.output / "ablation.png")
    if not arguments.quiet:
        table.show(make_console())


def _words(
    arguments: argparse.Namespace, index: DocumentIndex, pairs: Sequence[WordPairs]
) -> tuple[str, ...]:
    from omnitm.cli.train import read_targets
    from omnitm.evaluation.datasets import spelling

    if arguments.words is not None:
        return tuple(read_targets(arguments.words))
    known = set(index.vocabulary)
    forms = (spelling(word, known.__contains__) for part in pairs for word in part.first + part.second)
    words = sorted({form for form in forms if form is not None}, key=index.word_id)
    if not words:
        raise ParameterError("No word of the pairs is in the index; give --words, or other --sets.")
    if arguments.quick and len(words) > _QUICK_WORDS:
        words = words[:_QUICK_WORDS]  # the most frequent ones, so that many pairs are whole
    return tuple(words)
