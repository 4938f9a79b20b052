"""Which words occur in which documents, in both orders, as flat arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from omnitm._native import first_defect
from omnitm.corpus import storage
from omnitm.corpus.build import Built, Corpus, MemorySink, build_in_memory
from omnitm.corpus.documents import SourceTexts, as_text, check_documents, prepared
from omnitm.corpus.preparation import LOWER_CASE_ONLY, Preparation
from omnitm.corpus.reading import Reading, find_sources
from omnitm.corpus.running import RunningText
from omnitm.corpus.storage import StoredArray
from omnitm.corpus.vocabulary import IndexSummary, VocabularyRules
from omnitm.errors import CorpusError, FileError, UnknownWordError
from omnitm.files.manifest import Manifest
from omnitm.parameters import check_integer

if TYPE_CHECKING:
    from scipy.sparse import spmatrix


Unit = Literal["documents", "passages"]
_WORDS_SHOWN = 20


@dataclass(frozen=True, eq=False)
class DocumentIndex:
    """Documents as sets of words, and words as sets of documents.

    ```text
    words of document i:  document_words[document_offsets[i] : document_offsets[i + 1]]   ascending
    documents of word k:  word_documents[word_offsets[k] : word_offsets[k + 1]]           ascending
    ```

    Offsets are uint64, words and documents uint32; counts within a document are not kept.

    Examples
    --------
    >>> index = DocumentIndex.from_documents(["A cat sat.", "The cat and the dog"])
    >>> index.vocabulary, index.documents_with(index.word_id("cat")).tolist()
    (['cat', 'dog', 'sat'], [0, 1])
    """

    vocabulary: Sequence[str]
    document_offsets: StoredArray[np.uint64] = StoredArray()
    document_words: StoredArray[np.uint32] = StoredArray()
    word_offsets: StoredArray[np.uint64] = StoredArray()
    word_documents: StoredArray[np.uint32] = StoredArray()
    word_counts: NDArray[np.uint64] | None = None
    preparation: Preparation | None = None
    summary: IndexSummary | None = None
    path: Path | None = None
    seal: str | None = None
    """SHA-256 of the manifest of an index on disk: the same seal, the same bytes in every file."""
    running: RunningText | None = None
    """The text in its order; None if the index has not kept it."""
    unit: ClassVar[Unit] = "documents"
    """What words are counted in; `omnitm.corpus.passages` has the other unit."""

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.document_offsets) - 1

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""
        return len(self.vocabulary)

    @property
    def document_frequencies(self) -> NDArray[np.int64]:
        """In how many documents each word of the vocabulary occurs."""
        offsets = self.word_offsets.astype(np.int64)
        return offsets[1:] - offsets[:-1]

    @property
    def frequent_first(self) -> list[str]:
        """The vocabulary, the words in most documents first; equally frequent ones in its own order."""
        order = np.argsort(-self.document_frequencies, kind="stable")
        return [self.vocabulary[k] for k in order.tolist()]

    def word_id(self, word: str) -> int:
        """Position of `word` in the vocabulary; a word as people type it is prepared like text."""
        try:
            return self._positions[word]
        except KeyError:
            return self._positions[self.known_word(word)]

    def known_word(self, typed: str) -> str:
        """Return the word of the vocabulary that is meant by what a person typed."""
        if typed in self._positions:
            return typed
        preparation = self.preparation or LOWER_CASE_ONLY
        found = preparation.known_word(typed, self._positions)
        if found is None:
            raise UnknownWordError(typed, self.frequent_first, reason=preparation.why_no_word(typed))
        return found

    def documents_with(self, word_id: int) -> NDArray[np.uint32]:
        """Ascending numbers of the documents that contain the word."""
        return self.word_documents[int(self.word_offsets[word_id]) : int(self.word_offsets[word_id + 1])]

    def words_of(self, document: int) -> NDArray[np.uint32]:
        """Ascending positions of the words that the document contains."""
        return self.document_words[
            int(self.document_offsets[document]) : int(self.document_offsets[document + 1])
        ]

    def words_of_each(self, documents: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """How many words each of some documents contains, and these words, one document after the other."""
        numbers = documents.astype(np.int64)
        starts = self.document_offsets[numbers].astype(np.int64)
        lengths = self.document_offsets[numbers + 1].astype(np.int64) - starts
        before = np.cumsum(lengths) - lengths
        # Place j of the k-th document is starts[k] + j: one arange over all, shifted document by document.
        places = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
        return lengths, self.document_words[places]

    def documents_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """In which documents places of the running text lie."""
        if self.running is None:
            raise CorpusError(
                f"{self.path or 'The index'}: has no running text, so there are no places in it."
            )
        return np.searchsorted(self.running.document_ends, places) - 1

    def whole_documents(self, documents: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the documents as they are; those of passages are what these are cut from."""
        return documents

    @classmethod
    def from_csr(cls, document_words: spmatrix, vocabulary: Sequence[str]) -> DocumentIndex:
        """Index a sparse matrix documents x words; any value but zero means that the word occurs."""
        import scipy.sparse as sp

        presence = sp.csr_matrix(document_words, copy=True)
        if presence.shape[1] != len(vocabulary):
            raise CorpusError(
                f"The matrix has {presence.shape[1]} columns but the vocabulary has {len(vocabulary)} words; "
                "give one word per column."
            )
        # In this order: duplicates may add up to zero, and a stored zero is no occurrence. The first also
        # sorts the words of each document.
        presence.sum_duplicates()
        presence.eliminate_zeros()
        by_word = presence.tocsc()
        by_word.sort_indices()
        return cls(
            vocabulary=list(vocabulary),
            document_offsets=presence.indptr.astype(np.uint64),
            document_words=presence.indices.astype(np.uint32),
            word_offsets=by_word.indptr.astype(np.uint64),
            word_documents=by_word.indices.astype(np.uint32),
        )

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[str | Sequence[str]],
        *,
        preparation: Preparation | None = None,
        vocabulary: VocabularyRules | None = None,
        order: bool = True,
    ) -> DocumentIndex:
        """Index texts or token lists in memory; a large corpus belongs on disk (`build_index`)."""
        check_documents(documents)
        preparation = preparation or Preparation()
        corpus = Corpus.of_documents(documents, preparation)
        built = build_in_memory(corpus, preparation, vocabulary or VocabularyRules(), order=order)
        return cls._from_memory(*built, preparation)

    @classmethod
    def from_files(
        cls,
        sources: str | os.PathLike[str],
        *,
        preparation: Preparation | None = None,
        vocabulary: VocabularyRules | None = None,
    ) -> DocumentIndex:
        """Index a file, a folder or a pattern in memory; see `build_index`."""
        preparation = preparation or Preparation()
        corpus = Corpus.of_sources(find_sources(sources), Reading(), preparation)
        built = build_in_memory(corpus, preparation, vocabulary or VocabularyRules())
        return cls._from_memory(*built, preparation)

    @classmethod
    def _from_memory(cls, built: Built, sink: MemorySink, preparation: Preparation) -> DocumentIndex:
        running = None
        if built.other_words is not None:
            arrays = {name: sink.array(name) for name in ("tokens", "word_starts", "places")}
            running = RunningText(**arrays, vocabulary=built.words, other_words=built.other_words)
        return cls(
            vocabulary=built.words,
            document_offsets=sink.array("document_offsets"),
            document_words=sink.array("document_words"),
            word_offsets=sink.array("word_offsets"),
            word_documents=sink.array("word_documents"),
            word_counts=built.counts,
            preparation=preparation,
            summary=built.summary,
            running=running,
        )

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, tokenizer: Callable[[str], Iterable[str]] | None = None
    ) -> DocumentIndex:
        """Open an index folder: arrays are memory-mapped, so this takes milliseconds at any size.

        All sizes and the content of small files are checked now, the two large arrays when they are first
        used; `verify` checks everything. An index made with a tokeniser of your own needs it again
        (`tokenizer`) before new text can be prepared.
        """
        path = Path(path)
        manifest = storage.open_folder(path)
        preparation = storage.read_json(
            manifest, "options.json", lambda options: Preparation.from_json(options["preparation"], tokenizer)
        )
        names = ("document_offsets", "document_words", "word_offsets", "word_documents")
        words = storage.read_words(manifest)
        index = cls(
            vocabulary=words,
            **{name: partial(storage.array, manifest, name) for name in names},
            word_counts=storage.array(manifest, "word_counts"),
            preparation=preparation,
            summary=storage.read_json(manifest, "summary.json", IndexSummary.from_json),
            path=path,
            seal=manifest.sha256,
            running=_stored_running(manifest, words) if storage.has_order(manifest) else None,
        )
        # Offsets are used as places in the arrays of pairs, so they must end where those end.
        index._check_ends(manifest.facts["n_pairs"])
        return index

    def _repr_html_(self) -> str:
        """Show a notebook the size and some words, not all arrays."""
        size = f"{self.n_documents:,} documents, {self.n_words:,} words"
        where = "in memory" if self.path is None else f"in {self.path}"
        more = " ..." if self.n_words > _WORDS_SHOWN else ""
        words = ", ".join(self.vocabulary[:_WORDS_SHOWN]) + more
        return f"<p><b>DocumentIndex</b>: {size}, {escape(where)}</p><p>{escape(words)}</p>"

    def _check_ends(self, pairs: int) -> None:
        for name in ("document_offsets", "word_offsets"):
            offsets = getattr(self, name)
            if offsets[0] != 0 or offsets[-1] != pairs:
                raise FileError(
                    f"{self.path}/{name}.bin", "damaged: it does not span all pairs; build the index again"
                )

    def verify(self) -> None:
        """Check every byte of an index on disk, and that both orders are in range and ascending."""
        if self.path is not None:
            manifest = storage.open_folder(self.path)
            for name in manifest.files:
                manifest.verify(name)
        where = self.path or "index in memory"
        for rows, members, limit in (
            ("document", "word", self.n_words),
            ("word", "document", self.n_documents),
        ):
            name = f"{rows}_{members}s"
            row = first_defect(getattr(self, f"{rows}_offsets"), getattr(self, name), limit)
            if row >= 0:
                raise FileError(where, f"damaged: {name} of {rows} {row} are out of range or out of order")

    @property
    def preparation_or_default(self) -> Preparation:
        """How text becomes words of this index; the default for an index of a matrix."""
        return self.preparation or Preparation()

    def document_text(self, document: int) -> str | None:
        """Text of a document, if the file that it came from is still there and unchanged."""
        return self.document_texts([document])[document]

    def document_texts(self, documents: Iterable[int]) -> dict[int, str | None]:
        """Texts of several documents, each file read once; None where the text is gone or has changed."""
        wanted = [
            check_integer("document_texts", "documents", int(n), 0, self.n_documents - 1) for n in documents
        ]
        found = {} if self._source_texts is None else self._source_texts.find(wanted)
        return {
            n: as_text(found[n]) if n in found and self._is_document(n, found[n]) else None for n in wanted
        }

    def _is_document(self, number: int, document: str | Sequence[str]) -> bool:
        """Whether a text gives the very words that the index has for the document."""
        if self.preparation_or_default.is_incomplete:
            return True
        words = prepared(document, self.preparation_or_default.tokens)
        ids = {self._positions[word] for word in words if word in self._positions}
        return np.array_equal(sorted(ids), self.words_of(number))

    def token_stream(self, also: Iterable[str] = ()) -> Iterator[list[str]]:
        """Yield the words of every document in their order, with repeats: those of the vocabulary and `also`.

        Reads the text again; an error names the first file that is gone or has changed.
        """
        if self._source_texts is None:
            raise CorpusError(
                "This index does not know its text; build it from files: omnitm index TEXT -o INDEX."
            )
        tokens, known = self.preparation_or_default.tokens, {*self._positions, *also}
        for document in self._source_texts.all_documents():
            yield [word for word in prepared(document, tokens) if word in known]

    @cached_property
    def _source_texts(self) -> SourceTexts | None:
        texts = None if self.path is None else SourceTexts(self.path)
        return texts if texts is not None and texts.n_sources else None

    def __post_init__(self) -> None:
        if len(set(self.vocabulary)) != len(self.vocabulary):
            raise CorpusError("The vocabulary names a word twice; every word must stand in it once.")

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {word: k for k, word in enumerate(self.vocabulary)}

    def __reduce__(self) -> Any:
        if self.path is None:
            return super().__reduce__()
        return DocumentIndex.open, (self.path.absolute(),)


def _stored_running(manifest: Manifest, vocabulary: Sequence[str]) -> RunningText:
    other_words = storage.read_words(manifest, storage.OTHER_WORDS)
    n_numbers = len(vocabulary) + len(other_words) + 1
    starts = storage.array(manifest, "word_starts")
    if len(starts) != n_numbers + 1 or starts[0] != 0 or starts[-1] != manifest.files["places.bin"].size // 4:
        problem = "damaged: it does not span all places; build the index again"
        raise FileError(manifest.folder / "word_starts.bin", problem)
    arrays = {name: partial(storage.array, manifest, name) for name in ("tokens", "places")}
    return RunningText(**arrays, word_starts=starts, vocabulary=vocabulary, other_words=other_words)
