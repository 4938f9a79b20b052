"""The running text: words in their order, and the places of each word."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.cli import main
from omnitm.corpus import (
    DocumentIndex,
    Preparation,
    Reading,
    Resources,
    VocabularyRules,
    append_to_index,
    build_index,
    counting,
    index_documents,
    storage,
    vocabulary,
)
from omnitm.corpus import append as appending
from omnitm.corpus import build as building
from omnitm.corpus.assembling import COMMA, DOCUMENT_END, GAP
from omnitm.corpus.build import LEAST_MEMORY
from omnitm.corpus.preparation import COMMA_TOKEN, GAP_TOKEN
from omnitm.corpus.running import JOINED_COLUMN, NO_FEATURE, feature_numbers, is_mark
from omnitm.errors import CorpusError, FileError, ParameterError
from omnitm.files.checked import FileDigest
from omnitm.files.manifest import write_manifest

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "<other>"
FILES = ("tokens.bin", "word_starts.bin", "places.bin", "other_words.txt")


def lines(n: int = 300, n_words: int = 400, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [*(f"w{chr(97 + k // 26)}{chr(97 + k % 26)}" for k in range(n_words)), "the", "of", "and", "The,"]
    weights = 1 / np.arange(1, len(words) + 1)
    weights[-4:] = 0.5
    return [
        " ".join(rng.choice(words, size=int(rng.integers(0, 15)), p=weights / weights.sum()))
        for _ in range(n)
    ]


def spelled(index: DocumentIndex) -> list[list[str]]:
    assert index.running is not None
    names = [*index.running.names, OTHER]
    return [[names[number] for number in document] for document in index.running.documents()]


def expected(index: DocumentIndex, texts: list[str]) -> list[list[str]]:
    assert index.running is not None
    known, tokens = set(index.running.names), index.preparation_or_default.tokens
    return [[word if word in known else OTHER for word in tokens(text)] for text in texts]


@pytest.mark.parametrize("most_others", [0, 5, 100_000])
def test_the_order_is_that_of_the_text(monkeypatch: pytest.MonkeyPatch, most_others: int) -> None:
    monkeypatch.setattr(building, "MOST_OTHER_WORDS", most_others)
    texts = lines()
    index = DocumentIndex.from_documents(texts, vocabulary=VocabularyRules(max_words=50))
    assert index.running is not None
    assert spelled(index) == expected(index, texts)
    assert any(OTHER in document for document in spelled(index)) == (most_others < 100_000)
    assert index.running.names[:50] == list(index.vocabulary)
    assert len(index.running.other_words) <= most_others
    if most_others:
        assert {"the", "of", "and"} <= set(index.running.other_words[:5])


def test_places_are_where_the_tokens_are() -> None:
    index = DocumentIndex.from_documents(lines(), vocabulary=VocabularyRules(max_words=50))
    running = index.running
    assert running is not None
    assert running.tokens[0] == running.tokens[-1] == DOCUMENT_END
    assert len(running.document_ends) == index.n_documents + 1
    for number in range(len(running.names) + 1):
        places = running.places_of(number)
        np.testing.assert_array_equal(places, np.flatnonzero(running.tokens == number))
        assert running.counts[number] == len(places)
    n_marks = np.count_nonzero(is_mark(running.tokens))
    assert n_marks > 0
    assert running.n_running_words == len(running.tokens) - n_marks - index.n_documents - 1
    word = index.word_id("waa")
    documents = sorted({running.document_of(int(place)) for place in running.places_of(word)})
    assert documents == index.documents_with(word).tolist()


def test_token_lists_have_an_order_and_matrices_have_none() -> None:
    index = DocumentIndex.from_documents([["b", "the", "a"], [], ["a"]])
    assert spelled(index) == [["b", "the", "a"], [], ["a"]]
    presence = DocumentIndex.from_csr(np.eye(2), ["a", "b"])
    assert presence.running is None
    assert DocumentIndex.from_documents(["a cat"], order=False).running is None


@pytest.mark.parametrize("unit", ["line", "paragraph", "file"])
def test_threads_and_memory_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    monkeypatch.setattr("omnitm.corpus.reading.BLOCK_SIZE", 512)
    monkeypatch.setattr("omnitm.corpus.assembling.PAIRS_PER_RUN", 400)
    for part in range(3):
        (tmp_path / f"{part}.txt").write_text("\n\n".join("\n".join(lines(40, seed=part)).split("wac")))
    rules, reading = VocabularyRules(max_words=60), Reading(document=unit)
    made = {}
    for name, resources in {
        "one": Resources(),
        "three": Resources(n_threads=3),
        "small": Resources(memory=LEAST_MEMORY, n_threads=2),
    }.items():
        if name == "small":
            monkeypatch.setattr(Resources, "table_limit", 1)
        path = build_index(
            tmp_path.glob("*.txt"), tmp_path / name, vocabulary=rules, reading=reading, resources=resources
        )
        made[name] = {file: (path / file).read_bytes() for file in FILES}
        DocumentIndex.open(path).verify()
    assert made["one"] == made["three"] == made["small"]
    index = DocumentIndex.open(tmp_path / "one")
    assert spelled(index) == list(map(list, map(_known(index), index_texts(index))))


def index_texts(index: DocumentIndex) -> list[str]:
    return [str(index.document_text(number) or "") for number in range(index.n_documents)]


def _known(index: DocumentIndex):  # type: ignore[no-untyped-def]  # noqa: ANN202  # a mapping for the test above
    return lambda text: expected(index, [text])[0]


def test_an_index_on_disk_is_the_one_in_memory(tmp_path: Path) -> None:
    texts = lines()
    stored = DocumentIndex.open(index_documents(texts, tmp_path / "index"))
    index = DocumentIndex.from_documents(texts)
    assert stored.running is not None
    assert index.running is not None
    for name in ("tokens", "word_starts", "places"):
        np.testing.assert_array_equal(getattr(stored.running, name), getattr(index.running, name))
    assert stored.running.names == index.running.names


def test_nine_bytes_per_running_word(tmp_path: Path) -> None:
    path = index_documents([" ".join(["the cat of a dog"] * 3)] * 5000, tmp_path / "index")
    size = sum((path / name).stat().st_size for name in FILES)
    assert size <= 9 * 5000 * 15


def test_appended_documents_continue_the_text(tmp_path: Path) -> None:
    first, second = lines(50), [*lines(40, seed=1), "unheard of", ""]
    (tmp_path / "first.txt").write_text("\n".join(first) + "\n")
    (tmp_path / "second.txt").write_text("\n".join(second) + "\n")
    path = build_index(tmp_path / "first.txt", tmp_path / "index", vocabulary=VocabularyRules(max_words=30))
    names = DocumentIndex.open(path).running
    append_to_index(path, tmp_path / "second.txt")
    index = DocumentIndex.open(path)
    index.verify()
    assert index.running is not None
    assert names is not None
    assert index.running.names == names.names
    assert spelled(index) == expected(index, first + second)
    for number in range(len(index.running.names) + 1):
        np.testing.assert_array_equal(
            index.running.places_of(number), np.flatnonzero(index.running.tokens == number)
        )


def test_an_index_without_order_stays_so(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a cat\nthe dog\n")
    text = str(tmp_path / "text.txt")
    assert main(["index", text, "-o", str(tmp_path / "index"), "--no-order", "--quiet"]) == 0
    assert not any((tmp_path / "index" / name).exists() for name in FILES)
    append_to_index(tmp_path / "index", tmp_path / "text.txt")
    index = DocumentIndex.open(tmp_path / "index")
    assert (index.running, index.n_documents) == (None, 4)
    with pytest.raises(ParameterError, match=r"leave out --no-order"):
        main(["index", text, "-o", str(tmp_path / "index"), "--append", "--no-order", "--debug"])


def test_texts_that_are_too_long_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.txt").write_text("cat dog\n")
    path = build_index(tmp_path / "text.txt", tmp_path / "index")
    monkeypatch.setattr(building, "MOST_TOKENS", 4)
    monkeypatch.setattr(appending, "MOST_TOKENS", 6)
    with pytest.raises(CorpusError, match=r"at most 6 words; begin another index"):
        append_to_index(path, tmp_path / "text.txt")
    with pytest.raises(CorpusError, match=r"at most 4 words; index it with --no-order"):
        DocumentIndex.from_documents(["a cat", "the dog"])


def test_damage_is_noticed(tmp_path: Path) -> None:
    path = index_documents(["a cat", "the dog"], tmp_path / "index")
    for name in ("tokens", "places"):
        content = (path / f"{name}.bin").read_bytes()
        (path / f"{name}.bin").write_bytes(bytes([content[0] ^ 1]) + content[1:])
        running = DocumentIndex.open(path).running
        assert running is not None
        with pytest.raises(FileError, match=rf"{name}.bin: .*damaged"):
            getattr(running, name)
        (path / f"{name}.bin").write_bytes(content)
    files = storage.open_folder(path).files
    digests = {name: FileDigest((path / name).read_bytes()) for name in files}
    (path / "other_words.txt").write_text("a\nthe\nmore\n")
    digests["other_words.txt"] = FileDigest((path / "other_words.txt").read_bytes())
    figures = {"n_documents": 2, "n_words": 2, "n_pairs": 2, "n_tokens": 7}
    write_manifest(path, storage.KIND, digests, figures)
    with pytest.raises(FileError, match=r"word_starts.bin: damaged: it does not span all places"):
        DocumentIndex.open(path)


def test_features_are_the_most_frequent_words() -> None:
    index = DocumentIndex.from_documents(["the cat", "the dog and the cat"], preparation=Preparation())
    running = index.running
    assert running is not None
    assert [running.names[number] for number in running.feature_words(2)] == ["the", "cat"]
    assert running.feature_names(1) == ["the * _", "the _", "_ the", "_ * the"]
    assert len(running.feature_words(100)) == 4
    numbers = feature_numbers(running.word_starts, 2)
    assert numbers[running.names.index("the")] == 0
    assert numbers[-1] == NO_FEATURE
    assert counting.MOST_TOKENS < DOCUMENT_END
    assert vocabulary.MOST_OTHER_WORDS > 0


def joining_text(seed: int, n_pairs: int = 400) -> DocumentIndex:
    """*and* joins both ways, *of* one way; *then* stands between words that are never said again."""
    random = np.random.default_rng(seed)
    fruit, towns = ([kind + letter for letter in "abcdefghijkl"] for kind in ("fruit", "town"))
    texts = []
    for k in range(n_pairs):
        one, other = random.choice(fruit, 2, replace=False)
        texts += [f"{one} and {other}", f"the {random.choice(fruit)} of {random.choice(towns)}"]
        only = "".join("abcdefghij"[int(digit)] for digit in f"{k:03}")  # digits are left out
        texts += [f"once{only} then twice{only}", "the the the and and of of then then"]
    return DocumentIndex.from_documents(texts)


def test_words_that_join_others_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnitm.corpus.running._LIKELY_JOINERS", 4)
    running = joining_text(0).running
    assert running is not None
    assert [running.names[number] for number in running.joiners] == ["and"]
    few = joining_text(0, n_pairs=20).running
    assert few is not None
    assert few.joiners == ()  # too few pairs to tell
    monkeypatch.setattr("omnitm.corpus.running._PLACES_LOOKED_AT", 500)
    again = joining_text(1).running
    assert again is not None
    assert [again.names[number] for number in again.joiners] == ["and"]


def test_at_most_four_words_join_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnitm.corpus.running._LIKELY_JOINERS", 6)
    random = np.random.default_rng(3)
    things = ["thing" + letter for letter in "abcdefgh"]
    joiners = ["and", "or", "nor", "plus", "versus", "as"]
    pairs = (random.choice(things, 2, replace=False) for _ in range(1_500))
    texts = [f"{one} {joiners[k % 6]} {other}" for k, (one, other) in enumerate(pairs)]
    running = DocumentIndex.from_documents([*texts, *[" ".join(joiners)] * 300]).running
    assert running is not None
    assert len(running.joiners) == 4
    assert list(running.joiners) == sorted(running.joiners)


def test_what_is_joined_with_a_word() -> None:
    running = DocumentIndex.from_documents(["red and blue or green", "red of blue", "and red"]).running
    assert running is not None
    joiners = [running.number(name) for name in ("and", "or")]

    def joined_with(word: str) -> list[list[str]]:
        places = running.places_of(running.number(word)).astype(np.int64)
        holds = {
            name: running.holds(places, JOINED_COLUMN, running.number(name), joiners)
            for name in running.names
        }
        return [[name for name in holds if holds[name][k]] for k in range(len(places))]

    assert [sorted(words) for words in joined_with("blue")] == [["green", "red"], []]
    assert joined_with("red") == [["blue"], [], []]
    assert joined_with("green") == [["blue"]]
    assert joined_with("and") == [[], []]
    assert running.feature_names(3, 2)[-2:] == ["_ & red", "_ & blue"]


def with_marks(index: DocumentIndex) -> list[list[str]]:
    running = index.running
    assert running is not None
    names = {**dict(enumerate([*running.names, OTHER])), COMMA: COMMA_TOKEN, GAP: GAP_TOKEN}
    ends = running.document_ends.tolist()
    return [[names[t] for t in running.tokens[a + 1 : b].tolist()] for a, b in pairwise(ends)]


def marked_lines(n: int = 400, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [f"w{chr(97 + k // 26)}{chr(97 + k % 26)}" for k in range(60)]
    after = [" ", " ", " ", ", ", ",, ", "; ", " (", ") ", ". ", " 7 ", "'s ", " \u2013 ", "-", "\u3001"]
    sizes = rng.integers(0, 30, size=n)
    return ["".join(str(rng.choice(words)) + str(rng.choice(after)) for _ in range(size)) for size in sizes]


def test_marks_between_words_are_kept(tmp_path: Path) -> None:
    texts = marked_lines()
    wanted = [Preparation().marked_tokens(text) for text in texts]
    assert with_marks(DocumentIndex.from_documents(texts)) == wanted
    (tmp_path / "first.txt").write_text("\n".join(texts[:300]) + "\n")
    (tmp_path / "second.txt").write_text("\n".join(texts[300:]) + "\n")
    path = tmp_path / "index"
    build_index(tmp_path / "first.txt", path, resources=Resources(n_threads=3))
    appended = append_to_index(path, tmp_path / "second.txt")
    index = DocumentIndex.open(appended)
    assert index.running is not None
    known = {*index.running.names, COMMA_TOKEN, GAP_TOKEN}
    assert with_marks(index) == [[t if t in known else OTHER for t in document] for document in wanted]
    index.verify()


def test_a_document_in_many_blocks_keeps_its_marks() -> None:
    text = " ".join(marked_lines(2_000))
    index = DocumentIndex.from_documents([text])
    assert with_marks(index) == [Preparation().marked_tokens(text)]


def test_words_across_a_mark_are_no_next_neighbours() -> None:
    running = DocumentIndex.from_documents(["red, green; blue"]).running
    assert running is not None
    red, green, blue = (running.number(word) for word in ("red", "green", "blue"))
    assert running.tokens.tolist() == [DOCUMENT_END, red, COMMA, green, GAP, blue, DOCUMENT_END]
    assert running.neighbours(np.array([3])).tolist() == [[red, DOCUMENT_END, DOCUMENT_END, blue]]
    assert running.passages(np.array([3]), 1, green).tolist() == [[red, green, blue]]
    assert [document.tolist() for document in running.documents()] == [[red, green, blue]]


def test_commas_join_words_of_a_list() -> None:
    running = DocumentIndex.from_documents(["red, green, and blue; or white and, well, and pink"] * 2).running
    assert running is not None
    assert running.joiners == (COMMA,)
    joiners = (running.number("and"), running.number("or"), COMMA)

    def joined_with(word: str) -> set[str]:
        places = running.places_of(running.number(word)).astype(np.int64)
        holds = {
            name
            for name in running.names
            if running.holds(places, JOINED_COLUMN, running.number(name), joiners).any()
        }
        numbers = [running.joined_with(int(place), step, joiners) for place in places for step in (-1, 1)]
        assert holds == {running.names[n] for n in numbers if n is not None and n < len(running.names)}
        return holds

    assert joined_with("green") == {"red", "blue"}
    assert joined_with("blue") == {"green"}
    assert joined_with("white") == {"well"}
    assert joined_with("pink") == {"well"}
    assert joined_with("red") == {"green"}
