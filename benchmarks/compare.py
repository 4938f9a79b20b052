"""Find words whose use was changed on purpose, against other ways; with false alarms, reasons and stability.

    python benchmarks/compare.py prepare enwiki.txt -o change [--avoid other/truth.json]
    python benchmarks/compare.py search -o other                    results/compare_search.json
    python benchmarks/compare.py run -o change [--only omnitm] [--model wiki.model]
    python benchmarks/compare.py machines -o other                  results/compare_machines.json
    python benchmarks/compare.py speed -o change                    results/compare_speed.json
    python benchmarks/compare.py report -o change                   results/compare.json and compare.md

A part of the sentences is drawn into two halves. In the second half a share of the occurrences of a donor
word is renamed to a target of about the same frequency; controls are words of that frequency that nothing is
done to. `search` tries settings of the rivals on pairs of other sentences, prepared with another --offset.
`run` keeps every step in the folder, and goes on where it was stopped; rivals have the settings that were
found, or else the usual ones, and `--seeds` runs. `machines` shuffles by machines that are trained anew each
time, which was the first plan. `speed` says what the thousand most frequent words cost.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.comparison import Sides, compare_corpora
from omnitm.comparison.machines import Drawn, draw_documents
from omnitm.comparison.words import N_EXAMPLES, profiles_of
from omnitm.corpus import DocumentIndex, Preparation, Reading, VocabularyRules, build_index
from omnitm.corpus.groups import group_index, keep_grouping
from omnitm.machine import AutoencoderSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RESULTS = Path(__file__).parent / "results"
SHARES = 0.25, 0.5
N_WORDS = 15_000
FEWEST, MOST = 150, 2_500  # documents of a pair's words
SEEDS = 0, 1
N_BY_MACHINES = 200  # shufflings
MACHINE = AutoencoderSettings(n_examples=N_EXAMPLES, contexts="both")
N_SHUFFLED, SHUFFLINGS = 500, 2  # words, and shuffled groups, for false alarms
_WORD = re.compile("[a-z]+")
SKIP_GRAM = {"window": 5, "vector_size": 100, "epochs": 10}
WINDOWS = {"window": 5, "smoothing": 0.75, "least": 1}
# Other values than those above, tried one at a time, then the best of each together.
SEARCHED: dict[str, dict[str, tuple[float, ...]]] = {
    "ppmi": {"window": (2, 10, 20), "smoothing": (0.5, 1.0), "least": (2, 5)},
    "aligned": {"window": (2, 10), "vector_size": (50,)},
    "referencing": {"window": (2, 10), "vector_size": (50,)},
}
NEIGHBOURS = 30, 100, 300, 1_000, 3_000
RIVALS = {
    "Procrustes": ("aligned", "Word2Vec, Procrustes"),
    "neighbours": ("aligned", "Word2Vec, same neighbours"),
    "referencing": ("referencing", "temporal referencing, skip-gram"),
    "ppmi": ("ppmi", "PPMI, smoothed"),
}
RIVAL_SEEDS = 1, 2, 3
SEARCH_SHARE = SHARES[0]
Settings = dict[str, float]
Scores = dict[str, list[float]]  # by the name of a way to score


def prepare(
    source: Path, output: Path, *, every: int, offset: int, n_pairs: int, seed: int, avoid: set[str]
) -> None:
    """Write both halves with renamed words for every share, index them, and keep the truth."""
    chosen = random.Random(seed)  # noqa: S311  # no secret
    tokens = Preparation().tokens
    with source.open(encoding="utf-8") as lines:
        texts = [line.lower() for k, line in enumerate(lines) if k % every == offset and line.count(" ") > 5]
    frequency = Counter(word for text in texts for word in set(_WORD.findall(text)))
    usual = (w for w, n in frequency.items() if FEWEST <= n <= MOST and w not in avoid and tokens(w) == [w])
    words = sorted(usual, key=lambda w: (-frequency[w], w))
    triples = [
        chosen.sample(words[place : place + 3], 3)
        for place in chosen.sample(range(0, len(words) - 3, 3), n_pairs)
    ]
    renamed = {donor: target for donor, target, _ in triples}
    controls = [control for _, _, control in triples]
    halves = np.random.default_rng(0).integers(0, 2, len(texts)).tolist()
    rules = VocabularyRules(max_words=N_WORDS, keep=[*renamed, *renamed.values(), *controls])
    output.mkdir(parents=True, exist_ok=True)
    for share in SHARES:
        folder = output / str(share)
        folder.mkdir(exist_ok=True)

        def other(found: re.Match[str], share: float = share) -> str:
            return renamed[found[0]] if found[0] in renamed and chosen.random() < share else found[0]

        with (folder / "text.jsonl").open("w", encoding="utf-8") as file:
            for half, text in zip(halves, texts, strict=True):
                shown = _WORD.sub(other, text) if half else text
                file.write(json.dumps({"text": shown, "half": "ab"[half]}) + "\n")
        index = build_index(
            folder / "text.jsonl",
            folder / "index",
            reading=Reading(column="text"),
            vocabulary=rules,
            overwrite=True,
        )
        keep_grouping(index, group_index(index, "half"))
    truth = {"pairs": list(renamed.items()), "controls": controls, "sentences": len(texts)}
    (output / "truth.json").write_text(json.dumps(truth))


class Task:
    """The prepared text of a share, and the words that are ranked."""

    def __init__(self, folder: Path, share: float) -> None:
        truth = json.loads((folder / "truth.json").read_text())
        self.folder = folder / str(share)
        self.sides = Sides(DocumentIndex.open(self.folder / "index"), "half")
        enough = {
            word for word, has in zip(self.sides.index.vocabulary, self.sides.has_enough, strict=True) if has
        }
        self.pairs = [pair for pair in truth["pairs"] if pair[1] in enough]
        self.controls = [word for word in truth["controls"] if word in enough]
        self.words = [target for _, target in self.pairs] + self.controls
        self.labels = np.array([1] * len(self.pairs) + [0] * len(self.controls))

    def half(self, side: int, tagged: str = "") -> Iterator[list[str]]:
        """Yield the sentences of a half; words to rank get a tag."""
        running = self.sides.index.running
        assert running is not None  # noqa: S101  # the index was made with it
        names = [*running.names, ""]
        if tagged:
            names = [f"{name}{tagged}" if name in set(self.words) else name for name in names]
        for document, numbers in enumerate(running.documents()):
            if self.sides.of_documents[document] == side:
                yield [names[k] for k in numbers.tolist() if names[k]]


def run_omnitm(task: Task) -> dict[str, Any]:
    """Compare the words with two seeds."""
    started = time.process_time()
    task.sides.features  # noqa: B018  # so that they are timed by themselves
    seconds = [time.process_time() - started]
    found = {}
    for seed in SEEDS:
        log = task.folder / f"omnitm-{seed}.words.jsonl"
        n_done = len(log.read_text().splitlines()) - 1 if log.exists() else 0
        started = time.process_time()
        compared = compare_corpora(
            task.sides.index, by=task.sides, words=task.words, seed=seed, n_threads=1, log=log
        )
        if n_done == 0:
            seconds.append((time.process_time() - started) / len(task.words))
        found[seed] = {word.comparison.word: word for word in compared.words}
    first = found[SEEDS[0]]
    return {
        "scores": [first[word].comparison.strength for word in task.words],
        "other_seed": [found[SEEDS[1]][word].comparison.strength for word in task.words],
        "p": [first[word].comparison.p for word in task.words],
        "q": [first[word].q for word in task.words],
        "gained": [
            [[c.kind, c.name, c.before, c.after] for c in first[w].comparison.gained] for w in task.words
        ],
        "lost": [[[c.kind, c.name, c.before, c.after] for c in first[w].comparison.lost] for w in task.words],
        "seconds_for_directions": seconds[0],
        "seconds_per_word": seconds[1] if len(seconds) > 1 else None,
    }


def aligned(task: Task, settings: Settings, seed: int) -> Scores:
    """Train skip-gram in each half; score by Procrustes, and by how many nearest words are the same."""
    models = [_skip_gram(list(task.half(side)), settings, seed) for side in (0, 1)]
    shared = [word for word in models[0].index_to_key if word in models[1].key_to_index]
    one, two = (model[shared] / np.linalg.norm(model[shared], axis=1, keepdims=True) for model in models)
    left, _, right = np.linalg.svd(two.T @ one)
    turned = two @ (left @ right)
    rows = [shared.index(word) for word in task.words]
    orders = [
        np.argsort(-(vectors[rows] @ vectors.T), axis=1)[:, 1 : max(NEIGHBOURS) + 1] for vectors in (one, two)
    ]
    scores = {"Procrustes": [1 - float(one[row] @ turned[row]) for row in rows]}
    for count in NEIGHBOURS:
        pairs = zip(*(order[:, :count] for order in orders), strict=True)
        scores[f"neighbours {count}"] = [-float(len(np.intersect1d(*pair))) for pair in pairs]
    return scores


def _skip_gram(texts: list[list[str]], settings: Settings, seed: int) -> Any:
    from gensim.models import Word2Vec

    return Word2Vec(texts, sg=1, min_count=10, negative=5, workers=1, seed=seed, **settings).wv


def referencing(task: Task, settings: Settings, seed: int) -> Scores:
    """Train one skip-gram model in which the words to rank are two words each, one per half."""
    vectors = _skip_gram([*task.half(0, "#0"), *task.half(1, "#1")], settings, seed)
    return {"referencing": [1 - float(vectors.similarity(f"{w}#0", f"{w}#1")) for w in task.words]}


def ppmi(task: Task, settings: Settings, _: int) -> Scores:
    """Score by the cosine of a word's two rows of smoothed PPMI, by windows of words on either side."""
    running, width = task.sides.index.running, int(settings["window"])
    assert running is not None  # noqa: S101  # the index was made with it
    edge = np.full(width, 2**32 - 1)
    tokens = np.concatenate([edge, running.tokens, edge])
    n, ends = len(running.word_starts) - 1, running.document_ends
    documents = np.searchsorted(ends, np.arange(len(running.tokens))) - 1
    sides = np.where(running.tokens < n, task.sides.of_documents[documents.clip(min=0)], -1)
    of_tokens = np.concatenate([edge.astype(np.int64), documents, edge.astype(np.int64)])
    smooth = [
        np.bincount(running.tokens[sides == side], minlength=n) ** settings["smoothing"] for side in (0, 1)
    ]
    around = np.array([k for k in range(-width, width + 1) if k])
    scores = []
    for word in task.words:
        places, rows = running.places_of(task.sides.index.word_id(word)).astype(np.int64), []
        for side in (0, 1):
            there = places[sides[places] == side]
            at = (there + width)[:, None] + around
            near = tokens[at][(of_tokens[at] == documents[there][:, None]) & (tokens[at] < n)]
            counts = np.bincount(near.astype(np.int64), minlength=n)
            expected = counts.sum() * smooth[side] / smooth[side].sum()
            ratio = np.log(np.maximum(counts, 1e-9) / np.maximum(expected, 1e-9)).clip(min=0)
            rows.append(np.where(counts >= settings["least"], ratio, 0))
        lengths = float(np.linalg.norm(rows[0]) * np.linalg.norm(rows[1]))
        scores.append(1 - float(rows[0] @ rows[1]) / max(lengths, 1e-9))
    return {"ppmi": scores}


