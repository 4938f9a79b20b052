"""Compare the numbers in documents with the results that they come from, or write them into the documents.

    python benchmarks/document_numbers.py            # says what differs, and exits with 1 if anything does
    python benchmarks/document_numbers.py --write    # puts the measured numbers into the documents

A line of a document is given as text with a field for every number, `{:.3f}`, and the values that go there.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
BY_WORDS = "similarity-words"  # the report whose intervals resample words
_FIELD = re.compile(r"\{[^}]*\}")
_NUMBER = r"-?\d[\d,]*(?:\.\d+)?"


@dataclass(frozen=True)
class Line:
    """A piece of a line of a document, with fields for its numbers, and their measured values."""

    document: str
    template: str
    values: tuple[float, ...]

    @property
    def text(self) -> str:
        """The line with the measured numbers."""
        return self.template.format(*self.values)

    @property
    def pattern(self) -> str:
        """A regular expression for the line with any numbers."""
        return _NUMBER.join(map(re.escape, _FIELD.split(self.template)))

    def problem(self, root: Path = ROOT) -> str | None:
        """Say what is wrong with the document, if anything is."""
        content = (root / self.document).read_text(encoding="utf-8")
        found = re.findall(self.pattern, content)
        if len(found) != 1:
            return f"{self.document}: {len(found)} lines are like {self.template!r}; there must be one"
        return None if found[0] == self.text else f"{self.document}: {found[0]!r} must be {self.text!r}"

    def write(self, root: Path = ROOT) -> None:
        """Put the measured numbers into the document."""
        path = root / self.document
        content = path.read_text(encoding="utf-8")
        path.write_text(re.sub(self.pattern, lambda _: self.text, content), encoding="utf-8")


def lines() -> list[Line]:
    """All lines of documents whose numbers are measured."""
    return [
        *_similarity(),
        *_named_coordinates(),
        *_rivals(),
        *_analogies(),
        *_dense_vectors(),
        *_downloads(),
        *_costs(),
        *_kernel(),
        *_parameters(),
        *_passages(),
        *_place_evidence(),
        *_clustering(),
        *_classification(),
        *_interpretability(),
        *_themes(),
        *_senses(),
        *_explorer(),
        *_classifier(),
        *_document_vectors(),
        *_sentences(),
        *_comparison(),
        *_trust(),
    ]


def _trust() -> list[Line]:
    """Tell what fresh draws of mutants and the sanitizers found."""
    counts = []
    for part in (results("mutants-fresh")[room] for room in ("explain", "similarity", "evaluation")):
        found = [mutant["result"] for mutant in part["mutants"]]
        counts.append((len(found) - found.count("equivalent"), found.count("killed")))
    shares = [100 * killed / of for of, killed in counts]
    text = (
        "of {} changes of explanations {} were noticed (seed 5), of {} of similarity {} and of {} of "
        "evaluation {} (seed 7): {:.0f}, {:.0f} and {:.0f} %."
    )
    ran = results("sanitize")
    return [
        Line("docs/reliability.md", text, (*sum(counts, ()), *shares)),
        Line(
            "docs/reliability.md",
            "sanitize.json`: {} tests passed, {} failed, {} were skipped, {} bindings",
            (ran["passed"], ran["failed"], ran["skipped"], ran["bindings"]),
        ),
    ]


def _comparison() -> list[Line]:
    shares = results("compare")["shares"].values()
    page, found = "docs/compare.md", []
    for name in next(iter(shares))["average_precision"]:
        cells: list[str] = []
        values: list[float] = []
        for share in shares:
            if name not in share["average_precision"]:
                cells.append("not measured | |")
                continue
            interval = share["ahead_by"].get(name, [])
            cells.append("{:.3f} | {:.2f} to {:.2f} |" if interval else "{:.3f} | |")
            values += [share["average_precision"][name], *interval]
        found.append(Line(page, f"| {name} | {' '.join(cells)}", tuple(values)))
    percent = "{:.1f} % | {:.1f} %"
    for label, key, fields, scale in (
        ("targets found at q <= 0.05", "found_at_q_0.05", percent, 100),
        ("controls among what is found", "false_of_found_at_q_0.05", percent, 100),
        ("Kendall of the rankings of two seeds", "kendall_of_two_seeds", "{:.3f} | {:.3f}", 1),
    ):
        values = [scale * share[key] for share in shares]
        found.append(Line(page, f"| {label} | {fields} |", tuple(values)))
    for label, key, fields, scale in (
        ("gained features that are named, of ten at most", "reasons_named", "{:.1f} | {:.1f}", 1),
        ("targets for which none is named", "pairs_without_reasons", percent, 100),
    ):
        values = [scale * share[key] for share in shares]
        found.append(Line(page, f"| {label} | {fields} |", tuple(values)))
    own = "of these, stand out in the donor's own vector (a model of all of Wikipedia)"
    for label, key in (
        (own, "gained"),
        ("the same, of targets found at q <= 0.05", "gained_of_found"),
        ("the same, of features that are places", "place"),
        ("the same, of lost features (should be few)", "lost"),
        ("gained features whose coordinate in the machine is higher after than before", "machines_agree"),
    ):
        values = [share[f"reasons_{key}"][0] for share in shares]
        found.append(Line(page, f"| {label} | {{:.3f}} | {{:.3f}} |", tuple(values)))
    first = results("compare")["shares"]["0.25"]
    alarms = [100 * value for value in (*first["shuffled_at_p_0.05"], first["shuffled_at_q_0.05"])]
    template = "{:.1f} % of 1,000 words have p < 0.05 (interval {:.1f} % to {:.1f} %), and {:.1f} % q <= 0.05"
    found.append(Line(page, template, tuple(alarms)))
    found.append(Line(page, "A word costs {:.2f} CPU seconds here", (first["cpu_seconds_per_word"],)))
    rivals = first["cpu_seconds_of_rivals"]
    seconds = first["cpu_seconds_for_directions"], rivals["Word2Vec, Procrustes"]
    template = "after {:.0f} CPU seconds for directions; skip-gram of both halves took {:.0f}"
    found.append(Line(page, template, seconds))
    searched = results("compare_search")
    usual = {"window": 5, "vector_size": 100, "epochs": 10}

    def level(name: str, column: str) -> float:
        return float(next(a for a, b, c in searched[name]["tried"] if (b, c) == (usual, column)))

    best = searched["Procrustes"]["average_precision"]
    template = "The best window is 2: {:.3f} with Procrustes, where that of the table has {:.3f}"
    found.append(Line(page, template, (best, level("Procrustes", "Procrustes"))))
    counted = tuple(level("neighbours", f"neighbours {count}") for count in (30, 1_000))
    found.append(Line(page, "Counting 30 neighbours has {:.3f}, counting 1,000 has {:.3f}", counted))
    trained = results("compare_machines")
    for template, names in (
        ("then has an average precision of {:.3f}", ["average_precision_by_machines"]),
        ("and costs {:.2f} CPU seconds a word", ["cpu_seconds_per_word_by_machines"]),
        ("has {:.3f} and costs {:.2f}", ["average_precision_by_counts", "cpu_seconds_per_word_by_counts"]),
    ):
        found.append(Line(page, template, tuple(trained[name] for name in names)))
    found.append(Line(page, "it is ahead by {:.2f} to {:.2f}", tuple(trained["counts_ahead_by"])))
    spent = results("compare_speed")
    template = "one costs {:.2f} CPU seconds with 200 shufflings and {:.2f} with 2,000"
    found.append(
        Line(page, template, (spent["cpu_seconds_per_word_200"], spent["cpu_seconds_per_word_2000"]))
    )
    machine = spent["cpu_milliseconds_per_machine"]
    found.append(Line(page, "Four machines are {:.1f} ms each of it", (machine,)))
    return found


@cache
def results(name: str) -> Any:
    """Read a file of results."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def _row(model: str, metric: str, file: str = "similarity") -> dict[str, Any]:
    rows: list[dict[str, Any]] = results(file)["rows"]
    return next(row for row in rows if (row["model"], row["metric"]) == (model, metric))


