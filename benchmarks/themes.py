"""Themes against dimensions of other models, all read the same way: one table.

    python benchmarks/themes.py prepare DATA WIKI_INDEX [--words WORDS] -o FOLDER [--development]
    omnitm index FOLDER/held-out.txt -o FOLDER/held-out.index
    omnitm index FOLDER/windows.txt -o FOLDER/windows.index
    python benchmarks/themes.py omni MODEL [MODEL_OF_SEED_1] -o FOLDER
    python benchmarks/themes.py ppmi|lda WIKI_INDEX -o FOLDER
    python benchmarks/themes.py dimensions NAME VECTORS [OF_SEED_1] [--words WORDS.json] -o FOLDER
    python benchmarks/themes.py spine VECTORS [--words WORDS.json] -o FOLDER
    SINR_PYTHON benchmarks/peer_sinr.py FOLDER N_DOCUMENTS    an environment of its own, with `sinr`
    python benchmarks/themes.py dimensions SINr ITS_READOUTS.npy --words FOLDER/words.json -o FOLDER
    python benchmarks/themes.py measure DATA -o FOLDER       results/themes.json and themes.md
    python benchmarks/themes.py vectors MODEL DATA -o FOLDER    results/theme-vectors.json

VECTORS are a model (`omnitm train --model glove` and others), or a file .npy with the words of its rows.

Coherence within Wikipedia, on passages that no model was trained on; then as above, with the model of
FOLDER/training.txt and its index, from `prepare` on (`measure --inside`: results/themes-inside.json):

    python benchmarks/themes.py inside WIKI_TEXT -o FOLDER [--development]

All have the 8,000 most frequent words of Wikipedia (out of those that all models have: `--words`), 100
dimensions where that can be chosen, and are read on the 5,000 of these words that most held-out documents
have: reviews, news and mails. The method of Omni's themes was chosen on every second one of these documents
(`--development`); the others are measured on. Each model is read as it is, and as Omni reads its own vectors:
what stands out in each dimension and word (`standing out`); where a matrix is factorised, by the same
factorisation, of the 8,000 words and of the 5,000 alone; and all list well known words first, as Omni does.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm import OmniVectorizer
from omnitm.corpus import DocumentIndex
from omnitm.evaluation.categories import load_categories
from omnitm.evaluation.interpretability import (
    Coherence,
    Interpretability,
    Readout,
    measure_dimensions,
    measure_interpretability,
    pair_counts,
)
from omnitm.similarity.nonnegative import common_patterns, pattern_weights
from omnitm.similarity.profiles import TOPIC
from omnitm.similarity.row_profile import unit_rows
from omnitm.vectors import WordVectors
from omnitm.vectors.themes import (
    Nearness,
    prominence_of,
    theme_patterns,
    theme_weights,
    weights_of_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Reals = NDArray[np.float32]

RESULTS = Path(__file__).parent / "results"
SOURCES = ("imdb", "20news", "reuters21578", "agnews", "yelp", "amazon")
WINDOW = 110  # words, as for C_v in Roeder et al. 2015
K = 100
N_KNOWN, N_READ = 8_000, 5_000
_SENTENCES = 20  # of Wikipedia in a document of LDA, which needs longer ones
_PASSAGE = 10  # sentences of Wikipedia in a held-out document
_BLOCK = 2_000  # sentences in a row; every tenth block is held out
_DRAWS = 2_000
FIGURES = ("dimension_coherence", "dimension_c_v", "intruders_found", "category_score")
_LDA_FITS = ((6_000, 100_000), (40_000, 40_000))  # documents; how many the updates reckon with


def main() -> None:
    """Do one step."""
    arguments = parse()
    folder: Path = arguments.output
    if arguments.step == "prepare":
        prepare(arguments, DocumentIndex.open(Path(arguments.inputs[1])), folder)
    elif arguments.step == "inside":
        prepare_inside(Path(arguments.inputs[0]), folder, arguments.development)
    elif arguments.step == "vectors":
        measure_vectors(WordVectors.load(arguments.inputs[0]), Path(arguments.inputs[1]))
    elif arguments.step == "measure":
        measure(Path(arguments.inputs[0]), folder, "themes-inside" if arguments.inside else "themes")
    else:
        start = time.process_time()
        for name, seed, values in globals()[arguments.step](arguments, folder):
            (folder / "readouts").mkdir(exist_ok=True)
            np.save(folder / "readouts" / f"{name}.{seed}.npy", values.astype(np.float32))
            print(f"{name}, seed {seed}: {time.process_time() - start:.0f} CPU s", flush=True)
            start = time.process_time()


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    steps = ("prepare", "inside", "omni", "ppmi", "lda", "dimensions", "spine", "measure", "vectors")
    parser.add_argument("step", choices=steps)
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--words", type=Path)
    parser.add_argument("--development", action="store_true", help="the documents for choosing a method")
    parser.add_argument("--inside", action="store_true", help="the held-out documents are of Wikipedia")
    parser.add_argument("-o", "--output", type=Path, required=True)
    return parser.parse_args()


def prepare(arguments: argparse.Namespace, wiki: DocumentIndex, folder: Path) -> None:
    """Write every second held-out document, unless they are there, and choose the words."""
    if not (folder / "held-out.txt").exists():
        write_held_out(texts_of(Path(arguments.inputs[0])), folder, arguments.development)
    order = np.argsort(-wiki.document_frequencies, kind="stable").tolist()
    known = {*(arguments.words.read_text().split() if arguments.words else wiki.vocabulary)}
    words = [word for k in order if (word := wiki.vocabulary[k]) in known]
    (folder / "words.json").write_text(json.dumps(words[:N_KNOWN]))


def texts_of(data: Path) -> Iterator[str]:
    """Read the documents of all sources."""
    for source in SOURCES:
        with lzma.open(data / "documents" / f"{source}.jsonl.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["text"]


def write_held_out(texts: Iterator[str], folder: Path, development: bool) -> None:
    """Write every second text, whole and in windows: the first, third, ... chose the method."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "held-out.txt").open("w") as whole, (folder / "windows.txt").open("w") as windows:
        for number, text in enumerate(texts):
            if number % 2 == int(development):
                continue
            words = text.split()
            whole.write(" ".join(words) + "\n")
            for start in range(0, len(words), WINDOW):
                windows.write(" ".join(words[start : start + WINDOW]) + "\n")


