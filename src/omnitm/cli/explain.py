"""`omnitm explain`, `senses`, `trace`: the rules of a word, its senses, the course of a literal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from omnitm.cli.options import add_word_options, option
from omnitm.cli.reports import make_console, make_table, percent, print_document, print_json, times
from omnitm.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from omnitm.explain import Explainer, Match, Senses, Trace, WordExplanation

EXAMPLES = {
    "explain": """\
  omnitm explain news-model road
  omnitm explain news-model road -n 20 --documents 0
  omnitm explain news-model road --per-document     # rules about single documents
  omnitm explain news-model road --clause 4 --plot clause.png     # all states of one clause
what a clause, a literal and a state are: docs/how-it-works.md#terms""",
    "senses": """\
  omnitm senses news-model bank
  omnitm senses news-model bank --text "the bank lent money"     # which sense is it here?
  omnitm similar news-model bank --sense 2                       # neighbours of one sense""",
    "trace": """\
  omnitm trace news-model driving vehicle --plot vehicle.png
  omnitm trace news-model driving film --negated             # "film does not occur"
  omnitm trace news-model driving vehicle --json --clauses   # every state of every clause
what a clause, a literal and a state are: docs/how-it-works.md#terms""",
}
_RULES_WITH_DOCUMENTS = 3