def _set(model: str, metric: str, name: str, file: str = "similarity") -> float:
    parts = {part["name"]: part["agreement"] for part in _row(model, metric, file)["sets"]}
    return float(parts[name]["spearman"])


def _similarity() -> list[Line]:
    rows = [
        ("Word2Vec (gensim, 25 epochs)", "word2vec", "cosine"),
        ("the same, its vectors averaged over forms", "word2vec, forms averaged", "cosine"),
        ("FastText (gensim, 25 epochs)", "fasttext", "cosine"),
        ("GloVe (25 iterations)", "glove", "cosine"),
        ("Omni, the paper's settings and metric", "omni-paper", "association"),
    ]
    found = []
    for label, model, metric in rows:
        average = _row(model, metric)["average"]
        values = (average["spearman"], average["kendall"], _set(model, metric, "SimLex-999"))
        template = f"| {label} | {{:.3f}} | {{:.3f}} | {{:.3f}} |"
        found.append(Line("docs/similarity.md", template, values))
    omni, ppmi = (_row(model, "similarity", BY_WORDS) for model in ("omni", "ppmi"))
    for label, model, row in (
        ("**Omni, `similarity`** | **{:.3f}** ({:.3f} to {:.3f}) | **{:.3f}**", "omni", omni),
        *(
            (
                f"Omni, `{metric}` | {{:.3f}} ({{:.3f}} to {{:.3f}}) | {{:.3f}}",
                "omni",
                _row("omni", metric, BY_WORDS),
            )
            for metric in ("related", "alike")
        ),
        ("PPMI, read out the same way | {:.3f} ({:.3f} to {:.3f}) | {:.3f}", "ppmi", ppmi),
    ):
        average = row["average"]
        figures = (average["spearman"], *average["spearman_interval"], average["kendall"])
        ends = (*average["kendall_interval"], _set(model, row["metric"], "SimLex-999", BY_WORDS))
        template = f"| {label} ({{:.3f}} to {{:.3f}}) | {{:.3f}} |"
        found.append(Line("docs/similarity.md", template, (*figures, *ends)))
    others = [_row(model, "cosine")["average"] for model in ("word2vec", "fasttext", "glove")]
    averages = [omni["average"], *others, ppmi["average"]]
    template = "| Spearman / Kendall | {:.3f} / {:.3f}" + " | {:.3f} / {:.3f}" * 4 + " |"
    figures = tuple(average[which] for average in averages for which in ("spearman", "kendall"))
    found.append(Line("README.md", template, figures))
    simlex = [_set(model, "cosine", "SimLex-999") for model in ("word2vec", "fasttext", "glove")]
    ours, counted = (_set(model, "similarity", "SimLex-999", BY_WORDS) for model in ("omni", "ppmi"))
    template = "| SimLex-999 | **{:.3f}**" + " | {:.3f}" * 4 + " |"
    found.append(Line("README.md", template, (ours, *simlex, counted)))
    template = (
        "on average Omni {:.3f}, PPMI {:.3f}, Word2Vec {:.3f}, FastText {:.3f}, GloVe {:.3f} (Spearman)"
    )
    order = (averages[0], averages[-1], *others)
    found.append(Line("docs/comparison.md", template, tuple(average["spearman"] for average in order)))
    low, high = ppmi["difference"]["spearman_interval"]
    lead = (ppmi["difference"]["spearman"], low, high)
    documents = ["README.md", "benchmarks/README.md"]
    documents += [f"docs/{name}.md" for name in ("similarity", "comparison", "faq")]
    template = "PPMI differs by {:.3f} ({:.3f} to {:.3f})"
    found += [Line(document, template, lead) for document in documents]
    by_words = next(part for part in omni["sets"] if part["name"] == "MEN")["agreement"]["spearman_interval"]
    found.append(Line("docs/similarity.md", "MEN alone has {:.3f} to {:.3f}", tuple(by_words)))
    averages = _row("omni", "similarity", "similarity-seeds")["seed_averages"]
    figures = (min(averages), max(averages), _set("omni", "similarity", "SimLex-999", "similarity-seeds"))
    template = "averages from {:.3f} to {:.3f} (SimLex-999 {:.3f} in the mean;"
    found.append(Line("docs/similarity.md", template, figures))
    return found


