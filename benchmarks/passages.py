"""Long documents: topics learned from whole documents, or from passages around a word.

    omnitm index 20news.jsonl.xz -o 20news.idx
    python benchmarks/passages.py 20news.idx -o WORK --data DIR --name "20 Newsgroups" --words 8000
    head -600000 enwiki.txt > short.txt                             # a sentence per line
    awk '{printf "%s%s", $0, NR % 100 ? " " : RS}' short.txt > long.txt    # a hundred sentences per line
    omnitm index short.txt -o short.idx && omnitm index long.txt -o long.idx --vocabulary short.idx
    python benchmarks/passages.py short.idx -o WORK --data DIR --name "Wikipedia, sentences" --reaches 0
    python benchmarks/passages.py long.idx -o WORK --data DIR --name "Wikipedia, long" --reaches 0 25

The first `--words` words of the vocabulary are trained with each reach (0: whole documents) by one thread,
and scored on development data alone. Rows of the same name are replaced in `results/passages.json`.
"""

from __future__ import annotations

import argparse
import json
import resource
from pathlib import Path

from development import development_scores
from similarity_weights import pair_score

from omnitm.corpus import DocumentIndex
from omnitm.engines import ThreadsEngine
from omnitm.similarity.combined import Combined
from omnitm.training import train_model
from omnitm.training.vocabulary import default_settings

RESULTS = Path(__file__).parent / "results" / "passages.json"
SETS = {"simlex": "SimLex-999", "men_odd": "MEN, odd lines"}


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("index", type=Path, metavar="INDEX")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the models")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--words", type=int, default=6_000)
    parser.add_argument("--reaches", type=int, nargs="+", default=[0, 25, 50])
    arguments = parser.parse_args()
    index = DocumentIndex.open(arguments.index)
    assert index.running is not None  # noqa: S101
    length = index.running.n_running_words / index.n_documents
    for reach in arguments.reaches:
        started = cpu_seconds()
        vectors = train_model(
            index,
            arguments.output / f"{arguments.index.stem}-{reach}",
            index.vocabulary[: arguments.words],
            settings=default_settings(index, passage_reach=reach),
            engine=ThreadsEngine(1),
            force=True,
        )
        seconds = cpu_seconds() - started
        scores = development_scores(vectors, "similarity", data=arguments.data)
        related = {
            f"related_{key}": pair_score(vectors, Combined("related"), name, arguments.data)
            for key, name in SETS.items()
        }
        row = {
            "text": arguments.name,
            "words_per_document": round(length, 1),
            "words": len(vectors),
            "passage_reach": reach,
            "training_cpu_seconds": round(seconds, 1),
            **{key: round(score, 4) for key, score in {**scores, **related}.items()},
        }
        print(json.dumps(row), flush=True)
        keep(row)


def keep(row: dict[str, object]) -> None:
    rows = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    same = ("text", "passage_reach")
    rows = [old for old in rows if [old[key] for key in same] != [row[key] for key in same]]
    RESULTS.write_text(json.dumps({"use": "tuned on", "rows": [*rows, row]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
