"""A reading test: forty words with their first rules, neighbours and senses, judged by a reader.

    python benchmarks/reading_test.py collect MODEL INDEX     results/reading-test.json
    python benchmarks/reading_test.py neighbours MODEL        the same, its nearest words alone
    python benchmarks/reading_test.py senses MODEL INDEX      the same, its senses alone
    python benchmarks/reading_test.py render                  docs/reading-test.md

Judgements are lines of results/reading-judged.tsv: a word, then yes, partly or no for its rules, neighbours
and senses, then a remark. They are about what `collect` found; whoever collects again judges again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "reading-test.md"
N_RULES, N_NEIGHBOURS, N_FEATURES = 3, 8, 6
QUESTIONS = ("rules", "neighbours", "senses")
ANSWERS = ("yes", "partly", "no")
HEAD = """\
# A reading test

Would the explanations convince somebody who knows the word? Forty words of Wikipedia (40,000 words, default
settings, seed 0) have been read and judged. They were chosen by kind, not by result; but a third had been
looked at while the method for senses was developed. For each word the page has the first three rules, the
first three rules about single documents, the nearest words and the senses, as `omnitm explain`, `omnitm
explain --per-document`, `omnitm similar` and `omnitm senses` show them.

The two numbers behind a rule say how many documents satisfy it, and how many times more frequent the word
is in them than in all documents. Rules about single documents are counted on a fifth of the documents. The
page is written by `benchmarks/reading_test.py`; a test makes sure that each of the first rules holds in
some document with the word. *Rule* and *literal* are explained under [Terms](how-it-works.md#terms).

| | yes | partly | no |
|---|--:|--:|--:|"""
WORDS = {
    "frequent": ("time", "people", "state", "music", "water"),
    "concrete": ("car", "dog", "bread", "violin", "chair", "river", "hydrogen"),
    "verbs": ("run", "write", "eat", "drive", "sing", "think"),
    "adjectives": ("happy", "green", "ancient"),
    "names": ("paris", "einstein", "toyota", "shakespeare", "napoleon"),
    "ambiguous": ("bank", "python", "plant", "mercury", "spring", "bass", "java", "palm", "crane"),
    "rare": ("bassoon", "tortillas", "origami", "decathlon", "lichens"),
}


def collect(model: Path, index: Path) -> dict[str, Any]:
    """Find the first rules of both kinds, the neighbours and the senses of all words."""
    from omnitm import Explainer

    explainer = Explainer.open(model, index)
    return {word: _found(explainer, word) for words in WORDS.values() for word in words}


def _found(explainer: Any, word: str) -> dict[str, Any]:
    rules = explainer.explain(word, n_documents=0).first_rules[:N_RULES]
    chosen = explainer.document_rules(word, n=2 * N_RULES, n_documents=0)
    of_documents = [rule for rule in chosen if rule.match.hits][:N_RULES]
    return {
        "rules": [{"rule": measured.shortened(), **_figures(measured.match)} for measured in rules],
        "document_rules": [{"rule": str(rule), **_figures(rule.match)} for rule in of_documents],
        "neighbours": _neighbours(explainer.vectors, word),
        "senses": _senses(explainer, word),
    }


def _senses(explainer: Any, word: str) -> list[dict[str, Any]]:
    return [
        {"share": sense.share, "features": [name for name, _ in sense.features[:N_FEATURES]]}
        for sense in explainer.senses(word, n_documents=0).senses
    ]


def _neighbours(vectors: Any, word: str) -> list[str]:
    return [name for name, _ in vectors.most_similar(word, topn=N_NEIGHBOURS)]


def collect_neighbours(model: Path) -> dict[str, Any]:
    """Find the neighbours again, after a change of similarities; rules and senses stay."""
    from omnitm import WordVectors

    vectors = WordVectors.load(model)
    return {word: {**row, "neighbours": _neighbours(vectors, word)} for word, row in collected().items()}


def collect_senses(model: Path, index: Path) -> dict[str, Any]:
    """Find the senses again, after a change of how they are found; rules and neighbours stay."""
    from omnitm import Explainer

    explainer = Explainer.open(model, index)
    return {word: {**row, "senses": _senses(explainer, word)} for word, row in collected().items()}


def collected() -> dict[str, Any]:
    """Read what was found for each word."""
    found: dict[str, Any] = json.loads((RESULTS / "reading-test.json").read_text(encoding="utf-8"))
    return found


def _figures(match: Any) -> dict[str, Any]:
    return {name: getattr(match, name) for name in ("support", "hits", "lift")}


def judged() -> dict[str, list[str]]:
    """Read the judgements: per word an answer to each question, and a remark."""
    lines = (RESULTS / "reading-judged.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line]
    return {word: answers for word, *answers in rows}


def render() -> str:
    """Write the page."""
    found = collected()
    answers = judged()
    lines = [HEAD]
    for place, question in enumerate(QUESTIONS):
        counts = [sum(given[place] == answer for given in answers.values()) for answer in ANSWERS]
        lines.append(f"| {question} | {' | '.join(map(str, counts))} |")
    for kind, words in WORDS.items():
        lines += ["", f"## {kind.capitalize()}"]
        for word in words:
            lines += ["", *_described(word, found[word], answers[word])]
    return "\n".join(lines) + "\n"


def _described(word: str, found: dict[str, Any], answers: list[str]) -> list[str]:
    *given, remark = answers
    named = ", ".join(f"{question}: {answer}" for question, answer in zip(QUESTIONS, given, strict=True))
    senses = [
        f"{number} ({100 * sense['share']:.0f} %) {', '.join(sense['features'])}"
        for number, sense in enumerate(found["senses"], 1)
    ]
    return [
        f"**{word}** ({named}){f'. {remark}' if remark else ''}",
        "",
        f"- rules: {_listed(found['rules'])}",
        f"- of single documents: {_listed(found['document_rules'])}",
        f"- neighbours: {', '.join(found['neighbours'])}",
        f"- senses: {'; '.join(senses)}",
    ]


def _listed(rules: list[dict[str, Any]]) -> str:
    return "; ".join(f"`{rule['rule']}` ({rule['support']:,}, {rule['lift'] or 0:,.0f}x)" for rule in rules)


def main() -> None:
    """Collect, all or neighbours or senses alone, or render."""
    steps: dict[str, Callable[..., dict[str, Any]]] = {
        "collect": collect,
        "neighbours": collect_neighbours,
        "senses": collect_senses,
    }
    if sys.argv[1] in steps:
        found = steps[sys.argv[1]](*map(Path, sys.argv[2:]))
        rows = ",\n".join(
            f" {json.dumps(word)}: {json.dumps(row, ensure_ascii=False)}" for word, row in found.items()
        )
        (RESULTS / "reading-test.json").write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
    else:
        PAGE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
