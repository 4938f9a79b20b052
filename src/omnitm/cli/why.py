"""`omnitm why`: what the similarity of two words is made of."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from omnitm.cli.options import add_word_options, option
from omnitm.cli.reports import make_console, make_table, print_document, print_json, times

if TYPE_CHECKING:
    from rich.console import Console

    from omnitm.explain import Comparison, Contribution, Together

EXAMPLE = """\
  omnitm why news-model driving road
  omnitm why news-model driving road --metric association     # by clauses
  omnitm why news-model driving road --through vehicle
  omnitm why news-model driving road -n 20 --json"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_word_options(parser)
    option(parser, "OTHER", "another trained word")
    option(parser, "-n N", "number of features to show", dest="count", default=10)
    option(parser, "--through WORD...", "show these features as well", default=())
    option(
        parser,
        "--metric METRIC",
        "which score to take apart: similarity (default from 100 trained words on), related, alike, "
        "association (default below; by clauses), association-symmetric or cosine",
    )


def run(arguments: argparse.Namespace) -> None:
    """Take the score apart."""
    from omnitm.explain import Explainer

    explainer = Explainer.open(arguments.model, arguments.index)
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


_MATTERS = 0.05  # of the score: what is less in total is not listed
_SHOWN_AGAINST = 0.005
_DOCUMENTS = 3


def print_comparison(console: Console, comparison: Comparison, count: int) -> None:
    """Print score, shares and evidence."""
    _print_sum(console, comparison)
    if comparison.clauses:
        _print_clauses(console, comparison, count)
    else:
        _print_shares(console, comparison)
    if comparison.together is not None:
        _print_together(console, comparison.together)
    asked = comparison.contributions_asked or comparison.contributions_for
    evidence = [
        (found, part.feature) for part in asked for found in (part.with_first, part.with_second) if found
    ]
    n_shown = 0 if comparison.together is None else len(comparison.together.documents)
    for found, feature in evidence:
        for document in found.documents:
            if n_shown >= _DOCUMENTS and not comparison.contributions_asked:
                return
            n_shown += 1
            marked = [feature, comparison.word, comparison.other]
            print_document(console, f"{found.first} + {found.second}:", document, marked)


def _print_sum(console: Console, comparison: Comparison) -> None:
    parts = [f"{comparison.total_for:.4g} for"]
    if comparison.total_against:
        parts.append(f"- {-comparison.total_against:.4g} against")
    if comparison.rounding:
        parts.append(f"- {-comparison.rounding:.4g} rounded off")
    kind = "clauses" if comparison.clauses else "features"
    console.print(
        f"{comparison.metric} of {comparison.word} and {comparison.other}: {comparison.score:.4g} = "
        f"{' '.join(parts)} ({comparison.n_for:,} {kind} for, {comparison.n_against:,} against)"
    )
    if comparison.parts:
        named = " + ".join(f"{value:.4g} {name}" for name, value in comparison.parts.items() if value)
        console.print(f"or by parts: {comparison.score:.4g} = {named}")
    for word, forms in comparison.forms.items():
        if forms:
            console.print(f"{word} with its forms: {', '.join(forms)}")
    if comparison.sentence:
        console.print(comparison.sentence)
    console.print()


def _print_shares(console: Console, comparison: Comparison) -> None:
    first, second = comparison.word, comparison.other
    numbers = ["share", f"in {first}", f"in {second}"]
    shown = comparison.contributions_for + comparison.contributions_asked
    if shown and shown[0].with_first is not None:
        numbers += [f"+ {first}", "lift", f"+ {second}", "lift "]
    lines = share_lines(comparison)
    written = adding_up([share for _, share, _ in lines], comparison.score)
    table = make_table("What the score is made of", "feature", *numbers, numbers=numbers)
    for (name, _, part), share in zip(lines, written, strict=True):
        table.add_row(name, share, *_values(part))
    table.add_row("total", _share(comparison.score, comparison.score))
    console.print(table)
    if comparison.contributions_asked:
        table = make_table("\nAsked about", "feature", *numbers, numbers=numbers)
        for part in comparison.contributions_asked:
            table.add_row(part.feature, _share(part.share, comparison.score), *_values(part))
        console.print(table)


def share_lines(comparison: Comparison) -> list[tuple[str, float, Contribution | None]]:
    """Lines that add up to the score: together, features for, features against if they matter, the rest."""
    matters = -comparison.total_against > _MATTERS * abs(comparison.score)
    against = [
        part
        for part in comparison.contributions_against
        if matters and -part.share > _SHOWN_AGAINST * abs(comparison.score)
    ]
    lines: list[tuple[str, float, Contribution | None]] = []
    if comparison.share_together:
        lines.append(("they occur together", comparison.share_together, None))
    lines += [(part.feature, part.share, part) for part in comparison.contributions_for]
    rest = comparison.total_for - sum(max(share, 0.0) for _, share, _ in lines)
    rest_against = comparison.total_against - sum(part.share for part in against)
    rest_against -= min(comparison.share_together, 0.0)
    if matters:
        lines += [("other features for", rest, None)]
        lines += [(part.feature, part.share, part) for part in against]
        lines += [("other features against", rest_against, None)]
    else:
        lines += [("all other features", rest + rest_against, None)]
    return lines


def adding_up(shares: Sequence[float], score: float) -> list[str]:
    """Write shares as percentages of the score that add up to 100.0 %; as they are if there is no score.

    Each is rounded down to a tenth; what is missing goes to those that lost most.

    >>> adding_up([1, 1, 1], 3)
    ['+33.4%', '+33.3%', '+33.3%']
    """
    if not score:
        return [_share(share, score) for share in shares]
    exact = [1000 * share / score for share in shares]
    tenths = [math.floor(share) for share in exact]
    order = sorted(range(len(exact)), key=lambda k: tenths[k] - exact[k])
    for k in order[: round(sum(exact)) - sum(tenths)]:
        tenths[k] += 1
    return [f"{share / 10:+.1f}%" for share in tenths]


def _values(part: Contribution | None) -> list[str]:
    if part is None:
        return []
    values = [f"{part.first_value:.1f}", f"{part.second_value:.1f}"]
    return [*values, *_evidence(part.with_first), *_evidence(part.with_second)]


def _share(share: float, score: float) -> str:
    return f"{share / score:+.1%}" if score else f"{share:+.4f}"


def _evidence(found: Together | None) -> list[str]:
    return [] if found is None else [f"{found.count:,}", times(found.lift)]


def _print_clauses(console: Console, comparison: Comparison, count: int) -> None:
    numbers = ("clause", "weight", "occurs", "does not", "share")
    table = make_table(
        "Clauses: states of the other word's two literals", "machine of", *numbers, numbers=numbers
    )
    shown = comparison.clauses if len(comparison.clauses) <= 2 * count else comparison.clauses[: 2 * count]
    for part in shown:
        states = str(part.present_state), str(part.absent_state)
        row = str(part.clause), f"{part.weight:,}", *states, f"{part.share:+.2f}"
        table.add_row(part.machine, *row)
    console.print(table)
    if len(comparison.clauses) > len(shown):
        console.print(f"... and {len(comparison.clauses) - len(shown)} more clauses (-n shows more)")


def _print_together(console: Console, found: Together) -> None:
    console.print(
        f"\n{found.first} and {found.second} occur together in {found.count:,} {found.unit} "
        f"({found.expected:,.1f} by chance, {times(found.lift)})"
    )
    for document in found.documents:
        print_document(console, "both:", document, [found.first, found.second])