def _named_coordinates() -> list[Line]:
    """Learned against counted: the better variant of PPMI, where the interval excludes 0."""
    rows = {
        (row["set"], row["model"]): row
        for row in results("named-coordinates")["rows"]
        if row["kind"] == "both"
    }
    found = []
    for name in ("SimLex-999", "WS-353", "MTURK-771", "MEN"):
        ours, theirs = (rows[name, model] for model in ("Omni", "PPMI and PPMI, contexts to the power 0.75"))
        values = (ours["spearman"], theirs["spearman"], *theirs["omni_ahead_by"])
        template = f"| {name} | {{:.3f}} | {{:.3f}} | {{:.3f}} to {{:.3f}} |"
        found.append(Line("docs/similarity.md", template, values))
    return found


def _rivals() -> list[Line]:
    """Tuned rivals that were trained on all of the text, beside Omni; `results/rivals.json`."""
    found, page = [], "docs/similarity.md"
    facts = results("rivals")
    cost = {row["name"]: row["cpu_seconds"] for row in facts["rows"]}
    lists = {(row["model"], row["set"]): row["precision"]["value"] for row in facts["categories"]["rows"]}
    for label, name in (
        ("Omni, `similarity`", "omni"),
        ("skip-gram, 300 dimensions, window 5, 10 negatives", "sg-w5-n10-s4"),
        ("SVD of PPMI, neighbours within five words", "svd-w5-p0.0"),
        ("SVD of PPMI, places of two words on each side", "svd-w2-marked-p0.0"),
    ):
        row = next(one for one in facts["pairs"]["rows"] if one["model"] == name)
        sets = {part["name"]: part["agreement"]["spearman"] for part in row["sets"]}
        scores: tuple[float, ...] = (row["average"]["spearman"], sets["SimLex-999"])
        scores += (lists[name, "SEMCAT"], lists[name, "AP"])
        if name == "omni":
            ours = results("similarity-cost")["omni-with-rivals"]["cpu_seconds"]
            template, values = "{:.3f} | | {:.3f} | {:.3f} | {:.3f} | {:,.0f} |", (*scores, ours)
        else:
            template = "{:.3f} | {:.3f} to {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:,.0f} |"
            high, low = (-end for end in row["difference"]["spearman_interval"])
            values = (scores[0], low, high, *scores[1:], cost[name])
        found.append(Line(page, f"| {label} | {template}", values))
        if name == "sg-w5-n10-s4":
            template = "has {:.3f}, on SimLex-999 {:.3f}, after {:,.0f} CPU seconds (Omni beside it: {:,.0f})"
            found.append(Line("README.md", template, (scores[0], scores[1], cost[name], ours)))
    return found