WAYS: dict[str, Callable[[Task, Settings, int], Scores]] = {
    "ppmi": ppmi,
    "aligned": aligned,
    "referencing": referencing,
}


def scored(task: Task, way: str, settings: Settings, seed: int) -> dict[str, Any]:
    """Score the words in a way, unless that is done already."""
    named = "-".join(f"{name}={value:g}" for name, value in settings.items())
    file = task.folder / f"{way}-{named}-{seed}.json"
    if not file.exists():
        print(file, flush=True)
        started = time.process_time()
        scores = WAYS[way](task, settings, seed)
        file.write_text(json.dumps({"scores": scores, "seconds": time.process_time() - started}))
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def search(folder: Path, only: list[str]) -> None:
    """Find settings for every rival: one at a time is changed, then those that were better together."""
    task, file = Task(folder, SEARCH_SHARE), RESULTS / "compare_search.json"
    for way, values in SEARCHED.items():
        if only and way not in only:
            continue
        usual: Settings = dict(WINDOWS if way == "ppmi" else SKIP_GRAM)
        tried = [usual, *(usual | {name: value} for name, others in values.items() for value in others)]
        for name in [name for name, (of, _) in RIVALS.items() if of == way]:
            levels = _levels(task, way, name, tried)
            together = dict(usual)
            for key in values:
                alone = [entry for entry in levels if all(entry[1][k] == usual[k] for k in usual if k != key)]
                together[key] = max(alone, key=lambda entry: entry[0])[1][key]
            levels = _levels(task, way, name, [*tried, together])
            level, settings, column = max(levels, key=lambda entry: entry[0])
            found = json.loads(file.read_text()) if file.exists() else {}
            found[name] = {
                "settings": settings,
                "column": column,
                "average_precision": level,
                "tried": [[round(a, 4), b, c] for a, b, c in levels],
            }
            file.write_text(json.dumps(found, indent=1) + "\n")


