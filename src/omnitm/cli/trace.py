"""`omnitm trace`: how a literal's state moved while a word was trained, and which documents moved it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from omnitm.cli.options import add_word_options, option
from omnitm.cli.reports import make_console, make_table, print_document, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from omnitm.explain import Trace

EXAMPLE = """\
  omnitm trace news-model driving vehicle --plot vehicle.png
  omnitm trace news-model driving film --negated             # "film does not occur"
  omnitm trace news-model driving vehicle --json --clauses   # every state of every clause
what a clause, a literal and a state are: docs/how-it-works.md#terms"""
_STAGES = 10


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_word_options(parser)
    option(parser, "LITERAL", 'word of the vocabulary: follow "LITERAL occurs"')
    option(parser, "--negated", 'follow "LITERAL does not occur"')
    option(parser, "-n N", "examples up and down", dest="count", default=5)
    option(parser, "--clauses", "with --json: every state of every clause")
    option(parser, "--plot FILE", "draw it as well: .png, .svg or .pdf", type=str)


def run(arguments: argparse.Namespace) -> None:
    """Train the word once more and follow the literal."""
    from omnitm.explain import Explainer

    explainer = Explainer.open(arguments.model, arguments.index)
    trace = explainer.trace(
        arguments.word,
        arguments.literal,
        negated=arguments.negated,
        n_events=arguments.count,
        n_documents=arguments.documents,
    )
    if arguments.plot:
        from omnitm.explain.plots import plot_trace

        plot_trace(trace, arguments.plot)
    if arguments.json:
        print_json(trace.to_dict(clauses=arguments.clauses))
        return
    console = make_console()
    print_trace(console, trace)
    if arguments.plot:
        console.print(f"\nThe picture is in {arguments.plot}", markup=False)


def print_trace(console: Console, trace: Trace) -> None:
    """Print the course of the mean state, and the examples that moved it most."""
    name = f"NOT {trace.literal}" if trace.negated else trace.literal
    counts = trace.feedback_counts()
    told = ", ".join(f"{count:,} times to {kind}" for kind, count in counts.items())
    console.print(
        f"{name} in the {len(trace.positive)} positive clauses of {trace.word}: mean state "
        f"{trace.mean[-1]:.1f} after {trace.n_examples:,} examples (included from {trace.include_from}); "
        f"the clauses were told {told}.\n"
        f"Coordinate of {trace.literal} in the vector of {trace.word}: {trace.coordinate}\n",
        markup=False,
    )
    _print_course(console, trace)
    _print_events(console, trace)


def _print_course(console: Console, trace: Trace) -> None:
    import numpy as np

    numbers = ("after example", "mean state", "of the negation", "rewarded", "penalised")
    table = make_table("Course", *numbers, numbers=numbers)
    ends = np.unique(np.linspace(0, trace.n_examples, min(_STAGES, trace.n_examples) + 1).astype(int))
    for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        rewarded, penalised = trace.rewarded[start:end].sum(), trace.penalised[start:end].sum()
        means = f"{trace.mean[end - 1]:.1f}", f"{trace.opposite_mean[end - 1]:.1f}"
        table.add_row(f"{end:,}", *means, f"{rewarded:,}", f"{penalised:,}")
    console.print(table)


def _print_events(console: Console, trace: Trace) -> None:
    for title, events in (("Moved it up most", trace.rewards), ("Moved it down most", trace.penalties)):
        numbers = ("example", "documents with it", "rewarded", "penalised", "change")
        table = make_table(f"\n{title}", "example", "shows", *numbers[1:], numbers=numbers)
        for event in events:
            counts = str(event.n_carriers), str(event.rewarded), str(event.penalised)
            shows = trace.word if event.label else f"no {trace.word}"
            table.add_row(f"{event.example + 1:,}", shows, *counts, f"{event.gain:+.2f}")
        console.print(table)
        for event in events[:3]:
            for document in event.documents:
                name = f"example {event.example + 1:,}:"
                print_document(console, name, document, [trace.literal, trace.word])