def prepare_inside(text: Path, folder: Path, development: bool) -> None:
    """Divide Wikipedia: every tenth block is held out, in passages; the others are trained on."""
    folder.mkdir(parents=True, exist_ok=True)
    held_out: list[list[str]] = []
    with text.open(encoding="utf-8") as lines, (folder / "training.txt").open("w") as training:
        for number, line in enumerate(lines):
            if number // _BLOCK % 10 < 9:
                training.write(line)
            elif number % _PASSAGE == 0:
                held_out.append([line])
            else:
                held_out[-1].append(line)
    write_held_out(map(" ".join, held_out), folder, development)


def words_of(folder: Path) -> list[str]:
    """Return the 8,000 words that all models have."""
    found: list[str] = json.loads((folder / "words.json").read_text())
    return found


def shown_words(folder: Path, held_out: DocumentIndex) -> list[str]:
    """Return the 5,000 of the words that most held-out documents have."""
    known = {*words_of(folder)}
    order = np.argsort(-held_out.document_frequencies, kind="stable").tolist()
    return [word for k in order if (word := held_out.vocabulary[k]) in known][:N_READ]


def factorised(matrix: Any, folder: Path, words: list[str]) -> Reals:
    """Factorise words x words; a row per word of the 8,000, zeros for those without."""
    return placed(pattern_weights(matrix, common_patterns(matrix, K)), folder, words)


def themes_of(vectors: WordVectors, folder: Path, words: list[str]) -> Reals:
    """Find themes of some words alone, as Omni does; a row per word of the 8,000."""
    rows = np.array([vectors.get_index(word) for word in words])
    nearness = Nearness(vectors, rows)
    patterns = common_patterns(nearness.of_rows(rows), K)
    return placed(weights_of_rows(nearness, patterns, rows, rows), folder, words)


