"""Damage every file of small models and of their index, use them, and count what comes out.

    python benchmarks/damage.py                 # writes results/damage.json and .md
    python benchmarks/damage.py --trials 20 --only dense

A trial flips one bit of one file, or cuts the file off, and uses the model or index as anybody would, without
asking for a verification: nearest words by every metric, vectors, an explanation, training. The answer must
be a `FileError` that names the folder, or exactly what the sound files give. Trials run in processes of
their own, so that a crash is seen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.comparison import compare, compare_corpora
from omnitm.corpus import DocumentIndex, build_index
from omnitm.corpus.groups import Grouping, keep_grouping
from omnitm.errors import FileError, OmniTMWarning
from omnitm.explain import Explainer
from omnitm.explorer.map_file import VocabularyMap, read_map, write_map
from omnitm.machine import AutoencoderSettings
from omnitm.sharing.card import CardFacts, keep_card, kept_facts
from omnitm.store import ModelFolder, ModelRecord, pack_model
from omnitm.store.similarity_cache import vectors_sha256
from omnitm.training import train_model, train_vectors
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnitm.machine import Kind

RESULTS = Path(__file__).parent / "results"
KINDS = ("index", "dense", "reals", "top", "sparse", "packed", "unfinished", "comparison")
OUTCOMES = ("noticed", "made again", "right", "wrong", "crash")
N_WORDS, N_UNFINISHED, N_THEMES = 120, 6, 5
SETTINGS = AutoencoderSettings(
    n_clauses=8, n_examples=40, accumulation=4, contexts="both", n_place_features=50
)


def word(number: int) -> str:
    """Name a word by letters, since digits are left out of texts."""
    return f"{chr(97 + number // 26)}{chr(97 + number % 26)}zq"


def make(folder: Path) -> None:
    """Make an index of a generated text, and models of all kinds trained on it."""
    random = np.random.default_rng(1)
    lines = []
    for document in range(400):
        topic = document % 4 * (N_WORDS // 4)
        lines.append(" and ".join(word(topic + k) for k in random.zipf(1.5, 12) % (N_WORDS // 4)))
    lines += [f"{word(k)} {word(k * 7 % N_WORDS)}" for k in range(N_WORDS)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    index = DocumentIndex.open(build_index(folder / "text.txt", folder / "index"))
    halves = ["old" if k < index.n_documents // 2 else "new" for k in range(index.n_documents)]
    keep_grouping(folder / "index", Grouping.of(halves, "half"))
    dense = train_model(index, folder / "dense", settings=SETTINGS)
    train_model(index, folder / "top", settings=SETTINGS, keep_top=20)
    for name in ("dense", "top"):
        vectors = WordVectors.load(folder / name)
        vectors.most_similar(vectors.index_to_key[0])
        keep_card(vectors, folder / name, CardFacts(corpus="a generated text", license="mit"))
    dense.themes(N_THEMES)
    _write_map(folder / "dense", len(dense))
    dense.reduce(12).save(folder / "reals")
    training = ModelRecord("ppmi", {"sparse": True}, 0, "ab" * 32)
    above = np.maximum(dense.matrix[:] - np.int16(np.median(dense.matrix[:])), 0).astype(np.int16)
    WordVectors(above, dense.index_to_key, dense.feature_names, training=training).save(folder / "sparse")
    pack_model(folder / "dense", folder / "packed")
    WordVectors.load(folder / "packed").most_similar(dense.index_to_key[0])
    _leave_unfinished(folder / "unfinished", index, dense)
    (folder / "comparison").mkdir()
    compare_some(folder)


def _write_map(model: Path, n_words: int) -> None:
    positions = np.linspace(-1, 1, 2 * n_words, dtype=np.float32).reshape(n_words, 2)
    points = VocabularyMap(positions, None, np.zeros(n_words, dtype=np.uint8), [], "t-SNE")
    write_map(model, points.to_bytes(vectors_sha256(model)))


def _leave_unfinished(path: Path, index: DocumentIndex, dense: WordVectors) -> None:
    assert dense.training is not None  # noqa: S101 - for the type checker
    record: Any = dense.training
    assert dense.place is not None  # noqa: S101 - as above
    words, places = dense.index_to_key[:N_UNFINISHED], dense.place.feature_names
    with ModelFolder.create(path, words, index.vocabulary, record, places=places) as folder:
        for row in range(N_UNFINISHED // 2):
            folder.write(row, np.concatenate([dense.matrix[row], dense.place.matrix[row]]))


def compare_some(folder: Path) -> Any:
    """Compare words, as `omnitm compare INDEX --by half -o FILE --resume` does."""
    index = DocumentIndex.open(folder / "index")
    words, log = index.vocabulary[:3], folder / "comparison" / "words.jsonl"
    return compare_corpora(index, by="half", words=words, n_permutations=9, n_examples=20, log=log)


def use_index(folder: Path) -> Any:
    """Train words on both kinds of contexts, compare one, and read texts and counts."""
    index = DocumentIndex.open(folder / "index")
    words = [str(index.vocabulary[k]) for k in (0, 50)]
    trained = train_vectors(index, words, settings=SETTINGS)
    assert trained.place is not None  # noqa: S101 - for the type checker
    rows = trained.matrix[:].tolist(), trained.place.matrix[:].tolist(), trained.place.feature_names
    compared = compare(index, words[0], by="half", n_permutations=9, n_examples=20)
    counts = [] if index.word_counts is None else index.word_counts.tolist()
    tokens = sum(map(len, index.token_stream()))
    texts = index.document_text(7), list(index.vocabulary), index.summary
    return rows, compared, counts, tokens, texts


def use_model(folder: Path, name: str) -> Any:
    """Ask a model what it can be asked."""
    explainer = Explainer.open(folder / name)
    vectors = explainer.vectors
    words = [vectors.index_to_key[k] for k in (3, 60)]
    metrics = ("similarity", "association", "association-symmetric", "cosine")
    usable = metrics if vectors.has_named_features else ("cosine",)
    found: list[Any] = [vectors.most_similar(query, metric=metric) for query in words for metric in usable]  # type: ignore[arg-type]
    found += [vectors.get_vector(vectors.index_to_key[-1]).tolist(), list(vectors.feature_names)]
    if name in {"dense", "top", "packed"}:
        kinds: tuple[Kind, ...] = ("topic", "place")
        found += [repr(explainer.explain(words[0], kind=kind, n_documents=0)) for kind in kinds]
        found.append(None if vectors.place is None else vectors.place.matrix[:].tolist())
    if name == "dense":
        with warnings.catch_warnings():
            warnings.simplefilter("error", OmniTMWarning)  # a card that has lost its facts says so
            found.append(kept_facts(folder / name))
        read_map(folder / name)
        found.append(vectors.themes(N_THEMES).rows())
    return found


def use_unfinished(folder: Path) -> Any:
    """Continue a training, as `omnitm train INDEX -o MODEL --resume` does."""
    index = DocumentIndex.open(folder / "index")
    with tempfile.TemporaryDirectory(dir=folder) as name:
        copy = Path(shutil.copytree(folder / "unfinished", Path(name) / "m"))
        words = list(index.vocabulary[:N_UNFINISHED])
        trained = train_model(index, copy, words, settings=SETTINGS, resume=True)
        assert trained.place is not None  # noqa: S101 - for the type checker
        return trained.matrix[:].tolist(), trained.place.matrix[:].tolist(), trained.index_to_key


def uses(kind: str) -> Callable[[Path], Any]:
    """Return what is done with a model of some kind, or with the index."""
    others = {"index": use_index, "unfinished": use_unfinished, "comparison": compare_some}
    return others.get(kind, lambda folder: use_model(folder, kind))


def files_of(folder: Path, kind: str) -> list[Path]:
    """List the files that are damaged."""
    if kind == "packed":
        return sorted(folder.glob("packed*"))
    return sorted(path for path in (folder / kind).iterdir() if path.is_file() and path.stat().st_size)


def damage(content: bytes, random: np.random.Generator) -> bytes:
    """Flip one bit, or cut off the end: three flips for every cut."""
    if random.integers(4) == 0:
        return content[: int(random.integers(len(content)))]
    bit = int(random.integers(8 * len(content)))
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def outcome(folder: Path, kind: str, expected: str) -> str:
    """Use damaged files and name what came out."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = digest(uses(kind)(folder))
        except (FileError, OmniTMWarning) as error:
            return "noticed" if str(folder) in str(error) else "crash"
    if found != expected:
        return "wrong"
    return "made again" if any(item.category is OmniTMWarning for item in said) else "right"


