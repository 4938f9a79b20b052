from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from omnitm.corpus import DocumentIndex
from omnitm.engines import ThreadsEngine
from omnitm.errors import (
    CorpusError,
    FileError,
    OmniTMWarning,
    ParameterError,
    TrainingStopped,
    UnknownWordError,
)
from omnitm.machine import AutoencoderSettings
from omnitm.training.estimator import OmniTMAE
from omnitm.training.progress import Progress, ProgressBar, reporting
from omnitm.training.vocabulary import add_words, extend_vectors, train_model, train_vectors
from omnitm.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from omnitm.engines import Engine

SETTINGS = AutoencoderSettings(n_clauses=6, n_examples=40, accumulation=2)


def test_words_of_one_topic_find_each_other(board: DocumentIndex) -> None:
    """The learning guard: if this fails, the machine has stopped learning."""
    settings = AutoencoderSettings(n_clauses=16, n_examples=300, accumulation=1)
    vectors = train_vectors(board, settings=settings)
    for word in vectors.index_to_key:
        for metric in ("association", "cosine"):
            neighbours = vectors.similar_by_word(word, topn=5, metric=metric)
            assert {name[0] for name, _ in neighbours} == {word[0]}, (word, metric, neighbours)


def test_any_threads_order_and_subset_give_the_same_bytes(board: DocumentIndex) -> None:
    everything = train_vectors(board, settings=SETTINGS, engine=ThreadsEngine(1))
    shuffled = list(reversed(everything.index_to_key))
    again = train_vectors(board, shuffled, settings=SETTINGS, engine=ThreadsEngine(3))
    few = train_vectors(board, ["b3", "a1"], settings=SETTINGS)
    assert np.array_equal(again.matrix[::-1], everything.matrix)
    assert np.array_equal(few.matrix, everything[["b3", "a1"]])
    other = train_vectors(board, ["b3", "a1"], settings=SETTINGS, seed=1)
    assert not np.array_equal(few.matrix, other.matrix)


def test_folder_and_memory_agree(board: DocumentIndex, tmp_path: Path) -> None:
    stored = train_model(board, tmp_path / "m", ["a0", "b0"], settings=SETTINGS, seed=3)
    memory = train_vectors(board, ["a0", "b0"], settings=SETTINGS, seed=3)
    assert np.array_equal(stored.matrix, memory.matrix)
    assert stored.training == memory.training
    assert not stored.matrix.flags.writeable
    memory.save(tmp_path / "saved")
    names = [
        "README.md",
        "checksums.bin",
        "settings.json",
        "features.txt",
        "words.txt",
        "vectors.i16",
        "manifest.json",
    ]
    for name in names:
        assert (tmp_path / "saved" / name).read_bytes() == (tmp_path / "m" / name).read_bytes()
    assert sorted(p.name for p in (tmp_path / "m").iterdir()) == sorted(names)


def test_added_words_leave_the_old_rows_alone(board: DocumentIndex, tmp_path: Path) -> None:
    before = train_model(board, tmp_path / "m", ["a0", "b0"], settings=SETTINGS)
    old = before.matrix.tobytes()
    after = add_words(board, tmp_path / "m", ["b5", "a3"])
    whole = train_vectors(board, ["a0", "b0", "b5", "a3"], settings=SETTINGS)
    assert after.index_to_key == whole.index_to_key
    assert np.array_equal(after.matrix, whole.matrix)
    assert after.matrix[:2].tobytes() == old
    with pytest.raises(ParameterError, match="The model has 'a3' already"):
        add_words(board, tmp_path / "m", ["a3", "a4"])


def test_ctrl_c_keeps_finished_rows_and_resume_trains_the_rest(
    board: DocumentIndex, tmp_path: Path, stop_after: Callable[[int], Engine]
) -> None:
    whole = train_vectors(board, settings=SETTINGS)
    with pytest.raises(
        TrainingStopped,
        match=r"5 of 12 words .* are trained and kept; the rest with: omnitm train CORPUS -o .* --resume",
    ):
        train_model(board, tmp_path / "m", settings=SETTINGS, engine=stop_after(5))
    with pytest.raises(
        FileError, match="not finished: 5 of 12 words are trained; continue with: omnitm train"
    ):
        WordVectors.load(tmp_path / "m")
    seen: list[Progress] = []
    vectors = train_model(board, tmp_path / "m", resume=True, engine=ThreadsEngine(2), progress=seen.append)
    assert np.array_equal(vectors.matrix, whole.matrix)
    assert seen[-1].done == seen[-1].total == 12
    assert seen[-1].words_per_second > 0
    assert seen[-1].seconds_left == 0


