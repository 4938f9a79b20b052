"""The page as files for any web server: what it tells of words, their themes and the map are inside.

```text
index.html, style.css, icon.svg, js/     the page; index.html is marked as stored
data/model.json                          what `/api/model` and `/api/invitations` say
data/words.json                          the words, the most frequent first
data/map.bin                             the points of the map, see `map_file`
data/themes.json                         all themes, with their words and features
data/words/0.json, 1.json, ...           a hundred words each: neighbours, what stands out, themes, the row,
                                         senses, rules, and why its nearest words are near
```
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from omnitm.errors import FileError
from omnitm.explain import Explainer
from omnitm.explorer.answers import Answers
from omnitm.explorer.guard import POLICY
from omnitm.explorer.map_file import subset
from omnitm.explorer.schemas import as_json
from omnitm.files.plain import write_file, writing
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable  # with Python 3.11

USUAL_WORDS = 2_000
_IN_A_FILE = 100
_NEIGHBOURS = 20
_OF_A_THEME = 20
_TRIED = 40  # words that are written to tell how large all will be
_COMPARED = 5  # nearest words that a word is compared with
_REASONS = 8  # of a comparison, on each side
_OF_A_SENSE = 7
_RULES = 4
_METRICS = ("similarity", "alike", "related", "association")


class Export:
    """The files of one model.

    Parameters
    ----------
    answers
        The model; its themes must have been found, if it can have any.
    points
        Its map, as `MapKeeper.points` has it.
    n_words
        How many words, the most frequent; None: all, but at most 2,000.
    """

    def __init__(self, answers: Answers, points: bytes, n_words: int | None = None) -> None:
        self._answers, self._points = answers, points
        total = len(answers.vectors)
        if n_words is not None:
            check_integer("Export", "n_words", n_words, 1, total)
        self.rows = answers.map_order[: min(total, USUAL_WORDS) if n_words is None else n_words]
        self._words = [answers.vectors.index_to_key[row] for row in self.rows]
        self._metrics = [name for name in _METRICS if name in answers.metrics]
        if answers.vectors.default_metric == "similarity":
            self._metrics = [name for name in self._metrics if name != "association"]
        self._has_senses = answers.vectors.default_metric == "similarity"
        self._has_rules = self._has_senses and answers.explainer.has_index
        self._reasons = Answers(Explainer(answers.vectors))  # documents are not counted, so no index is read

    def cost(self) -> tuple[int, float]:
        """Estimate the bytes of all files, and the seconds that they take, from those of some words."""
        start = time.process_time()
        step = max(len(self._words) // _TRIED, 1)
        tried = self._words[::step][:_TRIED]
        of_words = (
            len(as_json({word: self._word(word) for word in tried})) * len(self._words) // max(len(tried), 1)
        )
        seconds = (time.process_time() - start) * len(self._words) / max(len(tried), 1)
        page = sum(len(content) for _, content in page_files())
        return page + of_words + sum(len(content) for _, content in self._common_files()), seconds

    def write(self, folder: Path, progress: Callable[[int], object] | None = None) -> int:
        """Write all files into a new or empty folder, and return how many bytes they have.

        Parameters
        ----------
        progress
            Told how many words are written.
        """
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise FileError(folder, "exists and is not an empty folder; choose another for --export")
        n_bytes = 0
        for name, content in self._all_files(progress):
            path = folder / name
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, content)
            n_bytes += len(content)
        return n_bytes

    def _all_files(self, progress: Callable[[int], object] | None) -> Iterator[tuple[str, bytes]]:
        for start in range(0, len(self._words), _IN_A_FILE):
            some = self._words[start : start + _IN_A_FILE]
            yield (
                f"data/words/{start // _IN_A_FILE}.json",
                as_json({word: self._word(word) for word in some}),
            )
            if progress is not None:
                progress(start + len(some))
        yield from self._common_files()
        yield from page_files()

    def _common_files(self) -> Iterator[tuple[str, bytes]]:
        answers = self._answers
        model = {
            **answers.model(),
            "path": "",
            "n_words": len(self._words),
            "metrics": self._metrics,
            "comparable": ["similarity"] if self._has_senses else [],
            "need_index": [],
            "compare_by": "similarity",
            "n_compared": _COMPARED,
            "has_index": False,
            "has_senses": self._has_senses,
            "has_rules": self._has_rules,
            "groupings": [],
            "views": self._views(),
            "is_stored": True,
            "in_a_file": _IN_A_FILE,
            "examples": [word for word in answers.examples if word in set(self._words)],
            "invitations": self._invitations(),
        }
        yield "data/model.json", as_json(model)
        yield "data/words.json", as_json({"words": self._words, "order": list(range(len(self._words)))})
        yield "data/map.bin", subset(self._points, np.array(self.rows, dtype=np.intp))
        found = answers.theme_work.found
        numbers = range(0 if found is None else len(found))
        themes = [{**answers.theme(number, _OF_A_THEME), "documents": []} for number in numbers]
        yield "data/themes.json", as_json({"themes": themes})

    def _views(self) -> list[str]:
        has = {"compare": self._has_senses, "rules": self._has_rules}
        return [view for view in ("map", "word", "compare", "themes", "rules") if has.get(view, True)]

    def _invitations(self) -> dict[str, Any]:
        """Ask about words that are inside."""
        asked, inside = self._answers.invitations(), set(self._words)
        meaning = asked["meaning"] if asked["meaning"] in inside else next(iter(self._words), None)
        pair = asked["why"] if self._has_senses else None
        return {"why": pair if inside.issuperset(pair or ()) else None, "compare": None, "meaning": meaning}

    def _word(self, word: str) -> dict[str, Any]:
        answers = self._answers
        lists = {metric: answers.neighbours(word, metric, _NEIGHBOURS) for metric in self._metrics}
        found: dict[str, Any] = {
            "forms": next((found["forms"] for found in lists.values()), []),
            "neighbours": {
                metric: [_rounded(row) for row in found["neighbours"]] for metric, found in lists.items()
            },
            "row": answers.row(word, 8),
            "themes": [[row["theme"], round(row["share"], 4)] for row in answers.themes(word, 6)["themes"]],
        }
        if answers.vectors.default_metric == "similarity":
            found["standing_out"] = [
                [row["word"], round(row["value"], 1)] for row in answers.standing_out(word, 10)["features"]
            ]
            found["senses"] = self._senses(word)
            near = [row["word"] for row in lists["similarity"]["neighbours"] if row["trained"]]
            found["pairs"] = {other: self._pair(word, other) for other in near[:_COMPARED]}
        if self._has_rules:
            found["rules"] = [_counts(rule) for rule in answers.document_rules(word, _RULES)["rules"]]
        return found

    def _senses(self, word: str) -> list[dict[str, Any]]:
        found = self._answers.explainer.senses(word, n=_OF_A_SENSE, n_documents=0).senses
        return [
            {
                "share": None if sense.share is None else round(sense.share, 3),
                "features": [name for name, _ in sense.features[:_OF_A_SENSE]],
                "neighbours": [name for name, _ in sense.neighbours[:_OF_A_SENSE]],
            }
            for sense in found
        ]

    def _pair(self, word: str, other: str) -> dict[str, Any]:
        found = self._reasons.compare(word, other, "similarity", _REASONS)
        for name in ("contributions_for", "contributions_against"):
            found[name] = [
                [row["feature"], *(round(row[part], 3) for part in ("share", "first_value", "second_value"))]
                for row in found[name]
            ]
        left_out = ("word", "other", "metric", "clauses", "together", "contributions_asked", "documents")
        return {name: _shorter(value) for name, value in found.items() if name not in left_out}


def _counts(rule: dict[str, Any]) -> dict[str, Any]:
    """Leave out documents."""
    counts = {
        name: {part: _shorter(rule[name][part]) for part in ("support", "hits", "precision", "lift")}
        for name in ("match", "chosen")
    }
    return {"present": rule["present"], "absent": rule["absent"], **counts}


def _shorter(value: Any) -> Any:
    """Round numbers to what is shown."""
    if isinstance(value, dict):
        return {name: _shorter(one) for name, one in value.items()}
    return round(value, 3) if isinstance(value, float) else value


def _rounded(row: dict[str, Any]) -> list[Any]:
    percentile = row["percentile"]
    return [row["word"], round(row["score"], 1), None if percentile is None else round(percentile, 2)]


def page_files() -> Iterator[tuple[str, bytes]]:
    """Name the files of the page; index.html comes last, so that a page that is there is whole."""
    found = dict(static_files())
    start = found.pop("index.html")
    yield from found.items()
    # Of the server's policy, what a page may say itself.
    allowed = "; ".join(part for part in POLICY.split("; ") if not part.startswith("frame-ancestors"))
    policy = f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'.encode()
    start = start.replace(b"<html ", b"<html data-stored ", 1).replace(b"<head>", b"<head>\n  " + policy, 1)
    yield "index.html", start


def static_files(folder: Traversable | None = None, path: str = "") -> Iterator[tuple[str, bytes]]:
    """Read the files of the page as they are: their paths and contents."""
    for entry in sorted((folder or files(__package__) / "static").iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from static_files(entry, f"{path}{entry.name}/")
        else:
            yield f"{path}{entry.name}", entry.read_bytes()
