"""`omnitm compare`: how the use of words differs between groups of documents."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.cli.options import add_engine_options, option
from omnitm.cli.reports import make_console, make_table, marked_text, percent, print_json, times, write_text
from omnitm.errors import FileError, ParameterError, TrainingStopped

if TYPE_CHECKING:
    from rich.console import Console

    from omnitm.comparison import Comparison, CorpusComparison, Excerpt, Sides

EXAMPLE = """\
  omnitm compare news.index climate --by source              what a word goes with here and there
  omnitm compare news.index climate --by year --groups 1998 2015
  omnitm compare news.index --by source --top 100 -o change.html     which words differ most: a page
  omnitm compare news.index --by source --top 100 -o change.csv      also: .json
groups are made with the index, or later (omnitm group --help):
  omnitm index news.csv --column text --group source -o news.index
stopped? finished words are kept beside the output, and the same command with --resume compares the rest:
  omnitm compare news.index --by source --top 100 -o change.html --resume"""
_WIDEST = 30  # of a column of features
_ENDINGS = (".html", ".csv", ".json")


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "INDEX", "folder of an index")
    option(parser, "[WORD...]", "words to compare (default: the most frequent ones)", dest="words")
    option(
        parser,
        "--by GROUPS",
        "name of the groups, as `omnitm index --group` or `omnitm group` made them",
        required=True,
    )
    option(
        parser,
        "--groups GROUP...",
        "two groups to compare, or one against all others (default: the only two, or the first and the last)",
    )
    option(parser, "--top N", "without WORD: how many of the words that differ most to show (default: 100)")
    option(
        parser, "--words N", "without WORD: how many frequent words to compare", dest="n_words", default=1000
    )
    option(parser, "-o --output FILE", "write a page (.html), a table (.csv) or .json")
    option(parser, "--permutations N", "how often the groups are shuffled to tell chance", default=2000)
    option(parser, "--examples N", "examples that each machine is trained on", default=250)
    option(parser, "--documents N", "documents to show of each group (default: 2)", default=2)
    option(parser, "--seed N", "seed of all random draws", default=0)
    existing = parser.add_mutually_exclusive_group()
    option(existing, "--resume", "continue a run with -o that was stopped")
    option(existing, "--force", "start such a run again")
    option(parser, "--json", "print JSON")
    option(parser, "--quiet", "no progress bar")
    add_engine_options(parser.add_argument_group("where to compare (docs/engines.md)"))


def run(arguments: argparse.Namespace) -> None:
    """Compare the words, and print or write what was found."""
    from omnitm.comparison import Sides
    from omnitm.corpus import DocumentIndex

    if arguments.output is not None and arguments.output.suffix not in _ENDINGS:
        raise ParameterError(f"-o {arguments.output}: the name must end with {', '.join(_ENDINGS)}.")
    if arguments.output is None and (arguments.resume or arguments.force):
        raise ParameterError("--resume and --force are for a run with -o FILE, beside which words are kept.")
    if arguments.top is not None and arguments.top < 1:
        raise ParameterError(f"--top must be 1 or more. Got {arguments.top} instead.")
    index = DocumentIndex.open(arguments.index)
    sides = Sides(index, arguments.by, arguments.groups)
    if arguments.words and arguments.output is None and arguments.top is None:
        if arguments.engine != "threads":
            raise ParameterError("--engine is for many words: give -o FILE or --top N too, or leave it out.")
        _show_words(sides, arguments)
    else:
        _show_corpora(sides, arguments)


def _show_words(sides: Sides, arguments: argparse.Namespace) -> None:
    from omnitm.comparison import compare

    found = [
        compare(
            sides.index,
            word,
            by=sides,
            n_permutations=arguments.permutations,
            n_examples=arguments.examples,
            n_documents=arguments.documents,
            seed=arguments.seed,
        )
        for word in arguments.words
    ]
    if arguments.json:
        print_json({"words": [comparison.to_dict() for comparison in found]})
        return
    console = make_console()
    for comparison in found:
        _print_word(console, comparison)


def _print_word(console: Console, found: Comparison) -> None:
    from rich.text import Text

    from omnitm.comparison.words import SURE

    n_shuffled = f"{found.n_permutations:,}"
    said = (
        f"Its use differs between the groups: p = {found.p:.2g}"
        if found.p <= SURE
        else f"No difference of its use can be shown: p = {found.p:.2g}"
    )
    some = (
        f"; {found.compared_first:,} and {found.compared_second:,} of them were compared"
        if (found.compared_first, found.compared_second) != (found.n_first, found.n_second)
        else ""
    )
    sides = f"{found.first} ({found.n_first:,} documents) and {found.second} ({found.n_second:,})"
    console.print(Text(f"{found.word} by {found.by}: {sides}", style="bold"), Text(some, end=""), sep="")
    console.print(
        f"{said} (how often as large a difference comes by chance, in {n_shuffled} shufflings of these "
        f"documents). Distance {found.distance:.2f}: 0 is as shuffled groups, 2 the most there can be."
    )
    _print_changes(console, found)
    for name, excerpts in ((found.first, found.documents_first), (found.second, found.documents_second)):
        _print_excerpts(console, name, found.word, excerpts)
    if found.trajectory:
        _print_trajectory(console, found)
    console.print()


def _print_changes(console: Console, found: Comparison) -> None:
    from rich.text import Text

    sides, longest = (found.first, found.second), 0
    for change in (*found.lost, *found.gained):
        longest = max(longest, len(change.phrase(found.word)))
    for side, changes in zip(sides, (found.lost, found.gained), strict=True):
        table = make_table(f"more in {side}", "goes with", *sides, "share", "p")
        table.columns[0].min_width = min(longest, _WIDEST)
        for column in table.columns[1:]:
            column.justify = "right"
        for change in changes:
            cells = (
                f"{percent(count / of)} {times(lift):>7}"
                for count, of, lift in (
                    (change.documents_before, found.compared_first, change.lift_before),
                    (change.documents_after, found.compared_second, change.lift_after),
                )
            )
            p = f"{change.p:.3f}" if change.p >= 0.001 else "<0.001"
            table.add_row(change.phrase(found.word), *cells, percent(change.share), p)
        if changes:
            console.print(table)
        else:
            nothing = "nothing that shuffled groups would not give as well"
            console.print(Text.assemble((f"more in {side}", "bold"), f": {nothing}"))
    if not found.lost and not found.gained:
        return
    console.print(
        f"A word in the same documents, or what stands beside {found.word} (… is any word), surest first. "
        f"Per group: how many of its documents with {found.word} have it, and how many times as many that is "
        f"as of its documents without. share: of the whole difference. p: chance for this row alone.",
        style="dim",
    )


def _print_excerpts(console: Console, name: str, word: str, excerpts: Sequence[Excerpt]) -> None:
    from rich.text import Text

    from omnitm.comparison.words import phrase
    from omnitm.corpus.running import parted

    for excerpt in excerpts:
        feature = parted(excerpt.feature)[1] if " " in excerpt.feature else excerpt.feature
        said = marked_text(excerpt.text, [word, feature] if feature else [word])
        shown = f"{name}, {phrase(excerpt.feature, word)}: " if feature else f"{name}: "
        console.print(Text.assemble((shown, "dim"), said))


def _print_trajectory(console: Console, found: Comparison) -> None:
    from omnitm.comparison.words import phrase

    # Gained and lost by turns, as many as fit; their names are folded between words only.
    widest = max(len(found.by), *(len(step.group) for step in found.trajectory))
    room = console.width - min(widest, _WIDEST) - len("  documents")
    chosen: dict[str, int] = {}
    for pair in zip_longest(found.lost, found.gained):
        for change in filter(None, pair):
            needed = max(map(len, change.phrase(found.word).split()))
            if room >= (needed := max(needed, len("-0.00"))) + 2:
                chosen[change.name] = needed
                room -= needed + 2
    title = "how far each stands out in the word's machines, group by group"
    table = make_table(title, found.by, "documents", *(phrase(name, found.word) for name in chosen))
    for column, least in zip(table.columns[1:], (len("documents"), *chosen.values()), strict=True):
        column.justify, column.min_width = "right", least
    for step in found.trajectory:
        values = [f"{step.profile[name]:.2f}" if step.profile else "-" for name in chosen]
        table.add_row(step.group, f"{step.n_documents:,}", *values)
    console.print(table)
    if not all(step.profile for step in found.trajectory):
        console.print("-: too few documents", style="dim")


def _show_corpora(sides: Sides, arguments: argparse.Namespace) -> None:
    from omnitm.comparison import compare_corpora
    from omnitm.engines import make_engine

    output: Path | None = arguments.output
    engine = make_engine(arguments.engine, arguments.threads, arguments.address, patience=arguments.patience)
    log = None if output is None else _log_of(output, arguments)
    try:
        found = compare_corpora(
            sides.index,
            by=sides,
            words=arguments.words or arguments.n_words,
            n_permutations=arguments.permutations,
            n_examples=arguments.examples,
            seed=arguments.seed,
            engine=engine,
            log=log,
            progress=not arguments.quiet,
        )
    except KeyboardInterrupt as interrupt:
        if log is None:
            raise
        message = f"stopped: finished words are kept in {log}; the rest with the same command and --resume"
        raise TrainingStopped(message) from interrupt
    top = arguments.top or 100
    if output is not None and log is not None:
        _write(output, found, top)
        log.unlink()
    if arguments.json:
        print_json(_facts(found, top))
    else:
        _print_corpora(found, top if output is None else min(top, 20))


def _log_of(output: Path, arguments: argparse.Namespace) -> Path:
    """Return the file that finished words are kept in until the output is written."""
    log = output.with_name(f"{output.name}.words.jsonl")
    if arguments.force:
        log.unlink(missing_ok=True)
    if log.exists() and not arguments.resume:
        problem = "has words of a run that was stopped"
        raise FileError(log, f"{problem}; go on with --resume, or begin again with --force")
    return log


def _facts(found: CorpusComparison, top: int) -> dict[str, object]:
    return {**found.to_dict(), "words": [word.to_dict() for word in found.top(top)]}


def _write(output: Path, found: CorpusComparison, top: int) -> None:
    from omnitm.comparison.corpora import row_of
    from omnitm.files.kinds import refuse_to_replace

    refuse_to_replace(output, "text")
    if output.suffix == ".html":
        text = found.to_html(top)
    elif output.suffix == ".json":
        text = json.dumps(_facts(found, top), ensure_ascii=False, indent=1) + "\n"
    else:
        table = io.StringIO()
        rows = [row_of(word) for word in found.top(top)]
        writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        text = table.getvalue()
    write_text(output, text)


def _print_corpora(found: CorpusComparison, count: int) -> None:
    from omnitm.comparison.words import SURE

    title = f"{found.n_changed:,} of {len(found.words):,} words differ by {found.by} (q <= {SURE})"
    numbers = "p", "q", "distance"
    sides = f"more in {found.first}", f"more in {found.second}"
    table = make_table(f"{title}; the surest first", "word", *numbers, *sides, numbers=numbers)
    for word in found.top(count):
        one = word.comparison
        lost, gained = (
            ", ".join(change.phrase(one.word) for change in changes[:5]) or "-"
            for changes in (one.lost, one.gained)
        )
        table.add_row(one.word, f"{one.p:.2g}", f"{word.q:.2g}", f"{one.distance:.2f}", lost, gained)
    console = make_console()
    console.print(table)
    console.print(
        "p: how often shuffled groups differ as much. q: of the words with this q or less, the share "
        "expected to differ by chance. distance: how far, from 0 (as shuffled groups) to 2. more in: what "
        "the word goes with there, in the same documents or beside it.",
        style="dim",
    )
    if found.n_left_out:
        console.print(f"{found.n_left_out:,} words are in too few documents of a side and were left out")
