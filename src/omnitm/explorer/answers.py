"""What the page may ask of a model, answered as plain data; nothing here knows about the web.

What words have in common, passages of documents with words marked, completions and nearest spellings, themes
in the background, and `Answers`, which has a method per question.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.cooccurrence import cooccurrence
from omnitm.errors import ParameterError, nearest_spellings
from omnitm.explain import Document, Explainer
from omnitm.explain.evidence import read_documents, spread_over_documents
from omnitm.explain.infer import infer_word
from omnitm.explain.pairs import BY_CLAUSES, take_apart
from omnitm.explorer.background import Work
from omnitm.explorer.group_changes import GroupChanges
from omnitm.explorer.map_layout import map_metric
from omnitm.similarity.combined import Combined
from omnitm.similarity.nearest import best
from omnitm.similarity.row_profile import unit_rows
from omnitm.similarity.scorers import SCORERS
from omnitm.store import TrainingRecord
from omnitm.store.similarity_cache import kept_themes_place
from omnitm.vectors import WordVectors
from omnitm.vectors.themes import Themes, usual_number

Rows = Callable[[NDArray[np.intp]], NDArray[np.float32]]

_ROWS_AT_A_TIME = 128
_SAMPLE = 500  # words that are enough for the mean of all


def in_common(vectors: WordVectors, words: Sequence[str], count: int) -> dict[str, Any]:
    """Take the mean similarity of all pairs of words apart.

    Compared is what stands out in each vector, at length 1, as in the default similarity; in models with too
    few words for that, unit vectors less the mean of all words. Coordinate c of such vectors u_i adds
    ((sum u_i[c])^2 - sum u_i[c]^2) / (n (n - 1)): these numbers, one per word of the vocabulary, add up to
    the mean of u_i @ u_j over all pairs. Reported are those where the words lie above the mean.
    """
    rows = np.array([vectors.get_index(word) for word in dict.fromkeys(words)], dtype=np.intp)
    read = _reader(vectors)
    sums, squares = np.zeros(vectors.vector_size), np.zeros(vectors.vector_size)
    for block in _blocks(rows):
        values = read(block)
        sums += values.sum(axis=0, dtype=np.float64)
        squares += np.square(values).sum(axis=0, dtype=np.float64)
    shares = (sums**2 - squares) / max(len(rows) * (len(rows) - 1), 1)
    above = np.where(sums > 0, shares, 0.0)
    closeness = np.concatenate([read(block) @ sums for block in _blocks(rows)] or [np.zeros(0)])
    return {
        "n_words": len(rows),
        "mean_similarity": float(shares.sum()),
        "shares": [
            {"feature": vectors.feature_names[k], "share": float(shares[k])}
            for k in best(above, count).tolist()
            if above[k] > 0
        ],
        "central": [vectors.index_to_key[rows[k]] for k in best(closeness, min(count, 8)).tolist()],
    }


def _blocks(rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return [rows[start : start + _ROWS_AT_A_TIME] for start in range(0, len(rows), _ROWS_AT_A_TIME)]


def _reader(vectors: WordVectors) -> Rows:
    """Choose how rows are read."""
    if map_metric(vectors) == "similarity":
        return lambda rows: np.stack([vectors.profiles.topic.of_row(row) for row in rows.tolist()])
    mean = common_mean(vectors)
    return lambda rows: unit_rows(vectors.matrix[rows]) - mean


def common_mean(vectors: WordVectors) -> NDArray[np.float32]:
    """Estimate the mean unit vector of all words from evenly chosen ones."""
    n_words = len(vectors)
    rows = np.unique(np.linspace(0, max(n_words - 1, 0), min(n_words, _SAMPLE), dtype=np.intp))
    mean: NDArray[np.float32] = unit_rows(vectors.matrix[rows]).mean(axis=0)
    return mean


PASSAGE = 1_200  # characters of a document that are shown
_BEFORE = 300  # of them, those before the first word that matters
_PIECE = re.compile(r"\s+|\S+")
_AROUND = re.compile(r"^([\W_]*)(.*?)([\W_]*)$", re.DOTALL)  # brackets, the word, brackets


def passage(index: DocumentIndex, document: Document, words: Collection[str]) -> dict[str, Any]:
    """Turn a document into pieces of plain text; a piece with a `word` is to be marked.

    `cut` tells whether text is left out at the beginning and at the end.
    """
    wanted = set(words)
    if document.text is None or index.preparation_or_default.is_incomplete:
        shown = document.text if document.text is not None else " ".join(document.words)
        pieces = _pieces(shown, wanted, lambda text: [text])
    else:
        pieces = _pieces(document.text, wanted, index.preparation_or_default.tokens)
    start, end = _window(pieces)
    return {
        "number": document.number,
        "is_text": document.text is not None,
        "pieces": _joined(pieces[start:end]),
        "cut": [start > 0, end < len(pieces)],
    }


Piece = tuple[str, "str | None"]


def _pieces(text: str, wanted: set[str], tokens: Callable[[str], list[str]]) -> list[Piece]:
    """Split at white space; whatever the corpus' own rules turn into a wanted word is marked.

    Punctuation around it is not, if it is the same word without.
    """
    found: list[Piece] = []
    for piece in _PIECE.findall(text[: 50 * PASSAGE]):
        mark = _mark(piece, wanted, tokens)
        around = _AROUND.match(piece) if mark else None
        if around is None or _mark(around[2], wanted, tokens) != mark:
            found.append((piece, mark))
        else:
            before, word, after = around.groups()
            found += [(part, of) for part, of in ((before, None), (word, mark), (after, None)) if part]
    return found


def _mark(piece: str, wanted: set[str], tokens: Callable[[str], list[str]]) -> str | None:
    if piece.isspace() or len(piece) > PASSAGE:
        return None
    return next((token for token in tokens(piece) if token in wanted), None)


def _window(pieces: list[Piece]) -> tuple[int, int]:
    """Choose the pieces to show: some text before the first mark, and as much after it as fits."""
    if sum(len(text) for text, _ in pieces) <= PASSAGE:
        return 0, len(pieces)
    first = next((k for k, (_, mark) in enumerate(pieces) if mark), 0)
    start, room = first, _BEFORE
    while start > 0 and room > 0:
        start -= 1
        room -= len(pieces[start][0])
    end, room = start, PASSAGE
    while end < len(pieces) and room > 0:
        room -= len(pieces[end][0])
        end += 1
    return start, end


def _joined(pieces: list[Piece]) -> list[dict[str, str | None]]:
    """Join neighbouring pieces without a mark."""
    joined: list[dict[str, str | None]] = []
    for text, mark in pieces:
        shown = text[:PASSAGE]
        if joined and mark is None and joined[-1]["word"] is None:
            joined[-1]["text"] = f"{joined[-1]['text']}{shown}"
        else:
            joined.append({"text": shown, "word": mark})
    return joined


class Speller:
    """Finds words by how they begin, or by how they are spelled.

    Parameters
    ----------
    words
        The most important first; completions keep this order.

    Examples
    --------
    >>> speller = Speller(["road", "car", "roads", "road-side", "carpet"])
    >>> speller.complete("roa", 2), speller.nearest("raod", 1)
    (['road', 'roads'], ['road'])
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._folded = sorted((word.casefold(), k) for k, word in enumerate(words))

    def complete(self, beginning: str, count: int) -> list[str]:
        """Words that begin so: an exact one first, then the most important."""
        query = beginning.casefold()
        start, end = (bisect_left(self._folded, (text, -1)) for text in (query, query + "\U0010ffff"))
        found = sorted((text != query, k) for text, k in self._folded[start:end])
        return [self._words[k] for _, k in found[:count]]

    def nearest(self, word: str, count: int) -> list[str]:
        """Words spelled most like this one."""
        return nearest_spellings(word, self._words, count)