def placed(weights: Reals, folder: Path, words: list[str]) -> Reals:
    """Put the weights of some words into a matrix of the 8,000, zeros for the others."""
    places = {word: place for place, word in enumerate(words_of(folder))}
    found = np.zeros((len(places), K), dtype=np.float32)
    found[[places[word] for word in words], : weights.shape[1]] = weights
    return found


def omni(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[str, int, Reals]]:
    """Read the themes of Omni, found in the 8,000 words and in the 5,000 alone."""
    few = shown_words(folder, DocumentIndex.open(folder / "held-out.index"))
    for seed, path in enumerate(arguments.inputs):
        vectors = WordVectors.load(path)
        rows = [vectors.get_index(word) for word in words_of(folder)]
        yield "Omni, themes", seed, theme_weights(vectors, theme_patterns(vectors, K))[rows]
        yield "Omni, themes (5,000)", seed, themes_of(vectors, folder, few)


def ppmi(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[str, int, Reals]]:
    """Factorise PPMI: squared, words alike or weighted as Omni does, and what stands out in it."""
    from scipy.sparse import csr_matrix

    few = shown_words(folder, DocumentIndex.open(folder / "held-out.index"))
    index = DocumentIndex.open(Path(arguments.inputs[0]))
    places = {word: place for place, word in enumerate(words_of(folder))}
    if not (folder / "counts.npy").exists():
        np.save(folder / "counts.npy", pair_counts(index, [*places]).astype(np.float32))
    of_all = np.load(folder / "counts.npy")
    for words, label in ((few, " (5,000)"), ([*places], "")):
        rows = [places[word] for word in words]
        counts = of_all[np.ix_(rows, rows)]
        single = np.diag(counts).copy()
        ratio = counts * np.float32(index.n_documents) / np.outer(single, single)
        np.fill_diagonal(ratio, 1.0)
        values = np.log(np.maximum(ratio, 1.0), out=ratio)
        squares = values**2
        yield f"NMF of PPMI{label}", 0, factorised(csr_matrix(unit_rows(squares)), folder, words)
        lengths = np.maximum(np.linalg.norm(squares, axis=1, keepdims=True), 1e-30)
        weighted = csr_matrix(squares / np.sqrt(lengths))
        yield f"NMF of PPMI, weighted words{label}", 0, factorised(weighted, folder, words)
        vectors = WordVectors(np.rint(100 * values).astype(np.int16), words, words)
        found = (
            themes_of(vectors, folder, words) if label else theme_weights(vectors, theme_patterns(vectors, K))
        )
        yield f"NMF of PPMI, standing out{label}", 0, found


def lda(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[str, int, Reals]]:
    """Fit topics to few and to many documents of twenty sentences each."""
    from sklearn.decomposition import LatentDirichletAllocation

    index, words = DocumentIndex.open(Path(arguments.inputs[0])), words_of(folder)
    options = {"learning_method": "online", "batch_size": 1_000, "max_iter": 1}
    for n_documents, total in _LDA_FITS:
        matrix = passages(index, words, n_documents)
        for seed in (0, 1):
            model = LatentDirichletAllocation(K, random_state=seed, total_samples=total, **options)
            topics = model.fit(matrix).components_.T
            name = f"LDA ({n_documents:,} documents)"
            yield name, seed, topics / topics.sum(axis=0)
            shares = topics / topics.sum(axis=1, keepdims=True)
            yield f"{name}, standing out", seed, standing_out(shares)