def _analogies() -> list[Line]:
    """Google's analogies; `results/analogies.json`, `analogies-weights.json` and `rivals-analogies.json`."""
    page, [report], rivals = "docs/similarity.md", results("analogies"), results("rivals-analogies")
    parts = {
        "semantic": [part for part in report["sections"] if not part["name"].startswith("gram")],
        "grammar": [part for part in report["sections"] if part["name"].startswith("gram")],
        "all": report["sections"],
    }
    used, right = (
        {name: sum(part[figure] for part in some) for name, some in parts.items()}
        for figure in ("n_used", "n_right")
    )
    share = {name: right[name] / used[name] for name in parts}
    sums, products = (rivals[f"sg-w5-n10-s4, {metric}"] for metric in ("cosine", "cosine, products"))
    chosen = results("analogies-weights")["chosen"]
    asked = "Of Google's analogies, {:.3f} of the {:,} questions whose words are known"
    answered = "skip-gram answers {:.3f} of them by sums ({:.3f}, {:.3f}) and {:.3f} by products"
    of_sums = sums["all"], sums["semantic"], sums["grammar"]
    return [
        Line(page, asked, (share["all"], used["all"])),
        Line(page, "(semantic {:.3f}, grammar {:.3f};", (share["semantic"], share["grammar"])),
        Line(page, answered, (*of_sums, products["all"])),
        Line(page, "{:.3f} are answered, {:.3f} of the even ones", (chosen["odd"], chosen["even"])),
        Line("README.md", "answers {:.3f} of Google's analogies, Omni {:.3f}.", (sums["all"], share["all"])),
    ]


def _dense_vectors() -> list[Line]:
    """Vectors of few dimensions, and Omni itself; `results/dense-vectors.json` and `results/rivals.json`."""
    dense, whole, page, found = results("dense-vectors"), results("rivals"), "docs/sharing.md", []
    few = {
        **dense["semcat_of_frequent_words"],
        "omni": results("semcat-candidates")["omni"]["semcat_p10"],
    }
    for name, label in (
        ("omni, 300 dimensions", "Omni, 300 dimensions"),
        ("omni, 100 dimensions", "Omni, 100 dimensions"),
        ("omni, topics alone", "Omni, 300 dimensions of topics alone"),
        ("sg-w5-n10-s4", "skip-gram, 300 dimensions, window 5, 10 negatives"),
        ("svd-w2-marked-p0.0", "SVD of PPMI, places of two words on each side"),
        ("svd-w5-p0.0", "SVD of PPMI, neighbours within five words"),
        ("omni", "Omni itself, `similarity`"),
    ):
        source = whole if name == "omni" else dense
        pairs = next(row for row in source["pairs"]["rows"] if row["model"] == name)
        simlex = next(part for part in pairs["sets"] if part["name"] == "SimLex-999")
        lists = {row["set"]: row for row in source["categories"]["rows"] if row["model"] == name}
        values = (
            *(pairs["average"]["spearman"], simlex["agreement"]["spearman"]),
            *(lists["SEMCAT"]["precision"]["value"], few[name], lists["AP"]["k_means"]),
        )
        found.append(Line(page, f"| {label} |{' {:.3f} |' * len(values)}", values))
    ahead = {row["model"]: row["difference"]["spearman"] for row in dense["pairs"]["rows"][1:]}
    leads = ahead["sg-w5-n10-s4"], ahead["svd-w5-p0.0"]
    found.append(Line(page, "(they are ahead by {:.3f} and {:.3f})", leads))
    return [*found, *_fewer_candidates(few["omni, 300 dimensions"])]


def _fewer_candidates(dense: float) -> list[Line]:
    """SEMCAT where only frequent words and its own may be listed, with and without trust."""
    found, page = results("semcat-candidates"), "docs/similarity.md"
    listed = [found[name]["semcat_p10"] for name in ("omni", "sg-w5-n10-s4", "svd-w2-marked-p0.0")]
    trusted = found["omni, all words trusted"]["semcat_p10"]
    return [
        Line(page, "may be listed, it is {:.3f} (skip-gram {:.3f}, SVD of places {:.3f})", tuple(listed)),
        Line(page, "without it Omni has {:.3f} (`bench", (trusted,)),
        Line(page, "which know no trust, have {:.3f} of these words", (dense,)),
    ]