def digest(answer: Any) -> str:
    """Shorten an answer."""
    return hashlib.sha256(pickle.dumps(repr(answer))).hexdigest()


def work(folder: Path, kind: str, name: str, first: int, n_trials: int) -> None:
    """Try a file again and again, and print each outcome as soon as it is known."""
    path = next(path for path in files_of(folder, kind) if path.name == name)
    expected = digest(uses(kind)(folder))
    sound = {file: file.read_bytes() for file in files_of(folder, kind)}
    for trial in range(first, n_trials):
        path.write_bytes(damage(sound[path], np.random.default_rng([trial, len(name)])))
        try:
            print(outcome(folder, kind, expected), flush=True)
        finally:
            for file, content in sound.items():
                if not file.exists() or file.read_bytes() != content:
                    file.write_bytes(content)


def try_file(folder: Path, kind: str, name: str, n_trials: int) -> Counter[str]:
    """Count the outcomes of many trials; a process that dies is a crash; the next one goes on from there."""
    counts: Counter[str] = Counter()
    while (done := sum(counts.values())) < n_trials:
        command = [sys.executable, __file__, "--work", str(folder), kind, name, str(done), str(n_trials)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        counts.update(line for line in ended.stdout.split("\n") if line in OUTCOMES)
        if sum(counts.values()) < n_trials:
            print(f"{kind}/{name}, trial {sum(counts.values())}: {ended.stderr[-500:]}", file=sys.stderr)
            counts["crash"] += 1
    return counts


def table(results: dict[str, dict[str, dict[str, int]]]) -> str:
    """Write the counts as Markdown."""
    lines = ["| files of | file | trials | named error | made again | right answer | wrong answer | crash |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for kind, files in results.items():
        for name, counts in files.items():
            numbers = [sum(counts.values()), *(counts.get(outcome, 0) for outcome in OUTCOMES)]
            lines.append(f"| {kind} | `{name}` | " + " | ".join(f"{n:,}" for n in numbers) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=400, help="per file")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS, help="some kinds; prints only")
    parser.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        folder, kind, name, first, n_trials = arguments.work
        work(Path(folder), kind, name, int(first), int(n_trials))
        return 0
    results: dict[str, dict[str, dict[str, int]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make(folder)
        for kind in arguments.only:
            results[kind] = {
                path.name: dict(try_file(folder, kind, path.name, arguments.trials))
                for path in files_of(folder, kind)
            }
    text = table(results)
    print(text)
    if arguments.only == KINDS:
        (RESULTS / "damage.json").write_text(json.dumps(results, indent=1) + "\n")
        (RESULTS / "damage.md").write_text(text)
    total = sum((Counter(counts) for files in results.values() for counts in files.values()), Counter[str]())
    return 1 if total["wrong"] or total["crash"] else 0


if __name__ == "__main__":
    sys.exit(main())