def passages(index: DocumentIndex, words: list[str], n_documents: int) -> Any:
    """Count words in passages of twenty sentences that are spread evenly over the text."""
    from scipy.sparse import csr_matrix

    column = np.full(index.n_words, -1)
    column[[index.word_id(word) for word in words]] = np.arange(len(words))
    step = index.n_documents // _SENTENCES // n_documents
    rows, columns = [], []
    for number in range(n_documents):
        first = number * step * _SENTENCES
        found = column[np.concatenate([index.words_of(k) for k in range(first, first + _SENTENCES)])]
        columns.append(found[found >= 0])
        rows.append(np.full(len(columns[-1]), number))
    places = np.concatenate(rows), np.concatenate(columns)
    return csr_matrix((np.ones(len(places[0]), np.float32), places), shape=(n_documents, len(words)))


def dimensions(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[str, int, Reals]]:
    """Read the dimensions of any vectors."""
    name, *paths = arguments.inputs
    for seed, path in enumerate(paths):
        values = rows_of(arguments, folder, path)
        yield name, seed, values
        yield f"{name}, standing out", seed, standing_out(values)


def rows_of(arguments: argparse.Namespace, folder: Path, path: str) -> Reals:
    """Read the rows of the 8,000 words, from a model or from an array and its words."""
    if Path(path).is_dir():
        vectors = WordVectors.load(path)
        return np.stack([vectors.get_vector(word) for word in words_of(folder)])
    names = json.loads(arguments.words.read_text())
    names = names["words"] if isinstance(names, dict) else names
    places = {name: place for place, name in enumerate(names)}
    found: Reals = np.load(path, mmap_mode="r")[[places[word] for word in words_of(folder)]]
    return found


def standing_out(values: Any) -> Reals:
    """Keep what exceeds the mean of a dimension by a deviation, as the profiles of Omni do."""
    deviations = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-12)
    return unit_rows(np.log1p(np.maximum(deviations - TOPIC.stands_out, 0)))


def spine(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[str, int, Reals]]:
    """Make vectors sparse and non-negative by an autoencoder (SPINE, Subramanian et al. 2018)."""
    values = rows_of(arguments, folder, arguments.inputs[0])
    rows = ((values - values.mean(axis=0)) / values.std()).astype(np.float32)
    for seed in (0, 1):
        found = sparse_code(rows, np.random.default_rng(seed))
        yield "SPINE on Word2Vec", seed, found
        yield "SPINE on Word2Vec, standing out", seed, standing_out(found)


def sparse_code(rows: Reals, random: np.random.Generator) -> Reals:
    """Train codes h = min(max(x A + a, 0), 1) with x about h B + b, and return those of all rows.

    The loss is that of the paper: the squared error, codes that are on too often on average (more than
    `sparsity`), and codes between 0 and 1. Adam with the usual constants. The paper has 4,000 epochs.
    """
    sparsity, noise, n_epochs, batch, rate = 0.15, 0.2, 100, 128, 1e-3
    size = rows.shape[1]
    shapes = ((size, K), (K,), (K, size), (size,))
    values = [random.uniform(-1, 1, shape) / np.sqrt(size if k < 2 else K) for k, shape in enumerate(shapes)]
    values = [value.astype(np.float32) for value in values]
    means, squares = ([np.zeros_like(value) for value in values] for _ in range(2))
    step = 0
    for _ in range(n_epochs):
        order = random.permutation(len(rows))
        for start in range(0, len(rows), batch):
            given = rows[order[start : start + batch]]
            noisy = given + noise * random.standard_normal(given.shape, dtype=np.float32)
            before = noisy @ values[0] + values[1]
            code = np.clip(before, 0, 1)
            error = 2 / given.size * (code @ values[2] + values[3] - given)
            too_often = 2 / K / len(given) * np.maximum(code.mean(axis=0) - sparsity, 0)
            back = error @ values[2].T + too_often + (1 - 2 * code) / code.size
            back *= (before > 0) & (before < 1)
            slopes = (noisy.T @ back, back.sum(axis=0), code.T @ error, error.sum(axis=0))
            step += 1
            for k, slope in enumerate(slopes):
                means[k] += 0.1 * (slope - means[k])
                squares[k] += 0.001 * (slope**2 - squares[k])
                root = np.sqrt(squares[k] / (1 - 0.999**step)) + 1e-8
                values[k] -= rate * means[k] / (1 - 0.9**step) / root
    found: Reals = np.clip(rows @ values[0] + values[1], 0, 1)
    return found