def _downloads() -> list[Line]:
    """Vectors that people could download, on the pairs that both know; `results/downloads.json`."""
    found, page = [], "docs/similarity.md"
    leads: dict[str, tuple[float, ...]] = {}
    for one in results("downloads"):
        theirs, ours = one["pairs"]["rows"]
        averages = [row["average"]["spearman"] for row in (theirs, ours)]
        difference = ours["difference"]
        lead = difference["spearman_interval"]
        simlex = [
            next(part for part in row["sets"] if part["name"] == "SimLex-999")["agreement"]["spearman"]
            for row in (theirs, ours)
        ]
        lists = [row["precision"]["value"] for row in one["categories"]["rows"] if row["set"] == "AP"]
        cells = "{:.3f} | {:.3f} | {:.3f} to {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |"
        found.append(Line(page, f"| {one['download']} | {cells}", (*averages, *lead, *simlex, *lists)))
        leads[one["download"].split()[0]] = (averages[1], averages[0], *lead)
    template = "{:.3f} against the {:.3f} of Google News Word2Vec ({:.3f} to {:.3f}"
    found.append(Line("README.md", template, leads["Google"]))
    template = "{:.3f} against the {:.3f} of GloVe 6B ({:.3f} to {:.3f})"
    found.append(Line("README.md", template, leads["GloVe"]))
    shown = results("word-forms")
    template = "{:.1f} % of the neighbours shown for {:,} words are forms of the word; unfolded {:.1f} %"
    values = (100 * shown["shown"], shown["words asked for lists"], 100 * shown["shown unfolded"])
    found.append(Line(page, template, values))
    found.append(Line(page, "There are {:,} pairs of forms among", (shown["pairs of forms"],)))
    judged = shown["judged pairs of the present rule"], shown["of which right"]
    found.append(Line(page, "Of {:,} random ones {:,} are right", judged))
    return found


def _costs() -> list[Line]:
    costs = {name: cost["cpu_seconds"] for name, cost in results("similarity-cost").items()}
    preparing = {name: cost.get("preparing_cpu_seconds") for name, cost in results("similarity-cost").items()}
    omni, ppmi = ((costs[name], preparing[name]) for name in ("omni", "ppmi"))
    others = tuple(costs[name] for name in ("word2vec", "fasttext", "glove"))
    found = [
        Line(
            "README.md",
            "| CPU seconds, training + preparing | {:.0f} + {:.0f}"
            + " | {:,.0f}" * 3
            + " | {:.0f} + {:.0f} |",
            (*omni, *others, *ppmi),
        ),
        Line("docs/similarity.md", "| {:.0f} + {:.0f} to prepare the similarity |", omni),
        Line("docs/comparison.md", "| Omni, defaults | {:.0f} + {:.0f} |", omni),
        Line("docs/comparison.md", "| PPMI (counts only) | {:.0f} + {:.0f} |", ppmi),
        Line("docs/comparison.md", "| GloVe, 25 passes | {:.0f} |", (costs["glove"],)),
        Line("docs/comparison.md", "| Word2Vec, 25 epochs | {:,.0f} |", (costs["word2vec"],)),
        Line("docs/parameters.md", "took {:.0f} CPU seconds, {:.1f} ms per word", (omni[0], omni[0] / 40)),
    ]
    times = results("time-per-word")
    sentences, messages = times["sentences"], times["messages"]
    template = "About {:.0f} ms per word on sentences and {:.0f} ms on whole long documents with the defaults"
    found.append(Line("docs/faq.md", template, (sentences["defaults_ms"], messages["defaults_ms"])))
    figures = (sentences["paper_ms"], messages["paper_ms"])
    found.append(Line("docs/faq.md", "defaults, {:.0f} and {:.0f} ms with the paper's settings", figures))
    for name, passes in (("ppmi", ""), ("glove", ", 25 passes"), ("word2vec", ", 25 epochs")):
        template = f"| `{name}`{passes} | {{:,.0f}} | {{:.3f}} |"
        found.append(Line("docs/baselines.md", template, (costs[name], costs[name] / 40_000)))
    return found


def _kernel() -> list[Line]:
    rows = results("kernel")["rows"]

    def span(start: str, which: str) -> tuple[float, float]:
        values = [
            float(row[which].split()[0]) for row in rows if row["measure"].startswith(start) and row["theirs"]
        ]
        return min(values), max(values)

    exact, both, two = "train, d = 40,000, exact", "train + read out", "train, d = 40,000, s = 2"
    long = "train, d = 20,000, long documents"
    document = "benchmarks/README.md"
    return [
        Line(
            document,
            "| train, d = 40,000, `exact` | {:.1f}-{:.1f} s | {:.3f}-{:.3f} s |",
            (*span(exact, "theirs"), *span(exact, "ours")),
        ),
        Line(
            document,
            "| train + read out, d = 40,000 | {:.1f}-{:.1f} s | {:.3f}-{:.3f} s |",
            (*span(both, "theirs"), *span(both, "ours")),
        ),
        Line(
            document,
            "| train, d = 20,000, long documents | {:.1f}-{:.1f} s | {:.2f}-{:.2f} s |",
            (*span(long, "theirs"), *span(long, "ours")),
        ),
        Line(
            document,
            "| train, d = 40,000, s = 2 | {:.0f}-{:.0f} s | {:.2f}-{:.2f} s |",
            (*span(two, "theirs"), *span(two, "ours")),
        ),
        Line(
            "README.md",
            "trains in {:.2f} s where the published code takes {:.0f} s",
            (span(exact, "ours")[1], span(exact, "theirs")[0]),
        ),
        Line(
            "docs/comparison.md",
            "| train one word | {:.1f}-{:.1f} s | {:.2f} s |",
            (*span(exact, "theirs"), span(exact, "ours")[1]),
        ),
        Line(
            "docs/comparison.md",
            "| train it and read out its vector | {:.0f}-{:.0f} s | {:.2f} s |",
            (*span(both, "theirs"), span(both, "ours")[1]),
        ),
        Line(
            "docs/comparison.md",
            "| train it at specificity 2 | {:.0f}-{:.0f} s | {:.1f} s |",
            (*span(two, "theirs"), span(two, "ours")[1]),
        ),
    ]