def _levels(task: Task, way: str, name: str, tried: list[Settings]) -> list[tuple[float, Settings, str]]:
    """Average precision of a rival by its settings, and by what is read off the same vectors."""
    levels = []
    for settings in tried:
        scores = scored(task, way, settings, RIVAL_SEEDS[0])["scores"]
        levels += [
            (average_precision(task.labels, np.array(values)), settings, column)
            for column, values in scores.items()
            if column.split()[0] == name
        ]
    return levels


def run_rivals(task: Task, way: str, n_seeds: int) -> dict[str, Any]:
    """Score the words in the ways that were best on other pairs, with several seeds."""
    file = RESULTS / "compare_search.json"
    searched = json.loads(file.read_text()) if file.exists() else {}
    usual = WINDOWS if way == "ppmi" else SKIP_GRAM
    result: dict[str, Any] = {}
    for name, (of, title) in RIVALS.items():
        if of == way:
            column = "neighbours 1000" if name == "neighbours" else name
            chosen = searched.get(name, {"settings": usual, "column": column})
            settings, column = chosen["settings"], chosen["column"]
            seeds = RIVAL_SEEDS[: 1 if way == "ppmi" else n_seeds]
            runs = [scored(task, way, settings, seed) for seed in seeds]
            result[title] = {
                "settings": settings | {"column": column},
                "scores": [found["scores"][column] for found in runs],
                "seconds": runs[0]["seconds"],
            }
    return result