def test_resume_of_an_addition(
    board: DocumentIndex, tmp_path: Path, stop_after: Callable[[int], Engine]
) -> None:
    train_model(board, tmp_path / "m", ["a0", "b0"], settings=SETTINGS)
    with pytest.raises(TrainingStopped, match="3 of 5 words"):
        add_words(board, tmp_path / "m", ["a1", "a2", "a3"], engine=stop_after(1))
    meanwhile = WordVectors.load(tmp_path / "m", verify=True)
    assert meanwhile.index_to_key == ["a0", "b0"]
    with pytest.raises(FileError, match="words are already being added; finish that first: omnitm train"):
        add_words(board, tmp_path / "m", ["b1"])
    vectors = train_model(board, tmp_path / "m", resume=True)
    whole = train_vectors(board, ["a0", "b0", "a1", "a2", "a3"], settings=SETTINGS)
    assert np.array_equal(vectors.matrix, whole.matrix)
    assert vectors.index_to_key == whole.index_to_key


def test_resume_starts_what_was_never_started_and_accepts_what_is_finished(
    board: DocumentIndex, tmp_path: Path
) -> None:
    first = train_model(board, tmp_path / "m", ["a0"], settings=SETTINGS, resume=True)
    again = train_model(board, tmp_path / "m", ["a0"], settings=SETTINGS, resume=True)
    assert np.array_equal(first.matrix, again.matrix)


def test_resume_with_something_else_is_refused(
    board: DocumentIndex, tmp_path: Path, stop_after: Callable[[int], Engine]
) -> None:
    with pytest.raises(TrainingStopped):
        train_model(board, tmp_path / "m", ["a0", "b0"], settings=SETTINGS, engine=stop_after(1))
    other = AutoencoderSettings(n_clauses=7, n_examples=40, accumulation=2)
    with pytest.raises(FileError, match="was started with n_clauses=6, not 7; give the same or leave it out"):
        train_model(board, tmp_path / "m", settings=other, resume=True)
    with pytest.raises(FileError, match="was started with seed=0, not 5"):
        train_model(board, tmp_path / "m", seed=5, resume=True)
    with pytest.raises(FileError, match="started with 2 words that are not the 1 given now"):
        train_model(board, tmp_path / "m", ["a0"], resume=True)
    corpus = DocumentIndex.from_csr(sp.csr_matrix(np.eye(12)), board.vocabulary)
    with pytest.raises(CorpusError, match="was trained on another corpus"):
        train_model(corpus, tmp_path / "m", resume=True)


def test_an_existing_model_is_never_replaced_silently(board: DocumentIndex, tmp_path: Path) -> None:
    train_model(board, tmp_path / "m", ["a0"], settings=SETTINGS)
    with pytest.raises(FileError, match="already holds a model; --force replaces it"):
        train_model(board, tmp_path / "m", ["a1"], settings=SETTINGS)
    assert WordVectors.load(tmp_path / "m").index_to_key == ["a0"]
    assert train_model(board, tmp_path / "m", ["a1"], settings=SETTINGS, force=True).index_to_key == ["a1"]


@pytest.mark.parametrize("force", [False, True])
def test_folders_and_files_of_others_are_left_alone(
    board: DocumentIndex, tmp_path: Path, force: bool
) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("mine")
    with pytest.raises(
        FileError, match=r"is not empty \(it has chapter.txt\); a model needs a folder of its own"
    ):
        train_model(board, tmp_path / "thesis", ["a0"], settings=SETTINGS, force=force)
    with pytest.raises(FileError, match="is a file of text or data, not a model, so it is not replaced"):
        train_model(board, tmp_path / "thesis" / "chapter.txt", ["a0"], settings=SETTINGS, force=force)
    assert [p.name for p in (tmp_path / "thesis").iterdir()] == ["chapter.txt"]


def test_wrong_targets(board: DocumentIndex) -> None:
    with pytest.raises(UnknownWordError, match="'a9' is not in the vocabulary"):
        train_vectors(board, ["a0", "a9"])
    with pytest.raises(UnknownWordError, match="3 is not in the vocabulary"):
        train_vectors(board, [3])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match=r"every word once. Got 'a0' 2 times"):
        train_vectors(board, ["a0", "a1", "a0"])
    with pytest.raises(ParameterError, match="at least one word"):
        train_vectors(board, [])
    with pytest.raises(ParameterError, match=r"must be a list of words. Got the text 'a0'"):
        train_vectors(board, "a0")