def fill_explain(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm explain`."""
    add_word_options(parser)
    option(
        parser,
        "--contexts",
        "which machine of the word: topic (default) learned from documents or passages, place from where it "
        "stands",
        choices=("topic", "place"),
    )
    option(parser, "-n N", "number of rules", dest="count", default=10)
    option(
        parser,
        "--literals N",
        "show so many literals of a rule (default: at most 4, no negation that rules out next to nothing)",
    )
    option(
        parser,
        "--per-document",
        "show rules about single documents instead (or passages, if topics were learned from these), "
        "measured on documents that were not used to choose them",
    )
    option(parser, "--clause NUMBER", "number of the clause that --plot draws", type=int)
    option(parser, "--plot FILE", "draw the states of --clause, as .png, .svg or .pdf", type=str)


def run_explain(arguments: argparse.Namespace) -> None:
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
        console.print(f"Stands out, by so many deviations from other words: {named}\n")
    _print_rules(console, explanation, arguments.count, arguments.literals)
    _print_literals(console, explanation)


def _print_document_rules(explainer: Explainer, arguments: argparse.Namespace) -> None:
    rules = explainer.document_rules(arguments.word, n=arguments.count, n_documents=arguments.documents)
    if arguments.json:
        print_json({"word": arguments.word, "document_rules": [rule.to_dict() for rule in rules]})
        return
    console = make_console()
    unit = explainer.counted.unit
    numbers = (unit, "with word", "recall", "lift")
    table = make_table(f"{arguments.word}: rules about single {unit}", "rule", *numbers, numbers=numbers)
    shown = [rule for rule in rules if rule.match.hits] or rules
    for rule in shown:
        match = rule.match
        figures = f"{match.support:,}", percent(match.precision), percent(rule.recall), times(match.lift)
        table.add_row(str(rule), *figures)
    console.print(table)
    where = "one document of five" if unit == "documents" else f"the {unit} of one document in five"
    console.print(f"counted on {where}; the rules were chosen by the others", style="dim")
    n_hidden = len(rules) - len(shown)
    if n_hidden:
        verb = "rule, not shown, holds" if n_hidden == 1 else "rules, not shown, hold"
        console.print(f"{n_hidden} {verb} in none of those with the word.")
    for rule in shown[:_RULES_WITH_DOCUMENTS]:
        _print_examples(console, str(rule), rule.match, [arguments.word, *rule.present])


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
        f"{explanation.measured_on} ({share:.2%}); "
        f"{explanation.n_positive} of {explanation.n_clauses} clauses are positive{empty}.\n"
    )


def _print_rules(console: Console, explanation: WordExplanation, count: int, n_literals: int | None) -> None:
    unit = explanation.measured_on
    numbers = ("weight", unit, "with word", "lift", "examples", "of the word")
    table = make_table("Rules", "rule", *numbers, numbers=numbers)
    borne_out = [measured for measured in explanation.rules if measured.evidence]
    shown = explanation.first_rules
    for measured in shown[:count]:
        match, rule = measured.match, measured.rule
        table.add_row(
            measured.shortened(n_literals),
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
    n_repeated = len(borne_out) - len(shown) if borne_out else 0
    if n_repeated:
        verb = "rule, not shown, asks" if n_repeated == 1 else "rules, not shown, ask"
        console.print(f"{n_repeated} {verb} for the same words as one before (--json has all).")
    if len(shown) < _RULES_WITH_DOCUMENTS and explanation.kind == "topic":
        console.print(f"Single {unit} bear few rules out; --per-document finds rules about these.")
    n_only_merged = len(explanation.rules) - len(borne_out)
    if n_only_merged:
        where = "not shown" if borne_out else "all of them"
        verb = "rule, {}, holds" if n_only_merged == 1 else "rules, {}, hold"
        console.print(f"{n_only_merged} {verb.format(where)} in merged examples only.")
    for measured in shown[:_RULES_WITH_DOCUMENTS]:
        words = measured.rule.present if explanation.kind == "topic" else ()
        text = measured.shortened(min(2, measured.n_telling))
        _print_examples(console, text, measured.match, [explanation.word, *words])


def _print_examples(console: Console, rule: str, match: Match, marked: list[str]) -> None:
    for kind, documents in (("example", match.examples), ("counterexample", match.counterexamples)):
        for document in documents:
            print_document(console, f"{kind} of {rule}:", document, marked)


def _print_literals(console: Console, explanation: WordExplanation) -> None:
    threshold = f"state (N = {explanation.include_from})"
    numbers = (threshold, "distance")
    for title, literals in (
        ("\nStrongest literals (mean)", explanation.strongest),
        ("\nWeakest literals", explanation.weakest[:3]),
        ("\nStrongest negated literals", explanation.strongest_negated[:3]),
    ):
        table = make_table(title, "literal", *numbers, numbers=numbers)
        for literal in literals:
            table.add_row(str(literal), f"{literal.state:.1f}", f"{literal.distance:+.1f}")
        console.print(table)


_SHOWN_FEATURES = 8


def fill_senses(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm senses`."""
    add_word_options(parser)
    option(parser, "--text TEXT", "say which sense the word has in this text")


def run_senses(arguments: argparse.Namespace) -> None:
    """Tell the senses apart, or find the one of a text."""
    from omnitm.explain import Explainer

    explainer = Explainer.open(arguments.model, arguments.index)
    word = explainer.vectors.known_word(arguments.word)
    if arguments.text is not None:
        sense, scores = explainer.sense_of(word, arguments.text)
        if arguments.json:
            print_json({"word": word, "sense": sense, "scores": scores})
        else:
            named = ", ".join(f"{number}: {score:.2f}" for number, score in scores.items())
            print(f"sense {sense or 'unknown'} of {word} (scores {named})")
        return
    found = explainer.senses(word, n_documents=arguments.documents)
    if arguments.json:
        print_json(found.to_dict())
    else:
        _print_senses(found)


def _print_senses(found: Senses) -> None:
    console = make_console()
    numbers = ("share",)
    title = f"{found.word}: {len(found.senses)} {'sense' if len(found.senses) == 1 else 'senses'}"
    table = make_table(title, "sense", *numbers, "features", "neighbours", "rule", numbers=numbers)
    for sense in found.senses:
        features, neighbours = (
            ", ".join(name for name, _ in pairs[:_SHOWN_FEATURES])
            for pairs in (sense.features, sense.neighbours)
        )
        rule = "" if sense.match is None else f"{sense.rule} ({times(sense.match.lift)})"
        table.add_row(str(sense.number), percent(sense.share, 0), features, neighbours, rule)
    console.print(table)
    if found.n_documents:
        share = found.n_assigned / found.n_documents
        console.print(
            f"shares of the {share:.0%} of its {found.unit} that have another known word", style="dim"
        )
    for sense in found.senses:
        for document in sense.documents:
            marked = [found.word, *(name for name, _ in sense.features)]
            print_document(console, f"sense {sense.number}:", document, marked)


_STAGES = 10


def fill_trace(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm trace`."""
    add_word_options(parser)
    option(parser, "LITERAL", 'a word of the vocabulary; what is shown is "LITERAL occurs"')
    option(parser, "--negated", 'show "LITERAL does not occur" instead')
    option(parser, "-n N", "number of examples that moved it up, and down", dest="count", default=5)
    option(parser, "--clauses", "with --json: print every state of every clause")
    option(parser, "--plot FILE", "draw it as well, as .png, .svg or .pdf", type=str)


def run_trace(arguments: argparse.Namespace) -> None:
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
        console.print(f"\nThe picture is in {arguments.plot}")


def print_trace(console: Console, trace: Trace) -> None:
    """Print the course of the mean state, and the examples that moved it most."""
    name = f"NOT {trace.literal}" if trace.negated else trace.literal
    counts = trace.feedback_counts()
    told = ", ".join(f"{count:,} times to {kind}" for kind, count in counts.items())
    console.print(
        f"{name} in the {len(trace.positive)} positive clauses of {trace.word}: mean state "
        f"{trace.mean[-1]:.1f} after {trace.n_examples:,} examples (included from {trace.include_from}); "
        f"the clauses were told {told}.\n"
        f"Coordinate of {trace.literal} in the vector of {trace.word}: {trace.coordinate}\n"
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
