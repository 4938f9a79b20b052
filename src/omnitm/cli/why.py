"""`omnitm why`: what the similarity of two words is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omnitm.cli.reports import (
    add_common_options,
    make_console,
    make_table,
    open_explainer,
    print_document,
    print_json,
    times,
)

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

    from omnitm.explain import Comparison, Contribution, Together

EXAMPLE = """\
  omnitm why news-model driving road
  omnitm why news-model driving road --metric association     # by clauses
  omnitm why news-model driving road --through vehicle
  omnitm why news-model driving road -n 20 --json"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_common_options(parser)
    parser.add_argument("word", metavar="WORD", help="a trained word")
    parser.add_argument("other", metavar="OTHER", help="another one")
    parser.add_argument(
        "-n", metavar="N", dest="count", type=int, default=10, help="words for and against (default: 10)"
    )
    parser.add_argument("--through", metavar="WORD", nargs="+", default=(), help="show these words as well")
    parser.add_argument(
        "--metric",
        help="similarity (default from 100 words on), related, alike: by words and places; "
        "association or association-symmetric: by clauses; cosine: of the raw vectors",
    )


def run(arguments: argparse.Namespace) -> int:
    """Take the score apart."""
    explainer = open_explainer(arguments)
    comparison = explainer.why(
        arguments.word,
        arguments.other,
        metric=arguments.metric,
        n=arguments.count,
        n_documents=arguments.documents,
        through=arguments.through,
    )
    if arguments.json:
        print_json(comparison.to_dict())
    else:
        print_comparison(make_console(), comparison, arguments.count)
    return 0


def print_comparison(console: Console, comparison: Comparison, count: int) -> None:
    """Print score, shares and evidence."""
    _print_sum(console, comparison)
    if comparison.clauses:
        _print_clauses(console, comparison, count)
    _print_shares(console, comparison, "Words for", comparison.contributions_for)
    if comparison.contributions_against:
        _print_shares(console, comparison, "\nWords against", comparison.contributions_against)
    _print_shares(console, comparison, "\nAsked about", comparison.contributions_asked)
    if comparison.together is not None:
        _print_together(console, comparison.together)
    for contribution in comparison.contributions_asked or comparison.contributions_for[:3]:
        for found in (contribution.with_first, contribution.with_second):
            for document in found.documents if found else ():
                name = f"{found.first} + {found.second}:" if found else ""
                print_document(
                    console, name, document, [contribution.feature, comparison.word, comparison.other]
                )


def _print_sum(console: Console, comparison: Comparison) -> None:
    parts = [f"{comparison.total_for:.4g} for"]
    if comparison.total_against:
        parts.append(f"- {-comparison.total_against:.4g} against")
    if comparison.rounding:
        parts.append(f"- {-comparison.rounding:.4g} rounded off")
    kind = "clauses" if comparison.clauses else "words"
    console.print(
        f"{comparison.metric} of {comparison.word} and {comparison.other}: {comparison.score:.4g} = "
        f"{' '.join(parts)} ({comparison.n_for:,} {kind} for, {comparison.n_against:,} against)",
        markup=False,
    )
    if comparison.parts:
        named = " + ".join(f"{value:.4g} {name}" for name, value in comparison.parts.items())
        console.print(f"or by parts: {comparison.score:.4g} = {named}", markup=False)
    for word, forms in comparison.forms.items():
        if forms:
            console.print(f"{word} with its forms: {', '.join(forms)}", markup=False)
    console.print()


def _print_shares(
    console: Console, comparison: Comparison, title: str, contributions: tuple[Contribution, ...]
) -> None:
    from rich.text import Text

    if not contributions:
        return
    first, second = comparison.word, comparison.other
    numbers = ["share", f"in {first}", f"in {second}"]
    if contributions[0].with_first is not None:
        numbers += [f"+ {first}", "lift", f"+ {second}", "lift "]
    table = make_table(title, "word", *numbers, numbers=numbers)
    for part in contributions:
        evidence = [*_evidence(part.with_first), *_evidence(part.with_second)]
        values = f"{part.first_value:.1f}", f"{part.second_value:.1f}"
        table.add_row(Text(part.feature), _share(part.share, comparison.score), *values, *evidence)
    console.print(table)


def _share(share: float, score: float) -> str:
    return f"{share / score:+.1%}" if score else f"{share:+.4f}"


def _evidence(found: Together | None) -> list[str]:
    return [] if found is None else [f"{found.count:,}", times(found.lift)]


def _print_clauses(console: Console, comparison: Comparison, count: int) -> None:
    from rich.text import Text

    numbers = ("clause", "weight", "occurs", "does not", "share")
    table = make_table(
        "Clauses: states of the other word's two literals", "machine of", *numbers, numbers=numbers
    )
    shown = comparison.clauses if len(comparison.clauses) <= 2 * count else comparison.clauses[: 2 * count]
    for part in shown:
        states = str(part.present_state), str(part.absent_state)
        row = str(part.clause), f"{part.weight:,}", *states, f"{part.share:+.2f}"
        table.add_row(Text(part.machine), *row)
    console.print(table)
    if len(comparison.clauses) > len(shown):
        console.print(f"... and {len(comparison.clauses) - len(shown)} more clauses (-n shows more)")


def _print_together(console: Console, found: Together) -> None:
    console.print(
        f"\n{found.first} and {found.second} occur together in {found.count:,} documents "
        f"({found.expected:,.1f} by chance, {times(found.lift)})",
        markup=False,
    )
    for document in found.documents:
        print_document(console, "both:", document, [found.first, found.second])