def test_words_in_no_or_every_document_are_reported_once() -> None:
    matrix = np.ones((4, 9), dtype=int)
    matrix[:, 0] = 0
    matrix[0, 8] = 0
    index = DocumentIndex.from_csr(sp.csr_matrix(matrix), list("abcdefghi"))
    with pytest.warns(OmniTMWarning) as caught:
        train_vectors(index, settings=SETTINGS)
    messages = [str(warning.message) for warning in caught]
    assert messages[0] == "'a' is in no document: there is nothing to tell apart, so the vectors are noise."
    assert messages[1].startswith("7 words ('b', 'c', 'd', 'e', 'f' and 2 more) are in every document:")
    assert len(messages) == 2


def test_a_word_with_a_line_break_cannot_be_stored(tmp_path: Path) -> None:
    index = DocumentIndex.from_csr(sp.csr_matrix(np.eye(3)), ["a", "b\nc", "d"])
    with pytest.raises(CorpusError, match=r"'b\\nc' cannot be stored"):
        train_model(index, tmp_path / "m", ["a"], settings=SETTINGS)
    assert not (tmp_path / "m").exists()


def test_an_error_in_a_thread_reaches_the_caller_and_ends_the_others(board: DocumentIndex) -> None:
    before = threading.active_count()

    def fail(_: Progress) -> None:
        raise RuntimeError("callback")

    with pytest.raises(RuntimeError, match="callback"):
        train_vectors(board, settings=SETTINGS, progress=fail)
    assert threading.active_count() == before


def test_the_bar_goes_to_standard_error(board: DocumentIndex, capfd: pytest.CaptureFixture[str]) -> None:
    train_vectors(board, ["a0", "a1"], settings=SETTINGS, progress=True)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "training words" in captured.err
    assert "2/2" in captured.err


def test_the_bar_says_what_is_counted(capfd: pytest.CaptureFixture[str]) -> None:
    with reporting(True, 0, 2, "reading documents") as report:
        report(2)
    shown = capfd.readouterr().err
    assert "reading documents" in shown
    assert "documents/s" in shown


def test_vectors_of_unknown_origin_cannot_be_extended(board: DocumentIndex) -> None:
    vectors = WordVectors(np.zeros((1, 12), dtype=np.int16), ["a0"], board.vocabulary)
    with pytest.raises(ParameterError, match="unknown origin cannot be extended"):
        extend_vectors(board, vectors, ["a1"])


def test_the_paper_prepares_text_its_own_way(tmp_path: Path) -> None:
    texts = ["germany's 19th", "army 1990s"] * 3
    usual = OmniTMAE(n_examples=5, n_jobs=1).fit(texts)
    assert (set(usual.vocabulary_), usual.preparation) == ({"army", "germany"}, None)
    words = {"germanys", "th", "army"}
    assert set(OmniTMAE.paper(n_examples=5, n_jobs=1).fit(texts).vocabulary_) == words
    (tmp_path / "text.txt").write_text("\n".join(texts))
    for folder in (None, tmp_path / "model"):
        fitted = OmniTMAE.paper(n_examples=5, n_jobs=1).fit(tmp_path / "text.txt", model_dir=folder)
        assert set(fitted.vocabulary_) == words


def test_more_words_never_change_the_metric_silently(
    board: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omnitm.vectors.word_vectors.FEWEST_WORDS", 3)
    few = train_model(board, tmp_path / "m", ["a0", "b0"], settings=SETTINGS)
    said = "with 3 words, vectors are compared by 'similarity'.* no longer by 'association'"
    with pytest.warns(OmniTMWarning, match=said):
        extend_vectors(board, few, ["a1"])
    with pytest.warns(OmniTMWarning, match=said):
        add_words(board, tmp_path / "m", ["a1"])


def test_a_notebook_shows_progress_below_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Cell:
        def update(self, content: dict[str, str], *, raw: bool) -> None:
            shown.append(content["text/html"] if raw else "")

    def display(content: dict[str, str], *, raw: bool, display_id: bool) -> Cell:
        shown.append(content["text/html"] if raw and display_id else "")
        return Cell()

    shell: Any = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr("omnitm.training.progress._SECONDS_BETWEEN_CELLS", 1e6)
    with ProgressBar() as bar:
        bar(Progress(1, 3, 2.0, 1.0))
        bar(Progress(2, 3, 2.0, 0.5, failures=1))  # too soon after the first
        bar(Progress(3, 3, 2.0, 0.0, failures=1, set_aside=1))
    assert len(shown) == 2
    assert shown[0] == (
        '<progress value="1" max="3"></progress> training words: 1 of 3, 2.0 words/s, 1 s left'
    )
    assert shown[1].endswith("3 of 3, 2.0 words/s, 0 s left, 1 failures, 1 words set aside")