def _parameters() -> list[Line]:
    labels = {
        "{}": "| **defaults** |  |",
        '{"n_examples": 125}': "| `n_examples` (500) | 125 |",
        '{"accumulation": 1}': "| `accumulation` (24) | 1 |",
        '{"n_clauses": 8}': "| `n_clauses` (32) | 8 |",
        '{"specificity": 1.2}': "| `specificity` (1.0) | 1.2 |",
        '{"threshold": 1000}': "| `threshold` (20,000) | 1000 |",
        '{"max_included_literals": null}': "| `max_included_literals` (3) | none |",
        '{"output_balancing": 0.25}': "| `output_balancing` (0.5) | 0.25 |",
        '{"algorithm": "fast"}': '| `algorithm` ("exact") | fast |',
    }
    found = []
    for result in results("parameters")["results"]:
        change = result["change"]
        label = labels.get(json.dumps(change))
        if label is None:
            value = next(iter(change.values()))
            label = f"|  | {value} |" if len(change) == 1 else "| `OmniTMAE.paper()` | 8,000 examples |"
        figures = (result["spearman"], result["ms_per_word"])
        found.append(Line("docs/parameters.md", label + " {:.3f} | {:.1f} ms |", figures))
    return found


def _passages() -> list[Line]:
    figures = ("related_simlex", "related_men_odd", "simlex", "men_odd", "semcat_p10", "training_cpu_seconds")
    found = []
    for row in results("passages")["rows"]:
        reach = row["passage_reach"]
        label = f"passages, reach {reach}" if reach else "whole documents"
        template = f"| {row['text']} | {{:,.0f}} | {label} |" + " {:.3f} |" * 5 + " {:.0f} |"
        values = (row["words_per_document"], *(row[name] for name in figures))
        found.append(Line("docs/parameters.md", template, values))
    return found


def _place_evidence() -> list[Line]:
    evidence = results("place-evidence")
    labels = {
        "learned": "as learned",
        "counted": "the same neighbours, counted",
        "gaps": "numbers and punctuation take a place of their own",
        "content": "the nearest word on either side that is no function word",
        "both": "the last two in one matrix",
    }
    figures = ("simlex", "men_odd", "semcat_p10")
    found = [
        Line(
            "docs/similarity.md",
            f"| {labels[row['way']]} | {{:.3f}} | {{:.3f}} | {{:.3f}} |",
            tuple(row[name] for name in figures),
        )
        for row in evidence["rows"]
    ]
    explained = [row["explained"] for row in evidence["coordinates"]]
    template = "That explains {:.2f} to {:.2f} of the variance"
    return [*found, Line("docs/similarity.md", template, (min(explained), max(explained)))]


def _clustering() -> list[Line]:
    every = {name: found["row"] for name, found in results("clustering").items()}
    found = []
    for model, shown, figures in (
        ("omni", "omni", "**{:.3f} / {:.3f}**"),
        ("ppmi", "ppmi, read like omni", "{:.3f} / {:.3f}"),
        ("glove", "glove", "{:.3f} / {:.3f}"),
        ("word2vec", "word2vec", "{:.3f} / {:.3f}"),
        ("fasttext", "fasttext", "{:.3f} / {:.3f}"),
    ):
        first = every[f"{model}, length, 30 axes, 3 seeds"]
        best = max((row for name, row in every.items() if row["model"] == model), key=lambda row: row["nmi"])
        values = (first["nmi"], first["ari"], best["nmi"], best["ari"])
        found.append(Line("docs/documents.md", f"| {shown} | {figures} | {{:.3f}} / {{:.3f}} ", values))
    raw = {row["weighting"]: row["nmi"] for row in results("clustering-raw")["rows"]}
    template = "NMI {:.3f} against {:.3f} in our way"
    found.append(Line("docs/documents.md", template, (raw["raw"], raw["length"])))
    return found


def _classification() -> list[Line]:
    shown = {
        "unchanged text": "unchanged text",
        "random words": "words at random",
        "omni, 300 dimensions": "omni, `reduce(300)`",
        "bert (6-layer MiniLM, frozen)": "bert (6-layer MiniLM, frozen)",
        "elmo (small, trained here)": "elmo (small, trained here)",
        **{name: name for name in ("omni", "fast-omni", "fasttext", "word2vec", "glove")},
    }
    highest = {"omni, 300 dimensions": ("{:.3f}", "**{:.3f}**"), "fasttext": ("**{:.3f}**", "{:.3f}")}
    found = []
    for name, label in shown.items():
        fields = " | ".join(highest.get(name, ("{:.3f}", "{:.3f}")))
        values = (results("classification")[way]["rows"][name]["average"] for way in ("text", "notebook"))
        found.append(Line("docs/documents.md", f"| {label} | {fields} |", tuple(values)))
    return found


