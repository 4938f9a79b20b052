"""Forms of a word speak for each other: who they are, and what becomes of the similarity."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.similarity.combined import contributions, similarity_parts
from omnitm.similarity.nearest_rows import neighbour_lists
from omnitm.similarity.row_profile import log_ratio
from omnitm.similarity.word_forms import _speakers, relatives_by_letters
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_WORDS = 120
LONE = [f"{k:03d}w" for k in range(N_WORDS)]
# Words k and k + 10, of one topic, are forms of one word.
FORMS = [f"{k:03d}w" if k % 20 < 10 else f"{k - 10:03d}ws" for k in range(N_WORDS)]


@pytest.fixture(scope="module")
def matrix() -> NDArray[np.int16]:
    """Words in ten topics, that of word k being k % 10."""
    random = np.random.default_rng(2)
    topic = np.arange(N_WORDS) % 10
    touched = (topic[:, None] == topic) | (random.random((N_WORDS, N_WORDS)) < 0.03)
    touched &= random.random((N_WORDS, N_WORDS)) < 0.9
    values = np.where(touched, random.integers(5, 90, size=(N_WORDS, N_WORDS)), 0)
    found: NDArray[np.int16] = (values - random.integers(40, 120, size=(N_WORDS, 1))).astype(np.int16)
    return found


@pytest.fixture(scope="module")
def lone(matrix: NDArray[np.int16]) -> WordVectors:
    return WordVectors(matrix, LONE, LONE)


@pytest.fixture(scope="module")
def forms(matrix: NDArray[np.int16]) -> WordVectors:
    return WordVectors(matrix, FORMS, FORMS)


def pairs_of(*words: str) -> list[str]:
    return [f"{words[a]} {words[b]}" for a, b in relatives_by_letters(words)]


def test_relatives_by_letters() -> None:
    assert pairs_of("car", "cars", "carpet", "carbon") == ["car cars"]
    assert pairs_of("drive", "driving", "drives", "drift") == ["drive driving", "drive drives"]
    assert pairs_of("city", "cities") == []
    assert pairs_of("govern", "government", "governmental") == [
        "govern government",
        "government governmental",
    ]
    assert pairs_of("be", "bee", "beer", "been") == ["bee beer", "bee been", "beer been"]
    assert pairs_of("a", "", "ab") == []
    assert pairs_of("\u015bcian", "\u015bciana") == ["\u015bcian \u015bciana"]


def test_relatives_keep_the_same_company(matrix: NDArray[np.int16]) -> None:
    """Words that begin alike but belong to other topics stay alone."""
    names = [*LONE[:-2], "rapid", "rapids"]  # words 118 and 119: of other topics
    vectors = WordVectors(matrix, names, names)
    assert vectors.family("rapid") == [("rapid", 1.0)]


def test_relatives_have_a_cosine_above_a_fifth() -> None:
    cosines = [1.0, 0.19, 0.21, -0.9]
    smooth = np.array([[c, np.sqrt(1 - c * c)] for c in cosines], dtype=np.float32)
    starts, members, weights = _speakers(["rapid", "rapids", "rapidly", "rapider"], smooth)
    assert members[: starts[1]].tolist() == [0, 2]
    assert weights[: starts[1]] == pytest.approx([2 / 3, 1 / 3])


def test_the_nearest_five_of_many_relatives(matrix: NDArray[np.int16]) -> None:
    names = [f"stem{chr(97 + k // 10)}" if k % 10 == 4 else word for k, word in enumerate(LONE)]
    vectors = WordVectors(matrix, names, names)
    family = vectors.family("stemc")
    assert len(family) == 6
    assert family[0][1] == pytest.approx(2 / 7)
    smooth = vectors.likeness.company.smooth
    nearness = {word: float(smooth[24] @ smooth[k]) for k, word in enumerate(names) if word[:4] == "stem"}
    assert [word for word, _ in family] == sorted(nearness, key=lambda word: -nearness[word])[:6]


def test_family(forms: WordVectors, lone: WordVectors) -> None:
    assert dict(forms.family("003w")) == pytest.approx({"003w": 2 / 3, "003ws": 1 / 3})
    assert [word for word, _ in forms.family("003ws")] == ["003ws", "003w"]
    assert lone.family("013w") == [("013w", 1.0)]
    assert np.mean([len(forms.family(word)) == 2 for word in FORMS]) > 0.8


def test_parts_are_means_over_forms(forms: WordVectors, lone: WordVectors) -> None:
    company = lone.likeness.company
    leaning = log_ratio((lone.matrix - company.baseline[:, None]) * company.gain[:, None], company.mean)
    plain = (leaning + leaning.T) / 2
    np.fill_diagonal(plain, 0)
    mean = np.zeros((N_WORDS, N_WORDS))
    for k, word in enumerate(FORMS):
        for form, weight in forms.family(word):
            mean[k, FORMS.index(form)] = weight
    expected = [mean @ plain @ mean.T]
    for rows in (company.by_word().toarray(), company.smooth):
        of_families = mean @ rows
        of_families /= np.linalg.norm(of_families, axis=1, keepdims=True)
        expected.append(of_families @ of_families.T)
    first, second = np.triu_indices(N_WORDS, k=1)
    spreads = [part[first, second].std() for part in expected]
    assert forms.likeness.weights == pytest.approx(1 / np.array(spreads), rel=1e-3)
    for a, b in [(0, 10), (0, 20), (7, 93), (119, 109)]:
        found = np.array(list(similarity_parts(forms, FORMS[a], FORMS[b]).values()))
        assert found * spreads == pytest.approx([part[a, b] for part in expected], abs=1e-3)


def test_all_ways_to_ask_agree(forms: WordVectors) -> None:
    scores = np.asarray(forms.most_similar("025w", topn=None))
    wanted = [forms.similarity("025w", word) for word in FORMS]
    others = np.arange(N_WORDS) != 25
    assert scores[others] == pytest.approx(np.array(wanted)[others], abs=5e-3)
    lists = neighbour_lists(forms, 6)
    for row in (0, 25, 119):
        found = forms.most_similar(FORMS[row], topn=6)
        assert [FORMS[k] for k in lists.rows[row]] == [word for word, _ in found]
        assert lists.scores[row] == pytest.approx([score for _, score in found], abs=5e-3)


def test_contributions_add_up(forms: WordVectors) -> None:
    for a, b in [("003w", "003ws"), ("003w", "023ws"), ("004w", "107w")]:
        shares = contributions(forms, a, b)
        assert shares.sum() == pytest.approx(forms.similarity(a, b), abs=1e-4)
        assert contributions(forms, b, a) == pytest.approx(shares)


def test_association_is_credited_to_the_forms(matrix: NDArray[np.int16], forms: WordVectors) -> None:
    vectors = WordVectors(matrix, FORMS, FORMS)
    vectors.likeness = dataclasses.replace(forms.likeness, weights=np.array([1.0, 0, 0]))
    shares = contributions(vectors, "003w", "004w")
    assert {FORMS[k] for k in np.flatnonzero(shares)} == {"003w", "003ws", "004w", "004ws"}
