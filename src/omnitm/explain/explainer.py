"""The one door to all explanations: a model and the index that it was trained from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.passages import Counted, counted_in
from omnitm.errors import CorpusError, FileError, ParameterError
from omnitm.explain.contexts import Contexts
from omnitm.explain.document_rules import DocumentRule, document_rules
from omnitm.explain.evidence import Together, together
from omnitm.explain.matches import Match, match_rule
from omnitm.explain.pairs import (
    BY_CLAUSES,
    Comparison,
    compare_by_clauses,
    compare_by_coordinates,
    take_apart,
)
from omnitm.explain.records import RecordList
from omnitm.explain.rules import Machines, Rule, TrainedMachine, other_corpus, rules_of
from omnitm.explain.senses import Senses, sense_vector, senses_of, word_senses
from omnitm.explain.traces import Trace, trace_literal
from omnitm.explain.words import ClauseStates, WordExplanation, clause_states, explain_word
from omnitm.files.kinds import shell_name
from omnitm.machine import Kind
from omnitm.parameters import check_choice, check_integer
from omnitm.similarity.combined import Combined
from omnitm.similarity.profiles import TOPIC
from omnitm.store import TrainingRecord
from omnitm.store.model_notes import index_of_model
from omnitm.vectors.word_vectors import WordVectors


class Explainer:
    """Explains a model: what was learned about a word, why two words are similar, how a literal moved.

    Where clauses are needed, the word is trained again from its seed, which takes a fraction of a second, and
    the result is compared with the stored vector. An explainer may be used from several threads.

    Parameters
    ----------
    vectors
        The model.
    index
        The index that it was trained from; without it only `standing_out` works, and `why` for metrics that
        compare whole vectors.

    Examples
    --------
    >>> from omnitm import OmniTMAE
    >>> documents = ["road car wheel", "sea ship", "car wheel driver", "ship wind"] * 20
    >>> model = OmniTMAE(n_examples=100, accumulation=2, n_jobs=1).fit(documents)
    >>> explainer = Explainer(model.word_vectors_, model.index_)
    >>> explainer.explain("car").rules[0].match.precision
    1.0
    >>> sorted(word for word, _ in explainer.standing_out("car", 3))
    ['driver', 'road', 'wheel']
    """

    def __init__(self, vectors: WordVectors, index: DocumentIndex | None = None) -> None:
        self.vectors = vectors
        self.path: Path | None = None
        self._index = index
        self._has_names = vectors.has_named_features
        if index is not None and self._has_names and list(index.vocabulary) != vectors.feature_names:
            raise CorpusError(other_corpus(index))

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], index: DocumentIndex | str | os.PathLike[str] | None = None
    ) -> Explainer:
        """Open a model's folder and, when it is needed, its index.

        Parameters
        ----------
        index
            An index or its folder; None: the one inside the model's folder, where it was when the model was
            trained, or a folder `index` next to the model.
        """
        explainer = cls(WordVectors.load(Path(path)), index_of_model(Path(path), index))
        explainer.path = Path(path)
        return explainer

    @property
    def has_index(self) -> bool:
        """Whether questions that need the corpus can be answered."""
        return self._index is not None

    @property
    def index(self) -> DocumentIndex:
        """The corpus; an error says how to get it if it is not there."""
        if self._index is None:
            place = Path("MODEL") if self.path is None else self.path
            folder = place.parent if place.is_file() else place  # a packed model has its index beside it
            raise FileError(self.path or "model", _NO_INDEX.format(shell_name(folder / "index")))
        return self._index

    @cached_property
    def counted(self) -> Counted:
        """What rules and evidence are counted in: the documents, or the passages that topics come from."""
        record = self.vectors.training
        reach = record.settings.passage_reach if isinstance(record, TrainingRecord) else 0
        return counted_in(self.index, reach)

    @property
    def _counted(self) -> Counted | None:
        return self.counted if self.has_index else None

    @property
    def default_metric(self) -> str:
        """The metric of `why`: that of the vectors, or cosine where that takes the index and it is gone."""
        default: str = self.vectors.default_metric
        return default if self.has_index or default not in BY_CLAUSES else "cosine"

    @cached_property
    def machines(self) -> Machines:
        """Machines of the model's words, trained again on demand."""
        return Machines(self.vectors, self.index)

    def rules(self, word: str, *, kind: Kind | None = None) -> list[Rule]:
        """Rules of a word's positive clauses, the highest weight first, not measured on the corpus."""
        return rules_of(self._machine(word, kind))

    def _machine(self, word: str, kind: Kind | None) -> TrainedMachine:
        word = self.vectors.known_word(word)
        if kind is None:
            return self.machines[word]
        check_choice("explain", "kind", kind, ("topic", "place"))
        return self.machines.of(word, kind)

    def explain(
        self, word: str, *, kind: Kind | None = None, n_literals: int = 10, n_documents: int = 1
    ) -> WordExplanation:
        """Show what was learned about a word: rules with support and precision, and its strongest literals.

        Parameters
        ----------
        kind
            "topic": from documents with the word; "place": from where it stands, so that rules read "follows
            was AND NOT precedes of". None: topic, if the model has that.
        n_literals
            How many of the strongest and weakest literals.
        n_documents
            How many examples and counterexamples per rule; reading them takes most of the time.
        """
        _check_counts("explain", n_literals=n_literals, n_documents=n_documents)
        machine = self._machine(word, kind)
        forms = self._forms(machine.word)
        return explain_word(machine, self.index, forms, n_literals=n_literals, n_documents=n_documents)

    def document_rules(self, word: str, *, n: int = 5, n_documents: int = 1) -> RecordList[DocumentRule]:
        """Find rules about single documents, measured on documents that were not used to choose them.

        If topics were learned from passages, they are rules about single passages.

        Parameters
        ----------
        n
            At most so many rules; each covers documents with the word that those before it don't.
        n_documents
            How many examples and counterexamples per rule.
        """
        _check_counts("document_rules", n=n, n_documents=n_documents)
        machine = self._machine(word, "topic")
        named = [name for name, _ in self.standing_out(word, 50)] if self.vectors.has_profiles else []
        forms = self._forms(machine.word)
        return RecordList(document_rules(machine, self.counted, named, forms, n=n, n_documents=n_documents))

    def _forms(self, word: str) -> list[str]:
        """Other forms of a word, which say nothing new about it."""
        return list(self.vectors.forms(word)) if self.vectors.has_profiles else []

    def senses(self, word: str, *, n: int = 8, n_documents: int = 1) -> Senses:
        """Tell the senses of a word apart: groups of its documents that have little in common.

        Without an index, the features that stand out in its vector are grouped instead.

        Parameters
        ----------
        n, n_documents
            How many neighbours and documents of each sense.
        """
        _check_counts("senses", n=n, n_documents=n_documents)
        word = self.vectors.known_word(word)
        return senses_of(self.vectors, self._contexts, self._counted, word, n=n, n_documents=n_documents)

    def sense_vector(self, word: str, sense: int) -> NDArray[Any]:
        """Return the vector of one sense, counted from 1, for `most_similar` and the like."""
        word = self.vectors.known_word(word)
        found = word_senses(self.vectors, self._contexts, self._counted, word)
        check_integer("sense_vector", "sense", sense, 1, found.n_senses)
        return sense_vector(self.vectors, word, found, sense - 1)

    def sense_of(self, word: str, text: str) -> tuple[int | None, dict[int, float]]:
        """Return the sense that a word has in a text, or None if no other word tells; and all scores.

        A score is a sum over the other words of the text and the words next to the word, from -1 to 1.
        """
        word = self.vectors.known_word(word)
        found = word_senses(self.vectors, self._contexts, self._counted, word)
        tokens = self.vectors.preparation.marked_tokens(text)
        names = {*self.vectors.preparation.words(text)} - {word, *self.vectors.forms(word)}
        known = sorted(self.vectors.feature_index(name) for name in names if name in self.vectors)
        scores = found.centres @ self._contexts.of_text(tokens, word, np.array(known, dtype=np.intp))
        best = int(scores.argmax()) + 1 if scores.any() else None
        return best, {number + 1: float(score) for number, score in enumerate(scores)}

    @cached_property
    def _contexts(self) -> Contexts:
        self._check_profiles()
        return Contexts.of(self.vectors, self._counted)

    def clause(self, word: str, clause: int, *, n_literals: int = 10) -> ClauseStates:
        """Read all states of one clause."""
        _check_counts("clause", n_literals=n_literals)
        machine = self.machines[self.vectors.known_word(word)]
        check_integer("clause", "clause", clause, 0, len(machine.weights) - 1)
        return clause_states(machine, clause, n_literals)

    def match(
        self, word: str, present: Sequence[str], absent: Sequence[str] = (), *, n_documents: int = 1
    ) -> Match:
        """Measure a rule of one's own: documents that have all words of `present` and none of `absent`.

        If topics were learned from passages, these are counted.
        """
        _check_counts("match", n_documents=n_documents)
        return match_rule(self.counted, word, present, absent, n_documents)

    def why(
        self,
        word: str,
        other: str,
        *,
        metric: str | None = None,
        n: int = 10,
        n_documents: int = 1,
        through: Sequence[str] = (),
    ) -> Comparison:
        """Take the similarity of two words apart.

        Parameters
        ----------
        metric
            "similarity", "related", "alike": sums over words, and over places;
            "association" and "association-symmetric", which are explained by clauses;
            "cosine", and any other metric of the vectors that has `contributions`.
            None: `default_metric`.
        n
            How many coordinates for and against.
        n_documents
            How many documents to read for each pair of words; reading takes most of the time.
        through
            Features to show whatever their share; not for associations, which are single coordinates.
        """
        _check_counts("why", n=n, n_documents=n_documents)
        metric = self.default_metric if metric is None else metric
        word = self.vectors.known_word(word)
        find = self.vectors.known_feature if metric == "association" else self.vectors.known_word
        other = find(other)
        if word == other:
            raise ParameterError(f"{word!r} is compared with itself; why takes two different words.")
        if metric in BY_CLAUSES and through:
            raise ParameterError(
                f"The 'through' parameter of why has no meaning for {metric!r}: it is one coordinate, not a "
                "sum over words; use metric='similarity' or 'cosine'."
            )
        if metric in BY_CLAUSES:
            return compare_by_clauses(self.machines, word, other, metric, n_documents=n_documents)
        if self._index is not None and isinstance(self.vectors.training, TrainingRecord):
            self.machines.check_once(word)
        taken_apart = take_apart(self.vectors, word, other, metric)
        has_names = self._has_names or self.vectors.place is not None
        index = self._counted if has_names else None  # a dimension without a name occurs in no document
        return compare_by_coordinates(
            taken_apart, index, word, other, n=n, n_documents=n_documents, through=through
        )

    def standing_out(self, word: str, n: int = 10) -> list[tuple[str, float]]:
        """List the features that stand out in a word's vector, and by how many standard deviations.

        These are the coordinates that the metric "similarity" compares; see `omnitm.similarity.row_profile`.
        """
        _check_counts("standing_out", n=n)
        self._check_profiles()
        row = self.vectors.get_index(word)
        values = Combined("related").deviations(self.vectors, row)[: self.vectors.vector_size]
        best = np.argsort(-values, kind="stable")[:n]
        names = self.vectors.feature_names
        return [(names[k], float(values[k])) for k in best.tolist() if values[k] > TOPIC.stands_out]

    def _check_profiles(self) -> None:
        if not self.vectors.has_profiles:
            raise ParameterError(
                "What stands out can only be said of integers whose dimensions are words, and these vectors "
                "are of another kind; use metric='cosine'."
            )

    def trace(
        self, word: str, literal: str, *, negated: bool = False, n_events: int = 5, n_documents: int = 1
    ) -> Trace:
        """Show how a literal moved while a word was trained: which examples moved it up, and which down.

        Parameters
        ----------
        literal, negated
            Follow "`literal` occurs", or with `negated` "`literal` does not occur".
        n_events, n_documents
            How many of the examples that moved it most, up and down, and how many documents of each to read.
        """
        _check_counts("trace", n_events=n_events, n_documents=n_documents)
        word, literal = self.vectors.known_word(word), self.vectors.known_feature(literal)
        self.machines.check_once(word)
        counts = {"n_events": n_events, "n_documents": n_documents}
        return trace_literal(self.index, self.machines.record, word, literal, negated=negated, **counts)

    def together(self, first: str, second: str, *, n_documents: int = 3) -> Together:
        """Count the documents, or passages, that have both words, and read some."""
        _check_counts("together", n_documents=n_documents)
        return together(self.counted, first, second, n_documents)


def _check_counts(method: str, **counts: int) -> None:
    for name, value in counts.items():
        check_integer(method, name, value, 0)


_NO_INDEX = (
    "this needs the index that the model was trained from, and it is not there; give it with --index INDEX "
    "(in Python: Explainer.open(path, index=...)), or make it again from the same text: "
    "omnitm index TEXT -o {}"
)