def drawn_documents(sides: Sides, word: str) -> list[Drawn]:
    """Draw documents of both sides that machines learn a word from, as a comparison does."""
    inside = sides.index.documents_with(sides.index.word_id(word)).astype(np.int64)
    return draw_documents(word, 0, [inside[sides.of_documents[inside] == k] for k in (0, 1)], sides.members)


def machines(folder: Path) -> None:
    """Score some of the words by machines instead, two of each kind per shuffling, and as it is done."""
    task = Task(folder, SEARCH_SHARE)
    n = len(task.pairs)
    labels = np.array([1] * len(task.words[:n:4]) + [0] * len(task.words[n::4]))
    words = [*task.words[:n:4], *task.words[n::4]]
    task.sides.features  # noqa: B018  # so that they are not timed here
    started, scores = time.process_time(), []
    for word in words:
        drawn, random = drawn_documents(task.sides, word), np.random.default_rng(0)
        n, together = len(drawn[0].inside), np.concatenate([side.inside for side in drawn])
        squares = []
        for k in range(N_BY_MACHINES + 1):
            order = random.permutation(together) if k else together
            halves = Drawn(np.sort(order[:n]), drawn[0].outside), Drawn(np.sort(order[n:]), drawn[1].outside)
            pair = [profiles_of(task.sides, word, half, MACHINE, 0) for half in halves]
            squares.append([_moved(*kind) for kind in zip(*pair, strict=True)])
        found = np.array(squares)
        changes = (found / np.maximum(found[1:].std(axis=0), 1e-30)).sum(axis=1)
        scores.append(float((changes[0] - changes[1:].mean()) / max(float(changes[1:].std()), 1e-30)))
    by_machines = (time.process_time() - started) / len(words)
    started = time.process_time()
    compared = compare_corpora(task.sides.index, by=task.sides, words=words, n_threads=1).words
    strengths = {word.comparison.word: word.comparison.strength for word in compared}
    counted = [strengths[word] for word in words]
    facts = {
        "words": len(words),
        "shufflings_by_machines": N_BY_MACHINES,
        "average_precision_by_machines": average_precision(labels, np.array(scores)),
        "average_precision_by_counts": average_precision(labels, np.array(counted)),
        "counts_ahead_by": _interval(labels, [counted], [scores]),
        "cpu_seconds_per_word_by_machines": by_machines,
        "cpu_seconds_per_word_by_counts": (time.process_time() - started) / len(words),
    }
    (RESULTS / "compare_machines.json").write_text(json.dumps(facts, indent=1) + "\n")
    print(json.dumps(facts, indent=1))