def _interpretability() -> list[Line]:
    shown = {
        "omni": "Omni",
        "omni, raw states": "Omni, raw states",
        "word2vec": "Word2Vec",
        "fasttext": "FastText",
        "glove": "GloVe",
        "ppmi": "PPMI",
        "NMF of PPMI, 100": "NMF of PPMI",
    }
    found = []
    for result in results("interpretability")["results"]:
        kinds = ("dimension_coherence", "word_coherence", "neighbour_coherence")
        left = next(part for part in result["faithfulness"] if part["removed"] == 10)
        shares = [result["intruders_found"], result["zeros"]]
        shares += [left["left_without_top"], left["left_without_random"]]
        values = (*(result[kind] for kind in kinds), *(100 * share for share in shares))
        template = f"| {shown[result['name']]} | {result['n_dimensions']:,}" + " | {:.3f}" * 3
        template += " | {:.0f} % | {:.0f} % | {:.0f} % / {:.0f} % |"
        found.append(Line("docs/explain.md", template, values))
    return found


def _themes() -> list[Line]:
    found = []
    kinds = {"dimension_coherence": 1, "dimension_c_v": 1, "intruders_found": 100, "category_score": 1}
    for result in results("themes")["results"]:
        stable = result["dimension_stability"]
        scales = kinds if stable is None else {**kinds, "dimension_stability": 100}
        values = {
            kind: [scale * value for value in (result[kind], *result["intervals"][kind])]
            for kind, scale in scales.items()
        }
        forms = {
            kind: "{:.0f} ({:.0f}-{:.0f})" if scale == 100 else "{:.3f} ({:.3f}-{:.3f})"
            for kind, scale in scales.items()
        }
        shown = [forms[kind] for kind in kinds]
        columns = [*shown, "{:.0f}", forms.get("dimension_stability", "no seed")]
        numbers = [*(value for kind in kinds for value in values[kind]), 100 * result["zeros"]]
        numbers += values.get("dimension_stability", [])
        three = next(row for row in result["faithfulness"] if row["removed"] == 3)
        columns.append("{:.0f}, {:.0f}")
        numbers += [100 * three["left_without_top"], 100 * three["left_without_random"]]
        template = f"| {result['name']} | {result['n_dimensions']:,} | {' | '.join(columns)} |"
        found.append(Line("docs/themes.md", template, tuple(numbers)))
    for kept, prefix in (("themes", ""), ("themes-inside", "of ")):
        for name, figures in results(kept)["ahead_by"].items():
            if figures["paired"]:
                numbers = [scale * value for kind, scale in kinds.items() for value in figures[kind]]
                columns = [
                    "{:.1f} ({:.1f}-{:.1f})" if scale == 100 else "{:.3f} ({:.3f}-{:.3f})"
                    for scale in kinds.values()
                ]
                template = f"| {prefix}{name} | {' | '.join(columns)} |"
                found.append(Line("docs/themes.md", template, tuple(numbers)))
    for result in results("themes-inside")["results"]:
        columns = ["{:.0f}" if scale == 100 else "{:.3f}" for scale in kinds.values()]
        template = f"| {result['name']} | {' | '.join(columns)} |"
        numbers = [scale * result[kind] for kind, scale in kinds.items()]
        found.append(Line("docs/themes.md", template, tuple(numbers)))
    for name, row in results("theme-vectors").items():
        template = f"| {name} | {{:.3f}} | {{:.3f}} | {{:.0f}} % |"
        figures = (row["agnews_accuracy"], row["ap_purity"], 100 * row["zeros"])
        found.append(Line("docs/themes.md", template, figures))
    return found