def measure(data: Path, folder: Path, results_name: str) -> None:
    """Measure all read-outs on the same documents, and write the results.

    Models whose read-outs are not there keep what was measured before.
    """
    held_out, windows = (DocumentIndex.open(folder / f"{name}.index") for name in ("held-out", "windows"))
    words = words_of(folder)
    known = {word: row for row, word in enumerate(words)}
    shown = shown_words(folder, held_out)
    rows = [known[word] for word in shown]
    coherence = {"coherence": Coherence(held_out, shown), "windows": Coherence(windows, shown)}
    options: dict[str, Any] = {**coherence, "categories": load_categories("SEMCAT", data).members}
    prominence = prominence_of(np.arange(len(words)))[rows, None]
    results, figures = [], {}
    for path in sorted((folder / "readouts").glob("*.0.npy")):
        name = path.name.removesuffix(".0.npy")
        again = path.with_name(f"{name}.1.npy")
        first, *second = (
            Readout(name, shown, np.load(file)[rows] * prominence, None)
            for file in (path, again)
            if file.exists()
        )
        results.append(measure_interpretability(first, again=second[0] if second else None, **options))
        figures[name] = measure_dimensions(first, **options)
        print(line(results[-1]), flush=True)
    written = RESULTS / f"{results_name}.json"
    before = json.loads(written.read_text(encoding="utf-8"))["results"] if written.exists() else []
    results += [Interpretability(**row) for row in before if row["name"] not in figures]
    results.sort(key=lambda result: -(result.dimension_coherence or 0))
    facts: dict[str, Any] = {
        "held_out_documents": held_out.n_documents,
        "windows": windows.n_documents,
        "words": len(shown),
        "measured_before": [result.name for result in results if result.name not in figures],
        "ahead_by": ahead_by(results, figures),
        "results": [result.to_dict() for result in results],
    }
    content = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    written.write_text(content, encoding="utf-8")
    written.with_suffix(".md").write_text(table(results, facts), encoding="utf-8")