def _moved(first: Any, second: Any) -> float:
    """Squared distance of two profiles, each at length 1: the best of four tried on other pairs."""
    one, two = (row / max(float(np.linalg.norm(row)), 1e-9) for row in (first, second))
    return float(np.square(two - one).sum())


def run_false_alarms(task: Task) -> dict[str, Any]:
    """Shuffle the groups of documents, and count the words that seem to have changed."""
    index = task.sides.index
    frequencies = index.document_frequencies
    usual = np.flatnonzero((frequencies >= FEWEST) & (frequencies <= MOST))
    p, q = [], []
    for shuffling in range(SHUFFLINGS):
        generator = np.random.default_rng(7 + shuffling)
        labels = np.where(generator.permutation(index.n_documents) % 2, "a", "b").tolist()
        words = [index.vocabulary[k] for k in generator.choice(usual, N_SHUFFLED, replace=False).tolist()]
        log = task.folder / f"shuffled-{shuffling}.words.jsonl"
        found = compare_corpora(index, by=labels, words=words, n_permutations=500, n_threads=1, log=log).words
        p += [word.comparison.p for word in found]
        q += [word.q for word in found]
    return {"p": p, "q": q}


def run_reasons(task: Task, model: Path) -> dict[str, Any]:
    """Of ten gained features, how many stand out in the donor's own vector, of a model of more text."""
    from omnitm.vectors import WordVectors

    vectors = WordVectors.load(model)
    kinds = {"topic": (vectors.profiles.topic, vectors.feature_names)}
    if vectors.profiles.place is not None and vectors.place is not None:
        kinds["place"] = vectors.profiles.place, vectors.place.feature_names
    numbers = {kind: {name: k for k, name in enumerate(names)} for kind, (_, names) in kinds.items()}
    found = json.loads((task.folder / "omnitm.json").read_text())

    def precision(donor: str, features: list[list[Any]]) -> float | None:
        row, stand_out = vectors.key_to_index[donor], []
        for kind, name, *_ in features:
            profile = kinds[kind][0]
            columns = profile.columns[int(profile.starts[row]) : int(profile.starts[row + 1])]
            if name in numbers[kind]:
                stand_out.append(bool(np.isin(numbers[kind][name], columns)))
        return float(np.mean(stand_out)) if stand_out else None

    rows = []
    for place, (donor, target) in enumerate(task.pairs):
        if donor in vectors.key_to_index:
            gained, lost = found["gained"][place], found["lost"][place]
            agree = float(np.mean([after > before for *_, before, after in gained])) if gained else None
            rows.append(
                {
                    "target": target,
                    "n_gained": len(gained),
                    "gained": precision(donor, gained),
                    "lost": precision(donor, lost),
                    "topic": precision(donor, [f for f in gained if f[0] == "topic"]),
                    "place": precision(donor, [f for f in gained if f[0] == "place"]),
                    "machines_agree": agree,
                    "found": found["q"][place] <= 0.05,
                }
            )
    return {"pairs": rows}


STEPS: dict[str, Callable[..., dict[str, Any]]] = {
    "omnitm": run_omnitm,
    **{way: partial(run_rivals, way=way) for way in WAYS},
    "shuffled": run_false_alarms,
}


def run(folder: Path, only: list[str], model: Path | None, n_seeds: int) -> None:
    """Do every step that is not done yet."""
    for share in SHARES:
        for name, step in STEPS.items():
            file = folder / str(share) / f"{name}.json"
            is_rival = name in WAYS  # its runs are kept one by one, so that more seeds can be added
            if (only and name not in only) or (name == "shuffled" and share != SHARES[0]):
                continue
            if file.exists() and not is_rival:
                continue
            print(share, name, flush=True)
            task = Task(folder, share)
            file.write_text(json.dumps(step(task, n_seeds=n_seeds) if is_rival else step(task)))
        if model is not None:
            (folder / str(share) / "reasons.json").write_text(
                json.dumps(run_reasons(Task(folder, share), model))
            )


