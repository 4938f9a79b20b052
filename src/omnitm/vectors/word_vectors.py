"""Word vectors under the method names of gensim's KeyedVectors; our own are integers with names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import OmniTMWarning, ParameterError
from omnitm.parameters import check_choice, check_integer
from omnitm.similarity.combined import Combined
from omnitm.similarity.nearest import best
from omnitm.similarity.profiles import Profiles
from omnitm.similarity.row_matrix import RowMatrix
from omnitm.similarity.row_profile import FEWEST_WORDS, unit
from omnitm.similarity.scorers import Metric, Scorer, usable_scorer
from omnitm.vectors.compact import (
    SparseWordVectors,
    dense_rows_of_profiles,
    reduced_rows,
    strongest_coordinates,
    to_unit_length,
)
from omnitm.vectors.named_rows import NamedRows, PlaceVectors, Query, query_parts

if TYPE_CHECKING:
    from omnitm.sharing.card import CardFacts
    from omnitm.store import AnyRecord
    from omnitm.vectors.document_vectors import SentenceEncoder
    from omnitm.vectors.themes import ThemeProgress, Themes


_WORDS_SHOWN = 20
_SHORT_WORD = 3  # letters; such words are mostly abbreviations
_DIFFERENT = 0.15  # cosine of smoothed profiles below which two words are about different things
_MOST_NUMBERS = 1 << 34  # from here on reading the whole matrix, as "similarity" must once, takes hours

Scale = Literal["score", "percentile"]
_GENSIM_NAMES = {
    "vocab": "key_to_index",
    "index2word": "index_to_key",
    "index2entity": "index_to_key",
    "has_index_for": "`word in vectors`",
    "get_mean_vector": "`vectors[words].mean(axis=0)`, or `encode` for texts",
    "most_similar_cosmul": "most_similar",
    "words_closer_than": "closer_than",
    "relative_cosine_similarity": "similarity with scale='percentile'",
    "wmdistance": "n_similarity, or `encode` for texts",
    "evaluate_word_pairs": "`omnitm evaluate similarity`",
    "evaluate_word_analogies": "`omnitm evaluate analogies`",
}


class WordVectors(NamedRows):
    """Vectors of words, with the method names of gensim's `KeyedVectors`.

    There is a row per trained word and a column per word of the vocabulary. Vectors of models that are not
    Omni may be real numbers without names (`feature_names` is None); then only the cosine has a meaning.

    Wherever a method takes a `metric`, it is one of

    - `"related"`: words that share topics; `"alike"`: words that can stand in each other's place,
    - `"similarity"`: both together, see `omnitm.similarity.combined`; the default from 100 to 130,000 words,
    - `"association"`: words that occur together: the coordinate `e_a[b]`, an integer; the default for fewer
      or more words. It finds every word of the vocabulary, the other metrics only trained words,
    - `"association-symmetric"`: the mean of `e_a[b]` and `e_b[a]`,
    - `"cosine"`: of the two rows; the default where coordinates are not words.

    Vectors that were trained on place only have `"alike"`, their default, and `"cosine"`.

    Parameters
    ----------
    matrix
        int16 or float32, words x features; may be memory-mapped, or decoded when read (`RowMatrix`).
    index_to_key
        The trained words, one per row.
    feature_names
        The words of the vocabulary, one per column; None: columns are not words.
    dimension_names
        Names of columns that are not words; None: they are numbered.
    training
        Settings, seed and index that the vectors were trained with; None if unknown.
    place
        What was learned from where words stand, beside `matrix`; None if that was not trained.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = np.array([[0, 9, 1], [8, 0, 2]], dtype=np.int16)
    >>> vectors = WordVectors(matrix, ["road", "car"], ["road", "car", "sea"])
    >>> vectors.most_similar("road", topn=2)
    [('car', 9.0), ('sea', 1.0)]
    """

    _is_metric_told = False

    @property
    def default_metric(self) -> Metric:
        """The metric that methods use if none is named; the list of metrics says which."""
        if self.has_profiles and len(self) >= FEWEST_WORDS and self.matrix.size <= _MOST_NUMBERS:
            return "similarity"
        if self.place is not None and not self.has_named_features and len(self) >= FEWEST_WORDS:
            return "alike"
        return "association" if self.has_named_features else "cosine"

    @cached_property
    def profiles(self) -> Profiles:
        """What stands out in the vector of each word: computed once, and kept beside the model."""
        from omnitm.store.similarity_cache import kept_profiles

        return kept_profiles(self, self._folder)

    def themes(self, k: int | None = None, *, progress: ThemeProgress | None = None) -> Themes:
        """Describe all words by `k` themes, which are found once and kept beside the model.

        Parameters
        ----------
        k
            How many themes; None: 200, or a tenth of the words if that is less.
        progress
            Function that is told what is done, how much of it is finished, and how much there is.
        """
        from omnitm.store.similarity_cache import kept_themes
        from omnitm.vectors.themes import usual_number

        k = usual_number(self) if k is None else k
        if k not in self._themes:
            self._themes[k] = kept_themes(self, self._folder, k, progress)
        return self._themes[k]

    @cached_property
    def _themes(self) -> dict[int, Themes]:
        return {}

    def forms(self, word: str) -> list[str]:
        """List the other forms of a word, the most alike first; see `omnitm.similarity.word_forms`."""
        row = self.get_index(word)
        return [self.index_to_key[form] for form, _ in self.profiles.forms.of_row(row)[1:]]

    def sense_vector(self, word: str, sense: int) -> NDArray[Any]:
        """Return the topic vector of one sense of a word, counted from 1 as `omnitm senses` lists them.

        Senses are told apart by the documents of the model's index, where that is found; else by features.
        """
        from omnitm.explain import Explainer
        from omnitm.store.model_notes import index_of_model

        index = None if self.path is None else index_of_model(self.path)
        return Explainer(self, index).sense_vector(word, sense)

    def telling_words(self, count: int) -> list[str]:
        """Suggest words to look at first: neither frequent nor rare, and about different things.

        They have the strongest features among the words from the first hundredth to the first eighth of the
        vocabulary. Without profiles, or among few words, they are the first words.
        """
        if self.default_metric != "similarity":
            return self.index_to_key[:count]
        topic = self.profiles.topic
        rows = np.argsort(self.row_features, kind="stable")[len(self) // 100 : max(len(self) // 8, 50)]
        is_long = np.array([len(self.index_to_key[row]) > _SHORT_WORD for row in rows.tolist()], dtype=bool)
        rows = rows[is_long]
        chosen: list[int] = []
        for row in rows[np.argsort(-topic.strengths(rows), kind="stable")].tolist():
            if len(chosen) == count:
                break
            if all(topic.smooth[row] @ topic.smooth[other] < _DIFFERENT for other in chosen):
                chosen.append(row)
        return [self.index_to_key[row] for row in chosen] or self.index_to_key[:count]

    def __repr__(self) -> str:
        kept = "" if self.keep_top is None else f", the {self.keep_top:,} of each word that differ most"
        size = f"{len(self):,} words x {self.vector_size:,} features{kept}"
        return f"WordVectors({size}, compared by {self.default_metric})"

    def _repr_html_(self) -> str:
        """Show a notebook the size, the metric that is used if none is named, and some words."""
        facts = repr(self)[len("WordVectors(") : -1]
        words = ", ".join(self.index_to_key[:_WORDS_SHOWN]) + (" ..." if len(self) > _WORDS_SHOWN else "")
        return f"<p><b>WordVectors</b>: {escape(facts)}</p><p>{escape(words)}</p>"

    def scorer(self, metric: Metric | None = None) -> Scorer:
        """Return the scorer of a metric, None: the default; refuse one that these vectors do not have."""
        if metric is None:
            self._tell_metric()
        return usable_scorer(self, self.default_metric if metric is None else metric)

    def _tell_metric(self) -> None:
        """Say once that the number of words decides what trained vectors are compared by."""
        if self.training is None or self._is_metric_told or not self.has_profiles:
            return
        self._is_metric_told = True
        if self.default_metric != "similarity":
            size = f"fewer than {FEWEST_WORDS}" if len(self) < FEWEST_WORDS else "too many"
            warnings.warn(
                f"Words are compared by {self.default_metric!r}: {len(self):,} words are {size} for "
                f"'similarity', the usual metric, whose scores have another scale. Name a metric to choose.",
                OmniTMWarning,
                stacklevel=4,
            )

    if not TYPE_CHECKING:  # else every name would be known to the type checker

        def __getattr__(self, name: str) -> Any:
            """Say what to use for names of gensim that are not here."""
            if name in _GENSIM_NAMES:
                raise AttributeError(f"WordVectors has no {name!r}; use {_GENSIM_NAMES[name]}.")
            return object.__getattribute__(self, name)  # the usual error

    def similarity(self, w1: str, w2: str, *, metric: Metric | None = None, scale: Scale = "score") -> float:
        """How near `w2` is to `w1`; higher is nearer, and a word is nearest to itself.

        Parameters
        ----------
        scale
            "score", or "percentile": the percentage of random pairs of words that are less near, for the
            metrics "similarity", "related" and "alike".
        """
        return float(self.similarities([(w1, w2)], metric=metric, scale=scale)[0])

    def similarities(
        self, pairs: Sequence[tuple[str, str]], *, metric: Metric | None = None, scale: Scale = "score"
    ) -> NDArray[np.float64]:
        """Compare many pairs of words at once; see `similarity`."""
        check_choice("similarity", "scale", scale, ("score", "percentile"))
        found = self.scorer(metric)
        rows, others = self._places([first for first, _ in pairs]), [second for _, second in pairs]
        if found.name == "association":  # the second word need not be trained
            columns = np.array([self.feature_index(word) for word in others], dtype=np.intp)
            scores: NDArray[np.float64] = self.matrix[rows, columns].astype(np.float64)
        else:
            scores = found.pairs(self, rows, self._places(others))
        if scale == "score":
            return scores
        if not isinstance(found, Combined):
            raise ParameterError(
                f"The metric {found.name!r} has no percentiles; 'similarity', 'related', 'alike' have."
            )
        return found.percentiles(self, scores)

    def n_similarity(self, ws1: Sequence[str], ws2: Sequence[str], *, metric: Metric | None = None) -> float:
        """How near two sets of words are: the mean over all pairs, or the cosine of the mean vectors."""
        first, second = _word_list("ws1", ws1), _word_list("ws2", ws2)
        if self.scorer(metric).name == "cosine":
            means = [sum(unit(self.get_vector(word)) for word in words) for words in (first, second)]
            return float(unit(np.asarray(means[0])) @ unit(np.asarray(means[1])))
        return float(self.similarities([(a, b) for a in first for b in second], metric=metric).mean())

    def distance(self, w1: str, w2: str, *, metric: Metric | None = None) -> float:
        """How far `w2` is from `w1`: 1 - cosine, or how far the score is below that of a word with itself."""
        found = self.scorer(metric)
        return float(found.distances(self, np.asarray(self.similarity(w1, w2, metric=metric))))

    def distances(
        self,
        word_or_vector: str | NDArray[Any],
        other_words: Sequence[str] = (),
        *,
        metric: Metric | None = None,
    ) -> NDArray[Any]:
        """Distances to other words, or to all words that the metric can find; as `distance` has them."""
        found = self.scorer(metric)
        scores = found.scores_as_pairs(self, word_or_vector)
        if len(other_words):
            find = self.feature_index if found.name == "association" else self.get_index
            scores = scores[[find(word) for word in other_words]]
        return found.distances(self, scores)

    def most_similar(
        self,
        positive: Query | Sequence[Query] | None = None,
        negative: Query | Sequence[Query] | None = None,
        topn: int | None = 10,
        restrict_vocab: int | None = None,
        *,
        metric: Metric | None = None,
        forms: bool | None = None,
    ) -> list[tuple[str, float]] | NDArray[Any]:
        """Find the words nearest to `positive` and farthest from `negative`.

        Parameters
        ----------
        positive, negative
            Words or vectors, each alone or in a pair with a weight. With `negative`, the metrics similarity,
            related and alike multiply the scores of all words (see `Combined.joined`).
        topn
            How many words; None: the scores of all words that the metric can find, as an array. By the
            metrics similarity, related and alike, lists lower the scores of words after the 8,000 most
            frequent, about which less is known; `similarity` does not.
        restrict_vocab
            Look only at the first so many words, which are the most frequent ones.
        forms
            Whether all forms of a word (king, kings) are listed. If not, one stands for all: the most
            frequent, or the nearest if that is much nearer. Forms of the words asked about are left out.
            None: they are listed for analogies only (two positive items or more, and a negative one): the
            answer may be a form.
        """
        asked = [*query_parts(positive, 1.0), *query_parts(negative, -1.0)]
        parts = [(self.known_word(item) if isinstance(item, str) else item, weight) for item, weight in asked]
        if not parts:
            raise ParameterError("most_similar needs at least one word or vector. Got none.")
        found = self.scorer(metric)
        given = {item for item, _ in parts if isinstance(item, str)}
        if topn is None:
            return self._first(found.scores(self, parts), restrict_vocab)
        wanted = check_integer("most_similar", "topn", topn, 0)
        signs = [weight > 0 for _, weight in parts]
        is_analogy = sum(signs) > 1 and not all(signs)
        if isinstance(found, Combined) and not (is_analogy if forms is None else forms):
            first = None if restrict_vocab is None else self._first(found.scores(self, parts), restrict_vocab)
            folded = found.query(self, parts).nearest_folded(wanted, first)
            return [(self.index_to_key[row], score) for row, score in folded]
        count = wanted + len(given)
        if restrict_vocab is None:
            places, values = found.nearest(self, parts, count)
        else:
            scores = self._first(found.scores(self, parts), restrict_vocab)
            places = best(scores, count)
            values = scores[places]
        words = found.candidates(self)
        pairs = zip((words[i] for i in places.tolist()), values.tolist(), strict=True)
        return [(word, float(value)) for word, value in pairs if word not in given][:wanted]

    def _first(self, scores: NDArray[Any], restrict_vocab: int | None) -> NDArray[Any]:
        if restrict_vocab is None:
            return scores
        return scores[: check_integer("most_similar", "restrict_vocab", restrict_vocab, 1)]

    def similar_by_word(
        self,
        word: str,
        topn: int = 10,
        restrict_vocab: int | None = None,
        *,
        metric: Metric | None = None,
        forms: bool = False,
    ) -> list[tuple[str, float]]:
        """Find the words nearest to a word."""
        found = self.most_similar(
            [word], topn=topn, restrict_vocab=restrict_vocab, metric=metric, forms=forms
        )
        return cast("list[tuple[str, float]]", found)

    similar_by_key = similar_by_word

    def similar_by_vector(
        self,
        vector: NDArray[Any],
        topn: int = 10,
        restrict_vocab: int | None = None,
        *,
        metric: Metric | None = None,
    ) -> list[tuple[str, float]]:
        """Find the words nearest to a vector."""
        found = self.most_similar([vector], topn=topn, restrict_vocab=restrict_vocab, metric=metric)
        return cast("list[tuple[str, float]]", found)

    def most_similar_to_given(
        self, key1: str, keys_list: Sequence[str], *, metric: Metric | None = None
    ) -> str:
        """Find which of the words in `keys_list` is nearest to `key1`."""
        words = _word_list("keys_list", keys_list)
        return words[int(np.argmax(self.similarities([(key1, word) for word in words], metric=metric)))]

    def doesnt_match(self, words: Sequence[str], *, metric: Metric | None = None) -> str:
        """Find the word that fits the others least: the lowest mean similarity with them."""
        words = _word_list("words", words)
        if len(words) < 2:
            return words[0]
        others = [[(word, other) for other in words[:i] + words[i + 1 :]] for i, word in enumerate(words)]
        scores = self.similarities([pair for pairs in others for pair in pairs], metric=metric)
        return words[int(np.argmin(scores.reshape(len(words), -1).mean(axis=1)))]

    def closer_than(self, key1: str, key2: str, *, metric: Metric | None = None) -> list[str]:
        """List the words that are nearer to `key1` than `key2` is, in the order of the vocabulary."""
        found, key1 = self.scorer(metric), self.known_word(key1)
        scores, words = found.scores(self, [(key1, 1.0)]), found.candidates(self)
        find = self.feature_index if found.name == "association" else self.get_index
        nearer = np.flatnonzero(scores > scores[find(key2)])
        return [words[i] for i in nearer.tolist() if words[i] != key1]

    def rank(self, key1: str, key2: str, *, metric: Metric | None = None) -> int:
        """Rank of `key2` among the neighbours of `key1`; 1 is the nearest."""
        return len(self.closer_than(key1, key2, metric=metric)) + 1

    @classmethod
    def load(cls, path: str | Path, *, verify: bool = False) -> WordVectors:
        """Open a model folder or a packed model; vectors stay on disk and are read when used.

        Parameters
        ----------
        verify
            Also read all vectors and check their SHA-256.
        """
        from omnitm.store import load_model

        model = load_model(path, verify=verify)
        vectors: WordVectors = cls.of_parts(
            model.matrix,
            model.words,
            model.features if model.is_named else None,
            training=model.record,
            place=model.places,
            dimension_names=None if model.is_named else model.features,
        )
        vectors._folder = Path(path)
        return vectors

    @classmethod
    def of_parts(
        cls,
        matrix: NDArray[Any] | RowMatrix,
        index_to_key: Iterable[str],
        feature_names: Iterable[str] | None,
        *,
        training: AnyRecord | None,
        place: PlaceVectors | None,
        dimension_names: Iterable[str] | None = None,
    ) -> WordVectors:
        """Put topic and place together; where only place was trained, it is the matrix."""
        from omnitm.store.record import is_place_only

        if place is not None and is_place_only(training):
            matrix, feature_names, dimension_names = place.matrix, None, place.feature_names
        names = {"feature_names": feature_names, "dimension_names": dimension_names}
        return cls(matrix, index_to_key, **names, training=training, place=place)

    def reduce(self, n_components: int | None = None, *, themes: int | None = None) -> WordVectors:
        """Return vectors with few dimensions, for ordinary tools: compare them by cosine.

        Parameters
        ----------
        n_components
            So many dense dimensions: what stands out in each vector, topics and places together, by the
            strongest patterns that words share; for vectors without named coordinates a truncated singular
            value decomposition of the matrix itself.
        themes
            Instead: so many themes (`themes`), not negative, most of them 0, and with names.
        """
        from omnitm.store import ModelRecord

        if (n_components is None) == (themes is None):
            raise ParameterError("reduce needs either 'n_components' or 'themes'. Got both or neither.")
        wanted = {"n_components": n_components} if themes is None else {"themes": themes}
        record, names = self.training, None
        if themes is not None:
            found = self.themes(themes)
            rows, names = np.array(found.weights), found.names
        else:
            rows = self._dense_rows(cast("int", n_components))
        # Without the seed, which the record itself has: trainings that differ in it only are of one kind.
        of = {} if record is None else {key: fact for key, fact in asdict(record).items() if key != "seed"}
        facts = {**wanted, "of": of}
        training = record and ModelRecord("reduced", facts, record.seed, record.index_fingerprint)
        return WordVectors(rows, self.index_to_key, None, training=training, dimension_names=names)

    def _dense_rows(self, n_components: int) -> NDArray[np.float32]:
        check_integer("reduce", "n_components", n_components, 1, min(len(self), self.vector_size))
        if not self.has_profiles and self.place is None:
            return reduced_rows(self.matrix.astype(np.float32), n_components)
        return dense_rows_of_profiles(self, n_components)

    def sparsify(self, k: int) -> SparseWordVectors:
        """Return the `k` coordinates of each word that stand out most, as a scipy CSR matrix with names."""
        check_integer("sparsify", "k", k, 1, max(1, self.vector_size))
        if not self.has_profiles:
            raise ParameterError("Only integer vectors with named features can be sparsified; use reduce().")
        rows = strongest_coordinates(self.profiles.topic.by_word(), k)
        to_unit_length(rows)
        return SparseWordVectors(rows, self.index_to_key, self.feature_names)

    @cached_property
    def sentence_encoder(self) -> SentenceEncoder:
        """Makes vectors of sentences; `mteb.evaluate` takes it as a model."""
        from omnitm.vectors.document_vectors import SentenceEncoder

        return SentenceEncoder(self)

    def encode(self, sentences: str | Iterable[str]) -> NDArray[np.float32]:
        """Encode sentences as the mean of their words' vectors; see `SentenceEncoder`."""
        return self.sentence_encoder.encode(sentences)

    def to_gensim(self, *, reduce: int | None = None, full: bool = False, progress: bool = False) -> Any:
        """Return gensim's `KeyedVectors`, as float32; compare them by cosine.

        Parameters
        ----------
        reduce
            This many dense dimensions (see `reduce`); None: 300, or fewer for a model of few words, one for
            five words. Models of fewer than 100 words, and vectors that are dense already, are given as
            they are.
        full
            All coordinates, however many.
        progress
            Say on standard error what is done.
        """
        from omnitm.sharing.export import choose_form, keyed_vectors

        form = choose_form(self, reduce=reduce, full=full, can_be_sparse=False)
        if progress:
            print(f"making {form}", file=sys.stderr)
        matrix = np.asarray(form.numbers(self)[:], dtype=np.float32)
        if progress:
            print(f"handing {len(self):,} words to gensim", file=sys.stderr)
        return keyed_vectors(self.index_to_key, matrix)

    def save_word2vec_format(
        self,
        fname: str | Path,
        *,
        binary: bool = False,
        reduce: int | None = None,
        full: bool = False,
        spaces: str | None = None,
    ) -> None:
        """Write a file in the format of word2vec, which gensim and many others read.

        Parameters
        ----------
        binary
            Numbers as 4 bytes each, instead of text.
        reduce, full
            As in `to_gensim`.
        spaces
            What to write for white space in words, which the format cannot hold; None: refuse such words.
        """
        from omnitm.sharing.export import plan_export, write_export

        kind = "word2vec-binary" if binary else "word2vec"
        plan = plan_export(self, kind, reduce=reduce, full=full)
        write_export(self, fname, plan, spaces=spaces, force=True)

    def to_arrow(self, *, reduce: int | None = None, top: int | None = None, full: bool = False) -> Any:
        """Return an Arrow table: `word` and `vector`, or `coordinates` and `values` for `top`.

        What is given by default is described in `export`.
        """
        from omnitm.sharing.export import arrow_table, choose_form, table_content

        itemsize = self.matrix.dtype.itemsize
        form = choose_form(self, reduce=reduce, top=top, full=full, itemsize=itemsize)
        return arrow_table(table_content(self, form))

    def export(
        self,
        path: str | Path,
        format: str,  # noqa: A002 - the option is called so everywhere
        *,
        reduce: int | None = None,
        top: int | None = None,
        full: bool = False,
        spaces: str | None = None,
        force: bool = False,
    ) -> None:
        """Write the vectors as another tool reads them.

        By default the formats of word2vec get 300 dense dimensions (`reduce`), for tools that compare
        vectors by cosine. The others get all coordinates if they take at most 256 MB as float32, else the
        256 strongest named coordinates of each word (`sparsify`).

        Parameters
        ----------
        format
            "word2vec", "word2vec-binary", "numpy", "safetensors", "arrow" or "parquet".
        reduce, top, full
            At most one: so many dense dimensions, so many coordinates per word, or all of them.
        spaces
            For the formats of word2vec: what to write for white space in words.
        force
            Replace an existing file.
        """
        from omnitm.sharing.export import plan_export, write_export

        plan = plan_export(self, format, reduce=reduce, top=top, full=full)
        write_export(self, path, plan, spaces=spaces, force=force)

    def save(
        self,
        path: str | Path,
        *,
        force: bool = False,
        corpus: str | None = None,
        license: str | None = None,  # noqa: A002 - model hubs call it so
        language: str | None = None,
        scores: Mapping[str, float] | None = None,
    ) -> None:
        """Write a model folder, with a model card (README.md).

        Parameters
        ----------
        force
            Replace an existing model.
        corpus, license, language, scores
            What the card says, as in `save_pretrained`.
        """
        from omnitm.sharing.card import keep_card
        from omnitm.store.folder import write_vectors

        facts = self._card_facts(corpus=corpus, license=license, language=language, scores=scores)
        write_vectors(path, self, force=force)
        keep_card(self, Path(path), facts)

    def save_pretrained(
        self,
        save_directory: str | Path,
        *,
        name: str | None = None,
        corpus: str | None = None,
        license: str | None = None,  # noqa: A002 - model hubs call it so
        language: str | None = None,
        scores: Mapping[str, float] | None = None,
    ) -> None:
        """Write a folder for others: the packed model, and a model card with what is said here.

        What is not said here is taken from the card of the model's own folder.

        Parameters
        ----------
        name
            Heading of the card; None: the folder's name.
        corpus
            What the model was trained on, in a sentence.
        license, language
            Identifiers as model hubs use them: "mit", "en".
        scores
            Results of evaluations: name and number.
        """
        from omnitm.sharing.pretrained import save_pretrained

        facts = self._card_facts(corpus=corpus, license=license, language=language, scores=scores)
        save_pretrained(self, save_directory, facts, name=name)

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path,
        *,
        revision: str | None = None,
        cache_dir: str | Path | None = None,
        local_files_only: bool = False,
        token: str | None = None,
    ) -> WordVectors:
        """Open a model that `save_pretrained` or `push_to_hub` wrote; from a path nothing is fetched.

        Parameters
        ----------
        name
            A folder or file, or OWNER/NAME on the Hugging Face hub (needs `omnitm[hub]`).
        revision
            Branch, tag or commit on the hub.
        cache_dir
            Where files from the hub are kept; None: the hub's own cache.
        local_files_only
            Only look into the cache.
        """
        from omnitm.sharing.pretrained import find_pretrained

        path = find_pretrained(
            name, revision=revision, cache_dir=cache_dir, local_files_only=local_files_only, token=token
        )
        return cls.load(path)

    def push_to_hub(
        self,
        repo_id: str,
        *,
        private: bool = False,
        token: str | None = None,
        revision: str | None = None,
        commit_message: str = "Add an omnitm model",
        corpus: str | None = None,
        license: str | None = None,  # noqa: A002 - model hubs call it so
        language: str | None = None,
        scores: Mapping[str, float] | None = None,
    ) -> str:
        """Upload the packed model and its card to the Hugging Face hub; return the address of the commit.

        Parameters
        ----------
        repo_id
            OWNER/NAME; made if it is not there.
        private
            Whether a new repository is private.
        token
            Access token; None: that of `hf auth login`.
        revision, commit_message
            Branch to commit to, and what to say.
        corpus, license, language, scores
            As in `save_pretrained`.
        """
        from omnitm.sharing.pretrained import push_to_hub

        return push_to_hub(
            self,
            repo_id,
            self._card_facts(corpus=corpus, license=license, language=language, scores=scores),
            private=private,
            token=token,
            revision=revision,
            commit_message=commit_message,
        )

    def _card_facts(self, **given: Any) -> CardFacts:
        """Return what is said about the model: what is given, else what its card says."""
        from omnitm.sharing.card import kept_facts, updated_facts

        return updated_facts(kept_facts(self.path), **given)


def _word_list(name: str, words: Sequence[str]) -> list[str]:
    if isinstance(words, str) or not len(words):
        raise ParameterError(
            f"The {name!r} parameter must be a list with at least one word. Got {words!r} instead."
        )
    return list(words)