def ahead_by(results: list[Interpretability], figures: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """How far Omni is ahead of each rival of the same words, with a 95 % interval.

    With as many dimensions each theme is compared with the dimension of the rival that it is most like, and
    pairs are drawn again; else dimensions are drawn independently, so that half widths add up as squares.
    """
    found: dict[str, dict[str, Any]] = {}
    for suffix in ("", " (5,000)"):
        omni = next(result for result in results if result.name == f"Omni, themes{suffix}")
        for rival in results:
            if rival.name.startswith("Omni") or rival.name.endswith(" (5,000)") != bool(suffix):
                continue
            mine, other = (figures.get(result.name) for result in (omni, rival))
            paired = bool(mine and other and mine[0].shape == other[0].shape)
            found[rival.name] = {"paired": paired}
            for name in FIGURES:
                found[rival.name][name] = (
                    paired_difference(mine, other, name) if paired else difference(omni, rival, name)
                )
    return found


def difference(omni: Interpretability, rival: Interpretability, name: str) -> list[float]:
    """Subtract two means of dimensions that are drawn independently."""
    mean = getattr(omni, name) - getattr(rival, name)
    half = float(np.hypot(*(np.subtract(*result.intervals[name]) / 2 for result in (omni, rival))))
    return [mean, mean - half, mean + half]


def paired_difference(omni: Any, rival: Any, name: str) -> list[float]:
    """Subtract the figures of dimensions that are matched one to one, by the highest sum of cosines."""
    from scipy.optimize import linear_sum_assignment

    first, second = (unit_rows(np.ascontiguousarray(values.T)) for values, _ in (omni, rival))
    pairs = zip(*linear_sum_assignment(first @ second.T, maximize=True), strict=True)
    both = [(omni[1][name][mine], rival[1][name][other]) for mine, other in pairs]
    differences = np.array([mine - other for mine, other in both if None not in (mine, other)])
    drawn = np.random.default_rng(0).integers(0, len(differences), (_DRAWS, len(differences)))
    ends = np.quantile(differences[drawn].mean(axis=1), [0.025, 0.975])
    return [float(value) for value in (differences.mean(), *ends)]


def measure_vectors(vectors: WordVectors, data: Path) -> None:
    """Compare 200 themes with 300 axes as vectors: AG News classified, words of AP clustered."""
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LogisticRegression

    with lzma.open(data / "documents" / "agnews.jsonl.xz", "rt", encoding="utf-8") as lines:
        news = [json.loads(line) for line in lines]
    parts = [[one for one in news if one["split"] == split] for split in ("train", "test")]
    texts, labels = ([[one[key] for one in part] for part in parts] for key in ("text", "label"))
    members = load_categories("AP", data).members
    named = [(word, name) for name, words in members.items() for word in words if word in vectors]
    found = {}
    for name, reduced in (("300 axes", vectors.reduce(300)), ("200 themes", vectors.reduce(themes=200))):
        vectorizer = OmniVectorizer(reduced, weighting="idf").fit(texts[0])
        training, test = map(vectorizer.transform, texts)
        model = LogisticRegression(C=10, max_iter=300).fit(training, labels[0])
        rows = unit_rows(np.stack([reduced.get_vector(word) for word, _ in named]))
        clusters = KMeans(len(members), n_init=4, random_state=0).fit_predict(rows)
        pairs = list(zip(clusters.tolist(), (category for _, category in named), strict=True))
        largest = [max(map([c for k, c in pairs if k == n].count, members)) for n in range(len(members))]
        found[name] = {
            "agnews_accuracy": float(model.score(test, labels[1])),
            "ap_purity": sum(largest) / len(pairs),
            "zeros": float((np.asarray(reduced.matrix) == 0).mean()),
        }
        print(name, found[name], flush=True)
    (RESULTS / "theme-vectors.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


HEAD = (
    "| dimensions of | k | NPMI | C_v | intruders found, % | SEMCAT score | zeros, % | stable, % | left, % |"
)


def table(results: list[Interpretability], facts: dict[str, Any]) -> str:
    """One line per model, then some dimensions of each."""
    lines = [
        f"# Themes and other dimensions, on {facts['held_out_documents']:,} held-out documents",
        "",
        f"First words out of {facts['words']:,}; 95 % intervals over dimensions. Written by",
        "`benchmarks/themes.py`; docs/themes.md says what is measured.",
        "",
        HEAD,
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *map(line, results),
        "",
    ]
    for result in results:
        lines += [f"**{result.name}**", ""]
        lines += [f"- {', '.join(words)}" for words in list(result.examples.values())[:5]]
        lines += [""]
    return "\n".join(lines)


def line(result: Interpretability) -> str:
    """Write the numbers of a model."""

    def number(name: str, form: str, scale: float = 1) -> str:
        value = getattr(result, name)
        if value is None:
            return "no seed"
        low, high = (scale * end for end in result.intervals[name])
        return f"{scale * value:{form}} ({low:{form}}-{high:{form}})"

    figures = (
        f"{result.n_dimensions:,}",
        number("dimension_coherence", ".3f"),
        number("dimension_c_v", ".3f"),
        number("intruders_found", ".0f", 100),
        number("category_score", ".3f"),
        f"{100 * result.zeros:.0f}",
        number("dimension_stability", ".0f", 100),
        left_without_three(result),
    )
    return f"| {result.name} | {' | '.join(figures)} |"


def left_without_three(result: Interpretability) -> str:
    """Write what is left of near words' cosines without the three strongest dimensions, and three others."""
    # Results that were read from a file have plain dicts.
    rows = (row if isinstance(row, dict) else row.to_dict() for row in result.faithfulness)
    three = next(row for row in rows if row["removed"] == 3)
    return f"{100 * three['left_without_top']:.0f}, {100 * three['left_without_random']:.0f}"


if __name__ == "__main__":
    main()