_READING = 5.0  # seconds in which themes that were kept are read


class ThemeWork:
    """Finds or reads the themes of a model in the background, and tells how far that has come."""

    def __init__(self, vectors: WordVectors) -> None:
        self._vectors = vectors
        self._work: Work | None = None
        self._lock = threading.Lock()

    @property
    def found(self) -> Themes | None:
        """The themes; None as long as they are not there. Those that were kept are read when asked for."""
        if self._work is None and self._vectors.default_metric == "similarity" and self._is_kept:
            self.start()
            self.wait(_READING)
        found: Themes | None = None if self._work is None else self._work.result
        return found

    @property
    def _is_kept(self) -> bool:
        path = self._vectors.path
        return path is not None and kept_themes_place(path, usual_number(self._vectors)).exists()

    def start(self) -> None:
        """Begin, unless that was done."""
        with self._lock:
            if self._work is None or self._work.problem is not None:
                self._work = Work(lambda work: self._vectors.themes(progress=work.tell))

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the work is done, if there is any, or so long."""
        if self._work is not None:
            self._work.wait(seconds)

    def state(self) -> dict[str, Any]:
        """Tell whether the themes are there, and what is done about it."""
        is_ready = self.found is not None
        return {"ready": is_ready, "work": None if self._work is None or is_ready else self._work.state()}


METRICS = tuple(SCORERS)
_EXAMPLES = 24  # words on the first page
_TRIED_FOR_SENSES = 8  # of them; each takes about a tenth of a second
_NEIGHBOURS_OF_A_SENSE = 8
_READ_OF_A_SENSE = 12
_WORDS_OF_A_THEME = 12  # that documents are looked for with
_DOCUMENTS_OF_A_THEME = 3


class Answers:
    """Answers questions about one model.

    Parameters
    ----------
    explainer
        The model and, if it is there, its index.
    groups
        The user's groups of words, one per line, to colour the map by.
    comparison
        Words that were compared between groups of documents: as `omnitm compare -o change.json` writes them.
    """

    def __init__(self, explainer: Explainer, groups: str = "", comparison: Path | None = None) -> None:
        self.explainer, self.vectors, self._groups = explainer, explainer.vectors, groups
        self.theme_work = ThemeWork(explainer.vectors)
        self._group_changes = GroupChanges(explainer, comparison) if explainer.has_index else None
        if not self.vectors.has_named_features:
            raise ParameterError(
                "The explorer shows models whose dimensions are words, and those of this one have no names."
            )

    @cached_property
    def importance(self) -> NDArray[np.int64]:
        """Documents of each word of the vocabulary; without an index, its place from the end."""
        if self.explainer.has_index:
            return self.explainer.index.document_frequencies
        return np.arange(self.vectors.vector_size, 0, -1)

    @cached_property
    def speller(self) -> Speller:
        """Completion over all words: trained ones first, then by importance."""
        trained = np.zeros(self.vectors.vector_size, dtype=bool)
        trained[self.vectors.row_features] = True
        order = np.lexsort((-self.importance, ~trained))
        return Speller([self.vectors.feature_names[k] for k in order.tolist()])

    @cached_property
    def map_order(self) -> list[int]:
        """Rows of the trained words, the most important first."""
        order: list[int] = np.argsort(-self.importance[self.vectors.row_features], kind="stable").tolist()
        return order

    def map_words(self) -> dict[str, Any]:
        """Name the words of the map, in the order of its points."""
        return {"words": self.vectors.index_to_key, "order": self.map_order}

    def vocabulary(self) -> dict[str, Any]:
        """Name all words of the vocabulary, in the order of coordinates and literals."""
        return {"words": self.vectors.feature_names}

    def warm_up(self) -> None:
        """Do once what the first questions need."""
        _ = self.speller
        self.invitations()
        if len(self.vectors):
            word = self.vectors.index_to_key[0]
            for metric in ("cosine", self.vectors.default_metric):
                self.neighbours(word, metric, 1)
            if self.vectors.default_metric not in BY_CLAUSES:
                take_apart(self.vectors, word, word, self.vectors.default_metric)

    def model(self) -> dict[str, Any]:
        """Describe the model."""
        training = self.vectors.training
        return {
            "name": self.explainer.path.resolve().name if self.explainer.path else "model",
            "path": str(self.explainer.path or ""),
            "n_words": len(self.vectors),
            "n_features": self.vectors.vector_size,
            "metrics": self.metrics,
            "default_metric": self.vectors.default_metric,
            "by_clauses": sorted(BY_CLAUSES),
            "comparable": self.metrics,
            "need_index": sorted(BY_CLAUSES),
            "compare_by": self.explainer.default_metric,
            "has_index": self.explainer.has_index,
            "n_documents": self.explainer.index.n_documents if self.explainer.has_index else None,
            "unit": self.explainer.counted.unit if self.explainer.has_index else "documents",
            "n_clauses": training.settings.n_clauses if isinstance(training, TrainingRecord) else None,
            "examples": self.examples,
            "groups": self._groups,
            "has_themes": self.vectors.default_metric == "similarity",
            "groupings": [] if self._group_changes is None else self._group_changes.groupings,
        }

    @property
    def group_changes(self) -> GroupChanges:
        """Compares groups of documents, which the index knows."""
        if self._group_changes is None:
            raise ParameterError("Groups of documents are compared by the index, which is not there.")
        return self._group_changes

    def stop(self) -> None:
        """Stop what is done in the background."""
        if self._group_changes is not None:
            self._group_changes.stop()

    @property
    def metrics(self) -> list[str]:
        """The metrics that this model has."""
        return [name for name, scorer in SCORERS.items() if scorer.problem(self.vectors) is None]

    @cached_property
    def examples(self) -> list[str]:
        """Trained words to begin with."""
        if self.vectors.default_metric == "similarity":
            return self.vectors.telling_words(_EXAMPLES)
        rows = self.map_order
        if not rows:
            return []
        places = np.linspace(len(rows) // 50, max(len(rows) // 3, 1), _EXAMPLES, dtype=int)
        chosen = [rows[place] for place in np.minimum(places, len(rows) - 1).tolist()]
        return list(dict.fromkeys(self.vectors.index_to_key[k] for k in chosen))

    def invitations(self) -> dict[str, Any]:
        """Questions to begin with, about words of which the model has much to say; None: there is none."""
        return self._invitations

    @cached_property
    def _invitations(self) -> dict[str, Any]:
        why = self._nearest_pair(self.vectors.default_metric, ())
        by = "alike" if "alike" in self.metrics else self.vectors.default_metric
        return {"why": why, "compare": self._nearest_pair(by, why or ()), "meaning": self._ambiguous_word()}

    def _nearest_pair(self, metric: str, taken: Collection[str]) -> list[str] | None:
        """Of the examples, choose the one whose nearest word is nearest, and that word."""
        found: list[tuple[float, list[str]]] = []
        for word in self.examples:
            for other, score in self.vectors.similar_by_word(word, 1, metric=metric):  # type: ignore[arg-type]
                if other in self.vectors and not {word, other}.intersection(taken):
                    found.append((score, [word, other]))
        return max(found, default=(0.0, None))[1]

    def _ambiguous_word(self) -> str | None:
        """Of some words of which there is most to say, choose one whose second sense is strong."""
        if self.vectors.default_metric != "similarity":
            return next(iter(self.examples), None)
        found = [(0.0, word) for word in self.examples[:1]]
        for word in self.examples[:_TRIED_FOR_SENSES]:
            senses = self.explainer.senses(word, n=0, n_documents=0).senses
            shares = sorted((sense.share or 0.0 for sense in senses), reverse=True)
            if len(shares) > 1:
                found.append((shares[1], word))
        return max(found, default=(0.0, None))[1]

    def known_features(self, words: Iterable[str]) -> list[str]:
        """Return the words of the vocabulary that are meant."""
        return [self.vectors.known_feature(word) for word in words]

    def complete(self, beginning: str, count: int) -> dict[str, Any]:
        """Words that begin so, or else those spelled most like it."""
        found = self.speller.complete(beginning, count) if beginning else self.examples[:count]
        if not found and not self.vectors.preparation.is_incomplete:
            typed = self.vectors.preparation.words(beginning)
            found = list(dict.fromkeys(word for part in typed for word in self.speller.complete(part, 1)))
        near = [] if found else self.speller.nearest(beginning, min(count, 6))
        rows = [{"word": word, "trained": word in self.vectors} for word in found or near]
        is_stop_word = beginning not in found and self.vectors.preparation.is_stop_word(beginning)
        return {"words": rows, "is_near": bool(near), "is_stop_word": is_stop_word}

    def neighbours(self, word: str, metric: str, count: int) -> dict[str, Any]:
        """Words nearest to a word in the original space."""
        word = self.vectors.known_word(word)
        pairs = self.vectors.similar_by_word(word, topn=count, metric=metric)  # type: ignore[arg-type]
        forms = self.vectors.forms(word) if isinstance(SCORERS[metric], Combined) else []
        return {"word": word, "metric": metric, "neighbours": self._near(pairs, metric), "forms": forms}

    def inferred(self, word: str, metric: str, count: int) -> dict[str, Any]:
        """Words nearest to one that was not trained, and how that was found out."""
        if not isinstance(SCORERS[metric], Combined):
            return self.neighbours(word, metric, count)  # refuses words that were not trained
        index = self.explainer.index if self.explainer.has_index else None
        found = infer_word(self.vectors, word, index)
        pairs = found.most_similar(self.vectors, count, metric=metric)  # type: ignore[arg-type]
        near = self._near(pairs, metric)
        return {"word": found.word, "metric": metric, "neighbours": near, "forms": [], "how": found.how}

    def _near(self, pairs: Sequence[tuple[str, float]], metric: str) -> list[dict[str, Any]]:
        scorer = SCORERS[metric]
        nearer: list[float] | None = None
        if isinstance(scorer, Combined):
            nearer = scorer.percentiles(self.vectors, np.array([score for _, score in pairs])).tolist()
        return [
            {
                "word": name,
                "score": score,
                "trained": name in self.vectors,
                "percentile": None if nearer is None else nearer[place],
            }
            for place, (name, score) in enumerate(pairs)
        ]

    def row(self, word: str, count: int) -> dict[str, Any]:
        """List the highest and lowest coordinates of a word's vector."""
        word = self.vectors.known_word(word)
        vector = self.vectors.get_vector(word).astype(np.int64)
        highest, lowest = (best(sign * vector, count).tolist() for sign in (1, -1))
        own = self.vectors.feature_index(word)
        return {
            "word": word,
            "own": int(vector[own]),
            "n_documents": int(self.importance[own]) if self.explainer.has_index else None,
            "n_positive": int((vector > 0).sum()),
            "n_negative": int((vector < 0).sum()),
            "n_zero": int((vector == 0).sum()),
            "positive": self._coordinates(vector, [k for k in highest if vector[k] > 0]),
            "negative": self._coordinates(vector, [k for k in lowest if vector[k] < 0]),
        }

    def _coordinates(self, vector: NDArray[np.int64], columns: list[int]) -> list[dict[str, Any]]:
        names = self.vectors.feature_names
        return [
            {"word": names[k], "value": int(vector[k]), "trained": names[k] in self.vectors} for k in columns
        ]

    def compare(self, word: str, other: str, metric: str, count: int) -> dict[str, Any]:
        """Take the similarity of two words apart, and tell how many random pairs are less near."""
        found = self.explainer.why(word, other, metric=metric, n=count, n_documents=0)
        content: dict[str, Any] = {**found.to_dict(), "sentence": found.sentence, "scale": None}
        scorer = SCORERS[metric]
        if isinstance(scorer, Combined):
            percentile = float(scorer.percentiles(self.vectors, np.array([found.score]))[0])
            content["scale"] = {"percentile": percentile, "most": scorer.most(self.vectors)}
        return content

    def rules(self, word: str, n_literals: int) -> dict[str, Any]:
        """Rules of a word, measured on the corpus, and its strongest and weakest literals."""
        word = self.vectors.known_word(word)
        return self.explainer.explain(word, n_literals=n_literals, n_documents=0).to_dict()

    def clause(self, word: str, clause: int) -> dict[str, Any]:
        """Read all states of one clause."""
        word = self.vectors.known_word(word)
        return self.explainer.clause(word, clause, n_literals=8).to_dict()

    def standing_out(self, word: str, count: int) -> dict[str, Any]:
        """Features that a word leans on more than other words do."""
        word = self.vectors.known_word(word)
        pairs = self.explainer.standing_out(word, count)
        rows = [{"word": name, "value": value, "trained": name in self.vectors} for name, value in pairs]
        return {"word": word, "features": rows}

    def senses(self, word: str) -> dict[str, Any]:
        """Tell the senses of a word apart, with a document of each: one that has many of its words."""
        word = self.vectors.known_word(word)
        found = self.explainer.senses(word, n=_NEIGHBOURS_OF_A_SENSE, n_documents=_READ_OF_A_SENSE)
        content = found.to_dict()
        for sense, shown in zip(found.senses, content["senses"], strict=True):
            marked = {word, *(name for name, _ in sense.features)}
            typical = sorted(sense.documents, key=lambda one: -len(marked.intersection(one.words)))[:1]
            shown["documents"] = self._passages(typical, marked)
        return content

    def document_rules(self, word: str, count: int) -> dict[str, Any]:
        """Rules about single documents, measured on documents that they were not chosen by."""
        word = self.vectors.known_word(word)
        rules = self.explainer.document_rules(word, n=count, n_documents=0)
        return {"word": word, "rules": [rule.to_dict() for rule in rules]}

    def themes(self, word: str, count: int) -> dict[str, Any]:
        """Themes of a word, or of all words, and their shares; none as long as they are not there."""
        word = self.vectors.known_word(word) if word else ""
        state, found = self.theme_work.state(), self.theme_work.found
        if found is None:
            return {**state, "word": word, "themes": []}
        shares = sorted(enumerate(found.shares.tolist()), key=lambda pair: -pair[1])
        pairs = found.of_word(word, count) if word else shares
        rows = [{"theme": theme, "name": found.name(theme), "share": share} for theme, share in pairs]
        return {**state, "word": word, "themes": rows}

    def start_themes(self) -> dict[str, Any]:
        """Begin to find the themes."""
        self.theme_work.start()
        return self.theme_work.state()

    def theme(self, theme: int, count: int) -> dict[str, Any]:
        """Describe a theme: its words, its features, and documents with many of its words."""
        found = self.theme_work.found
        if found is None:
            raise ParameterError("The themes are not there yet.")
        words = found.best_words(theme, count)
        return {
            "theme": theme,
            "name": found.name(theme),
            "n_themes": len(found),
            "share": float(found.shares[theme]),
            "words": [{"word": word, "value": value} for word, value in words],
            "features": [
                {"word": name, "value": value, "trained": name in self.vectors}
                for name, value in found.features(theme, count)
            ],
            "documents": self._documents_with_most([word for word, _ in words[:_WORDS_OF_A_THEME]]),
        }

    def _documents_with_most(self, words: list[str]) -> list[dict[str, Any]]:
        """Read documents that have most of some words, evenly spread over all such documents."""
        if not self.explainer.has_index or not words:
            return []
        index = self.explainer.counted
        having = np.concatenate([index.documents_with(index.word_id(word)) for word in words])
        documents, counts = np.unique(having, return_counts=True)
        most = documents[counts == counts.max(initial=0)]
        chosen = spread_over_documents(index, most, _DOCUMENTS_OF_A_THEME)
        return self._passages(read_documents(index, chosen), set(words))

    def change(self, by: str, first: str, second: str, word: str) -> dict[str, Any]:
        """Compare the use of a word in two groups of documents, or tell how far that has come."""
        changes = self.group_changes
        return changes.word(changes.choose(by, first, second), word)

    def changes(self, by: str, first: str, second: str, count: int) -> dict[str, Any]:
        """Rank the words that were compared in two groups of documents."""
        changes = self.group_changes
        return changes.changes(changes.choose(by, first, second), count)

    def start_changes(self, by: str, first: str, second: str) -> dict[str, Any]:
        """Begin to compare the most frequent words in two groups of documents."""
        changes = self.group_changes
        chosen = changes.choose(by, first, second)
        changes.start(chosen)
        return changes.changes(chosen, 0)

    def trace(self, word: str, literal: str, negated: bool) -> dict[str, Any]:
        """Follow a literal through the training."""
        word, literal = self.vectors.known_word(word), self.vectors.known_feature(literal)
        found = self.explainer.trace(word, literal, negated=negated, n_events=4, n_documents=1)
        content = found.to_dict()
        for name in ("rewards", "penalties"):
            for event, shown in zip(getattr(found, name), content[name], strict=True):
                shown["documents"] = self._passages(event.documents, {word, literal})
        return content

    def matches(
        self, word: str, present: Sequence[str], absent: Sequence[str], n_documents: int
    ) -> dict[str, Any]:
        """Count the documents that satisfy a rule, and read some, with the word and without it."""
        word = self.vectors.known_feature(word)
        present, absent = self.known_features(present), self.known_features(absent)
        found = self.explainer.match(word, present, absent, n_documents=n_documents)
        marked = {word, *present, *absent}
        return {
            **found.to_dict(),
            "examples": self._passages(found.examples, marked),
            "counterexamples": self._passages(found.counterexamples, marked),
        }

    def evidence(self, words: Sequence[str], count: int) -> dict[str, Any]:
        """Documents, or passages, that have all of the words."""
        words = self.known_features(words)
        index = self.explainer.counted
        found = cooccurrence(index, list(words))
        documents = read_documents(index, spread_over_documents(index, found.documents, count))
        frequencies = found.pairs.diagonal().tolist()
        return {
            "words": list(words),
            "frequencies": frequencies,
            "count": len(found.documents),
            "expected": float(
                np.prod([count / max(index.n_documents, 1) for count in frequencies]) * index.n_documents
            ),
            "documents": self._passages(documents, set(words)),
        }

    def _passages(self, documents: Sequence[Document], words: set[str]) -> list[dict[str, Any]]:
        return [passage(self.explainer.index, document, words) for document in documents]

    def common(self, words: Sequence[str], count: int) -> dict[str, Any]:
        """Take apart what a set of trained words has in common."""
        words = [self.vectors.known_word(word) for word in words]
        return in_common(self.vectors, words, count)