def speed(folder: Path) -> None:
    """Measure what every tenth of the thousand most frequent words costs, and a machine of it."""
    sides = Task(folder, SHARES[0]).sides
    index = sides.index
    started = time.process_time()
    sides.features  # noqa: B018  # so that they are timed by themselves
    facts: dict[str, Any] = {"cpu_seconds_for_directions": time.process_time() - started}
    least = np.where(sides.has_enough, sides.document_frequencies.min(axis=0), 0)
    words = [index.vocabulary[k] for k in np.argsort(-least, kind="stable")[:1_000:10].tolist()]
    for n_permutations in (200, 2_000):
        started = time.process_time()
        compare_corpora(index, by=sides, words=words, n_permutations=n_permutations, n_threads=1)
        facts[f"cpu_seconds_per_word_{n_permutations}"] = (time.process_time() - started) / len(words)
    started = time.process_time()
    for word in words:
        for drawn in drawn_documents(sides, word):
            profiles_of(sides, word, drawn, MACHINE, 0)
    facts["cpu_milliseconds_per_machine"] = 1_000 * (time.process_time() - started) / (4 * len(words))
    facts["documents_per_side"] = float(np.median([least[index.word_id(word)] for word in words]))
    facts["words"] = len(words)
    (RESULTS / "compare_speed.json").write_text(json.dumps(facts, indent=1) + "\n")
    print(json.dumps(facts, indent=1))


