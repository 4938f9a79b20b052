"""`omnitm explain`: what a word's machine has learned, as rules with figures and documents."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from omnitm.cli.options import add_word_options, option
from omnitm.cli.reports import make_console, make_table, percent, print_document, print_json, times
from omnitm.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from omnitm.explain import Explainer, WordExplanation

EXAMPLE = """\
  omnitm explain news-model road
  omnitm explain news-model road -n 20 --documents 0
  omnitm explain news-model road --per-document     # rules about single documents
  omnitm explain news-model road --clause 4 --plot clause.png     # all states of one clause
what a clause, a literal and a state are: docs/how-it-works.md#terms"""

_RULES_WITH_DOCUMENTS = 3


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_word_options(parser)
    option(
        parser,
        "--contexts",
        "learned from documents with the word (topic, the default), or from where it stands (place)",
        choices=("topic", "place"),
    )
    option(parser, "-n N", "rules", dest="count", default=10)
    option(parser, "--literals N", "literals to show of a rule", default=4)
    option(
        parser,
        "--per-document",
        "rules about single documents instead, measured on documents that they were not chosen by",
    )
    option(parser, "--clause NUMBER", "with --plot: this clause only", type=int)
    option(parser, "--plot FILE", "draw the states of --clause: .png, .svg or .pdf", type=str)


def run(arguments: argparse.Namespace) -> None:
    """Explain the word."""
    from omnitm.explain import Explainer

    if (arguments.clause is None) != (arguments.plot is None):
        raise ParameterError("--clause and --plot go together: a picture shows one clause.")
    explainer = Explainer.open(arguments.model, arguments.index)
    if arguments.plot:
        _draw(explainer, arguments)
        return
    if arguments.per_document:
        _print_document_rules(explainer, arguments)
        return
    explanation = explainer.explain(arguments.word, kind=arguments.contexts, n_documents=arguments.documents)
    is_topic = explanation.kind == "topic"
    if arguments.json:
        stands_out = (
            {"stands_out": explainer.standing_out(arguments.word, arguments.count)} if is_topic else {}
        )
        print_json({**explanation.to_dict(), **stands_out})
        return
    console = make_console()
    _print_summary(console, explanation)
    if is_topic:
        features = explainer.standing_out(arguments.word, 2 * arguments.count)
        named = ", ".join(f"{word} {value:.0f}" for word, value in features) or "nothing"
        console.print(f"Stands out, by so many deviations from other words: {named}\n", markup=False)
    _print_rules(console, explanation, arguments.count, arguments.literals)
    _print_literals(console, explanation)


def _print_document_rules(explainer: Explainer, arguments: argparse.Namespace) -> None:
    from rich.text import Text

    rules = explainer.document_rules(arguments.word, n=arguments.count, n_documents=arguments.documents)
    if arguments.json:
        print_json({"word": arguments.word, "document_rules": [rule.to_dict() for rule in rules]})
        return
    console = make_console()
    numbers = ("documents", "with word", "recall", "lift")
    table = make_table(f"{arguments.word}: rules about single documents", "rule", *numbers, numbers=numbers)
    for rule in rules:
        match = rule.match
        figures = f"{match.support:,}", percent(match.precision), percent(rule.recall), times(match.lift)
        table.add_row(Text(str(rule)), *figures)
    console.print(table)
    console.print("counted on one document of five; the rules were chosen by the others", style="dim")
    for rule in rules[:_RULES_WITH_DOCUMENTS]:
        for kind, documents in (
            ("example", rule.match.examples),
            ("counterexample", rule.match.counterexamples),
        ):
            for document in documents:
                print_document(console, f"{kind} of {rule}:", document, [arguments.word, *rule.present])


def _draw(explainer: Explainer, arguments: argparse.Namespace) -> None:
    from omnitm.explain.plots import plot_clause

    clause = explainer.clause(arguments.word, arguments.clause)
    plot_clause(clause, explainer.vectors.feature_names, arguments.plot)
    print(f"clause {arguments.clause} of {arguments.word!r} is drawn in {arguments.plot}")


def _print_summary(console: Console, explanation: WordExplanation) -> None:
    share = explanation.document_frequency / max(explanation.n_documents, 1)
    empty = f", {explanation.n_empty} of them empty" if explanation.n_empty else ""
    where = "in " if explanation.kind == "topic" else ""
    console.print(
        f"{explanation.word}: {where}{explanation.document_frequency:,} of {explanation.n_documents:,} "
        f"{_unit(explanation)} ({share:.2%}); "
        f"{explanation.n_positive} of {explanation.n_clauses} clauses are positive{empty}.\n",
        markup=False,
    )


def _unit(explanation: WordExplanation) -> str:
    """Name what rules are measured on: documents, or places of the running text."""
    return "documents" if explanation.kind == "topic" else "places"


def _print_rules(console: Console, explanation: WordExplanation, count: int, n_literals: int) -> None:
    from rich.text import Text

    unit = _unit(explanation)
    numbers = ("weight", unit, "with word", "lift", "examples", "of the word")
    table = make_table("Rules", "rule", *numbers, numbers=numbers)
    borne_out = [measured for measured in explanation.rules if measured.evidence]
    shown = borne_out or explanation.rules
    for measured in shown[:count]:
        match, rule = measured.match, measured.rule
        table.add_row(
            Text(rule.shortened(n_literals)),
            f"{rule.weight:,}",
            f"{match.support:,}",
            percent(match.precision),
            times(match.lift),
            f"{measured.examples_support:,}",
            percent(measured.examples_precision, 0),
        )
    console.print(table)
    console.print(
        f"{unit}: how many satisfy the rule; with word: how many of these have the word; examples: merged as "
        f"in training, half of them from the word's {unit}",
        style="dim",
    )
    if len(shown) > count:
        console.print(f"... and {len(shown) - count} more rules (-n shows more)")
    n_only_merged = len(explanation.rules) - len(borne_out)
    if n_only_merged:
        where = "not shown" if borne_out else "all of them"
        verb = "rule, {}, holds" if n_only_merged == 1 else "rules, {}, hold"
        console.print(f"{n_only_merged} {verb.format(where)} in merged examples only.")
    for measured in shown[:_RULES_WITH_DOCUMENTS]:
        marked = [explanation.word]
        if explanation.kind == "topic":
            marked += measured.rule.present
        for kind, documents in (
            ("example", measured.match.examples),
            ("counterexample", measured.match.counterexamples),
        ):
            for document in documents:
                name = f"{kind} of {measured.rule.shortened(2)}:"
                print_document(console, name, document, marked)


def _print_literals(console: Console, explanation: WordExplanation) -> None:
    from rich.text import Text

    threshold = f"state (N = {explanation.include_from})"
    numbers = (threshold, "distance")
    for title, literals in (
        ("\nStrongest literals (mean)", explanation.strongest),
        ("\nWeakest literals", explanation.weakest[:3]),
        ("\nStrongest negated literals", explanation.strongest_negated[:3]),
    ):
        table = make_table(title, "literal", *numbers, numbers=numbers)
        for literal in literals:
            table.add_row(Text(str(literal)), f"{literal.state:.1f}", f"{literal.distance:+.1f}")
        console.print(table)