def _senses() -> list[Line]:
    senses = results("senses")
    found = []
    for name, label in (
        ("omni", "Omni, number of senses found"),
        ("word2vec, silhouette", "Word2Vec, as many clusters as have the highest silhouette"),
        ("word2vec, like omni", "Word2Vec, number found as Omni does, without substitutes"),
        ("omni, two", "Omni, two senses given"),
        ("word2vec", "Word2Vec, two clusters given"),
        ("word2vec, rarity", "the same, words weighted by rarity"),
        ("majority", "one sense for all"),
    ):
        template = f"| {label} | {{:.3f}} ({{:.3f}}-{{:.3f}}) | {{:.3f}} ({{:.3f}}-{{:.3f}}) |"
        found.append(Line("docs/explain.md", template, (*senses["v"][name], *senses["b_cubed"][name])))
    numbers, page = "{:.3f} ({:.3f}-{:.3f})", "docs/explain.md"
    for template, score, name in (
        (f"V-measure is higher by {numbers}", "v", "omni, two - word2vec"),
        (f"B-cubed F1 is ahead of the silhouette by\n  {numbers}", "b_cubed", "omni - word2vec, silhouette"),
        (f"of its own way with Word2Vec by {numbers}", "b_cubed", "omni - word2vec, like omni"),
        (f"and even of Word2Vec with two given by {numbers}", "b_cubed", "omni - word2vec"),
        (f"V-measure is ahead of the silhouette's by {numbers}", "v", "omni - word2vec, silhouette"),
    ):
        found.append(Line(page, template, tuple(senses[score][name])))
    seeds, rules = results("senses-seeds"), results("document-rules")
    return [
        *found,
        Line(page, "{:.0f} % have the same number\nof senses", (100 * seeds["same_number_of_senses"],)),
        Line(page, "by both is {:.2f}", (seeds["rand_index_split_by_both"],)),
        Line(
            page,
            "Of these words {:.0f} % are split by the first model and {:.0f} % by the second",
            tuple(100 * share for share in seeds["words_split"]),
        ),
        Line(page, "for {:.0f} % of 200 random words", (100 * rules["share_with_lift_20"],)),
        Line(page, "(median {:.0f}; {:.3f} CPU s", (rules["median_lift"], rules["cpu_seconds_per_word"])),
        Line(page, "{:.0f} % of the single words that the pairs", (100 * senses["single_words_split"],)),
        Line(
            page,
            "{:.0f} keep one sense, {:.0f} have two, {:.0f} more",
            (*senses["pseudowords_by_senses"][:2], sum(senses["pseudowords_by_senses"][2:])),
        ),
    ]


def _explorer() -> list[Line]:
    answers = results("explorer")["answers"]
    cpu = {answer["question"]: answer["cpu"] for answer in answers}
    by = {metric: cpu[f"neighbours by {metric}"] for metric in ("similarity", "association", "cosine")}
    document = "docs/explorer.md"
    return [
        Line(document, "neighbours by similarity {:.0f} ms, by", (by["similarity"],)),
        Line(document, "association {:.0f}, by cosine {:.0f} (exact", (by["association"], by["cosine"])),
        Line(
            document, "a comparison {:.0f}; senses {:.0f}", (cpu["comparison by similarity"], cpu["senses"])
        ),
        Line(document, "questions are chosen: {:.1f} s, in", (answers[0]["cpu"] / 1000,)),
        Line(
            document,
            "again, {:.0f}; the first page {:.0f}.",
            (cpu["clauses as rules"], cpu["first page"]),
        ),
        Line(document, "same bits every time): {:.0f} CPU", (results("explorer-map")["cpu_seconds"],)),
        Line(
            document,
            "about and where they are on the map, into up to {:.0f} clusters",
            (len(results("explorer-map")["clusters"]),),
        ),
        Line(
            "CHANGELOG.md",
            "in {:.0f} CPU seconds for 40,000 words.",
            (results("explorer-map")["cpu_seconds"],),
        ),
    ]


def _classifier() -> list[Line]:
    rows = {row["measure"]: row for row in results("classifier")["rows"]}
    epoch = rows["one epoch, 25,000 x 20,000, 1000 clauses"]
    seconds = tuple(float(epoch[which].split()[0]) for which in ("theirs", "ours"))
    template = "one thread, CPU time | {:.0f} s | {:.1f} s | {:.0f}x |"
    accuracies = tuple(float(rows[f"IMDb, 10 epochs, seed {seed}"]["ours"]) for seed in range(3))
    document = "benchmarks/README.md"
    return [
        Line(document, template, (*seconds, float(epoch["result"].rstrip("x")))),
        Line(document, "after 10 epochs, seeds 0, 1, 2 | | {:.3f}, {:.3f}, {:.3f} |", accuracies),
    ]


def _document_vectors() -> list[Line]:
    rows = {row["vectors"]: row for row in results("document-vectors")}
    labels = {
        "tf-idf": "tf-idf",
        "`OmniVectorizer(model)`": "passages: OmniVectorizer(model)",
        '`weighting="idf"`': 'passages: weighting="idf"',
        "`unit_length=False`": "passages: unit_length=False",
        "the first, topics learned from whole reviews": "whole: OmniVectorizer(model)",
    }
    classifiers = [name for name in rows["tf-idf"] if name.isidentifier() and name != "vectors"]
    page, cells = "docs/documents.md", " {:.3f} |" * len(classifiers)
    found = [
        Line(page, f"| {label} |{cells}", tuple(rows[name][one] for one in classifiers))
        for label, name in labels.items()
    ]
    ways = ("passages: OmniVectorizer(model)", "passages: unit_length=False")
    folds = tuple(rows[name]["LogisticRegression, five folds"] for name in ways)
    return [*found, Line(page, "LogisticRegression reaches {:.3f} with it and\n{:.3f} without", folds)]


def _sentences() -> list[Line]:
    return [Line("docs/sharing.md", "classifies {:.1f} % right", (100 * results("mteb-agnews")["accuracy"],))]


def main() -> int:
    """Check the documents, or write the numbers into them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the measured numbers into the documents")
    if parser.parse_args().write:
        for line in lines():
            line.write()
    problems = [problem for line in lines() if (problem := line.problem())]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(lines()) - len(problems)} of {len(lines())} lines have the numbers that were measured")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