def average_precision(labels: Any, scores: Any) -> float:
    """Mean of the precision at every word that did change, in the order of the scores."""
    ranked = labels[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    return float(precision[ranked == 1].mean())


def _precisions(labels: Any, seeds: list[list[float]]) -> list[float]:
    return [average_precision(labels, np.array(scores)) for scores in seeds]


def _interval(labels: Any, ours: list[list[float]], theirs: list[list[float]]) -> list[float]:
    """95 % interval of the difference in average precision, means over seeds, words drawn 2,000 times."""
    generator = np.random.default_rng(0)
    differences = []
    for _ in range(2_000):
        drawn = generator.integers(0, len(labels), len(labels))
        pair = [np.mean(_precisions(labels[drawn], np.array(s)[:, drawn].tolist())) for s in (ours, theirs)]
        differences.append(float(pair[0] - pair[1]))
    return [round(float(value), 4) for value in np.quantile(differences, [0.025, 0.975])]


def _mean_and_interval(values: list[float]) -> list[float]:
    found = np.array(values)
    drawn = np.random.default_rng(0).integers(0, len(found), (2_000, len(found)))
    return [
        round(float(v), 4) for v in (found.mean(), *np.quantile(found[drawn].mean(axis=1), [0.025, 0.975]))
    ]


def summary(folder: Path, share: float) -> dict[str, Any]:
    """Put the figures of a share together."""
    from scipy.stats import kendalltau

    task = Task(folder, share)

    def read(name: str) -> dict[str, Any] | None:
        file = task.folder / f"{name}.json"
        return json.loads(file.read_text()) if file.exists() else None

    ours = read("omnitm")
    assert ours is not None  # noqa: S101  # `run` comes first
    rivals = {title: one for way in WAYS for title, one in (read(way) or {}).items()}
    both, changed = [ours["scores"], ours["other_seed"]], task.labels == 1
    p, q = np.array(ours["p"]), np.array(ours["q"])
    result: dict[str, Any] = {
        "pairs": len(task.pairs),
        "controls": len(task.controls),
        "average_precision": {"omnitm": float(np.mean(_precisions(task.labels, both)))}
        | {title: float(np.mean(_precisions(task.labels, one["scores"]))) for title, one in rivals.items()},
        "of_seeds": {"omnitm": _precisions(task.labels, both)}
        | {title: _precisions(task.labels, one["scores"]) for title, one in rivals.items()},
        "ahead_by": {title: _interval(task.labels, both, one["scores"]) for title, one in rivals.items()},
        "settings_of_rivals": {title: one["settings"] for title, one in rivals.items()},
        "found_at_p_0.05": float((p[changed] < 0.05).mean()),
        "found_at_q_0.05": float((q[changed] <= 0.05).mean()),
        "controls_at_p_0.05": float((p[~changed] < 0.05).mean()),
        "false_of_found_at_q_0.05": float((~changed[q <= 0.05]).mean()),
        "kendall_of_two_seeds": float(kendalltau(*both).statistic),
        "cpu_seconds_for_directions": ours["seconds_for_directions"],
        "cpu_seconds_per_word": ours["seconds_per_word"],
        "cpu_seconds_of_rivals": {title: one["seconds"] for title, one in rivals.items()},
    }
    if reasons := read("reasons"):
        rows = reasons["pairs"]
        for kind in ("gained", "topic", "place", "lost", "machines_agree"):
            result[f"reasons_{kind}"] = _mean_and_interval(
                [row[kind] for row in rows if row[kind] is not None]
            )
        result["reasons_named"] = float(np.mean([row["n_gained"] for row in rows]))
        result["pairs_without_reasons"] = float(np.mean([row["n_gained"] == 0 for row in rows]))
        is_found = [row["gained"] for row in rows if row["found"] and row["gained"] is not None]
        result["reasons_gained_of_found"] = _mean_and_interval(is_found)
    if alarms := read("shuffled"):
        result["shuffled_words"] = len(alarms["p"])
        result["shuffled_at_p_0.05"] = _mean_and_interval([float(value < 0.05) for value in alarms["p"]])
        result["shuffled_at_q_0.05"] = float((np.array(alarms["q"]) <= 0.05).mean())
    return result


def report(folder: Path) -> None:
    """Write the figures of all shares as JSON and as a table."""
    truth = json.loads((folder / "truth.json").read_text())
    results = {str(share): summary(folder, share) for share in SHARES}
    facts = {"sentences": truth["sentences"], "shares": results}
    (RESULTS / "compare.json").write_text(json.dumps(facts, indent=1) + "\n")
    names = list(next(iter(results.values()))["average_precision"])
    lines = [
        "# Words whose use was changed on purpose",
        "",
        f"{truth['sentences']:,} sentences in two halves.",
        "",
    ]
    lines += [f"| | {' | '.join(f'{float(share):.0%} renamed | omnitm ahead by' for share in results)} |"]
    lines += [f"|---{'|---|---' * len(results)}|"]
    for name in names:
        cells = []
        for result in results.values():
            low_high = result["ahead_by"].get(name)
            ahead = "" if low_high is None else f"{low_high[0]:+.3f} to {low_high[1]:+.3f}"
            found = result["average_precision"].get(name)
            cells += ["not measured" if found is None else f"{found:.3f}", ahead]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        f"| | {' | '.join(f'{float(share):.0%}' for share in results)} |",
        f"|---{'|---' * len(results)}|",
    ]
    last = list(next(iter(results.values())))
    for key in last[last.index("found_at_p_0.05") :]:
        values = [_written(result.get(key, "")) for result in results.values()]
        lines.append(f"| {key.replace('_', ' ')} | {' | '.join(values)} |")
    (RESULTS / "compare.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def _written(value: Any) -> str:
    if isinstance(value, list):
        return f"{value[0]:.3f} ({value[1]:.3f} to {value[2]:.3f})"
    if isinstance(value, dict):
        return ", ".join(f"{name} {found:.0f}" for name, found in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("prepare", "search", "run", "machines", "speed", "report"))
    parser.add_argument("source", nargs="?", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--every", type=int, default=16, help="every so many sentences are taken")
    parser.add_argument("--offset", type=int, default=7)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--avoid", type=Path, nargs="*", default=[], help="truth.json of words not to use")
    parser.add_argument("--seeds", type=int, default=len(RIVAL_SEEDS), help="runs of a rival (default: 3)")
    parser.add_argument("--only", nargs="*", default=[], choices=tuple(STEPS))
    parser.add_argument("--model", type=Path, help="a model of all of Wikipedia, to judge reasons by")
    arguments = parser.parse_args()
    if arguments.step == "prepare":
        avoid: set[str] = set()
        for file in arguments.avoid:
            truth = json.loads(file.read_text())
            avoid |= {word for pair in truth["pairs"] for word in pair} | set(truth["controls"])
        options = {"every": arguments.every, "offset": arguments.offset, "n_pairs": arguments.pairs}
        prepare(arguments.source, arguments.output, **options, seed=arguments.seed, avoid=avoid)
    elif arguments.step == "search":
        search(arguments.output, arguments.only)
    elif arguments.step == "run":
        run(arguments.output, arguments.only, arguments.model, arguments.seeds)
    elif arguments.step == "machines":
        machines(arguments.output)
    elif arguments.step == "speed":
        speed(arguments.output)
    else:
        report(arguments.output)


if __name__ == "__main__":
    main()
