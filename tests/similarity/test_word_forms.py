"""Forms of a word: which words are forms of each other, and what becomes of similarities and lists."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.similarity import nearest
from omnitm.similarity.combined import Combined
from omnitm.similarity.row_profile import unit_rows
from omnitm.similarity.word_forms import WordForms, form_pairs, pairs_by_rule, share_of_rule
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_WORDS = 120
LONE = [f"{chr(97 + k % 26)}{k:03d}{chr(97 + k // 26)}q" for k in range(N_WORDS)]
# Words k and k + 10, of one topic, are forms of one word.
FORMS = [LONE[k] if k % 20 < 10 else LONE[k - 10] + "s" for k in range(N_WORDS)]


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


def rules_of(*words: str) -> dict[tuple[str, str], list[str]]:
    return {
        endings: [f"{words[a]} {words[b]}" for a, b in pairs]
        for endings, pairs in pairs_by_rule(words).items()
    }


def test_pairs_by_rule() -> None:
    assert rules_of("car", "cars", "carpet") == {
        ("", "s"): ["car cars"],
        ("", "pet"): ["car carpet"],
        ("s", "pet"): ["cars carpet"],
    }
    assert rules_of("drive", "driving") == {("e", "ing"): ["drive driving"]}
    assert rules_of("abcde", "abcxyz") == {("de", "xyz"): ["abcde abcxyz"]}
    assert rules_of("abcde", "abcwxyz") == {}  # an ending longer than what is common
    assert rules_of("city", "cities") == {("y", "ies"): ["city cities"]}
    assert rules_of("govern", "governmental") == {}  # six letters are no ending
    assert rules_of("be", "bee", "been") == {("", "n"): ["bee been"]}
    assert rules_of("stop", "stopping") == {("", "ping"): ["stop stopping"], ("", "+ing"): ["stop stopping"]}
    assert rules_of("stops", "stopped") == {("s", "ped"): ["stops stopped"], ("s", "+ed"): ["stops stopped"]}
    assert rules_of("run", "running") == {("", "+ing"): ["run running"]}  # four letters more than "run" has
    assert rules_of("real", "really") == {("", "ly"): ["real really"]}  # one letter is no ending of its own
    assert rules_of("sun", "sunning", "suns") == {
        ("", "+ing"): ["sun sunning"],
        ("", "s"): ["sun suns"],
        ("s", "+ing"): ["suns sunning"],
    }
    assert rules_of("a", "", "ab") == {}
    assert rules_of("\u015bcian", "\u015bciana") == {("", "a"): ["\u015bcian \u015bciana"]}


def unit_circle(angles: list[float]) -> NDArray[np.float32]:
    return np.array([[np.cos(angle), np.sin(angle)] for angle in angles], dtype=np.float32)


def test_a_rule_needs_many_pairs_about_the_same_thing() -> None:
    stems = [f"stem{letter}" for letter in "abcdefghijkl"]
    words = [*stems, *(stem + "s" for stem in stems), *(stem + "t" for stem in stems[:9])]
    turned = np.arccos(0.29), np.arccos(0.31)
    # eleven plurals just near enough, one not; the nine words with t are the same as their stems
    plurals = [turned[1]] * 11 + [turned[0]]
    pairs, cosines, _ = form_pairs(words, unit_circle([0.0] * 12 + plurals + [0.0] * 9))
    found = {(words[a], words[b]) for a, b in pairs.tolist()}
    assert found == {(stem, stem + "s") for stem in stems[:11]}  # nine pairs are too few for a rule
    assert cosines == pytest.approx([0.31] * 11, abs=1e-3)
    half = [0.0] * 6 + [turned[0]] * 6
    assert len(form_pairs(words[:24], unit_circle([0.0] * 12 + half))[0]) == 0
    more = [0.0] * 7 + [turned[0]] * 5
    assert len(form_pairs(words[:24], unit_circle([0.0] * 12 + more))[0]) == 7


def forms_by_ending(stems: list[str], ending: str, cosines: list[float], first: str = "") -> list[str]:
    """Which stems have a form with an ending that is as near to them as given."""
    words = [*(stem + first for stem in stems), *(stem + ending for stem in stems)]
    angles = [0.0] * len(stems) + np.arccos(cosines).tolist()
    return [words[a] for a, _ in form_pairs(words, unit_circle(angles))[0].tolist()]


def test_a_weak_rule_needs_words_that_are_more_alike() -> None:
    """As doctor and doctoral: (``, `al`) often makes another word."""
    stems = [f"stem{letter}" for letter in "abcdefghijkl"]
    assert forms_by_ending(stems, "al", [0.9] * 5 + [0.34, 0.36] + [0.0] * 5) == [*stems[:5], stems[6]]
    assert forms_by_ending(stems, "s", [0.9] * 8 + [0.34, 0.36] + [0.0] * 2) == stems[:10]


def test_short_words_need_to_be_more_alike() -> None:
    """As car and cars but not dio and dios: by chance many words of three letters differ by an s."""
    stems = [f"{letter}ab" for letter in "abcdefghijkl"]
    assert forms_by_ending(stems, "s", [0.9] * 10 + [0.49, 0.51]) == [*stems[:10], stems[11]]
    shown = [f"{stem}e" for stem in stems]  # babe, babing: the stem has three letters
    assert forms_by_ending(stems, "ing", [0.9] * 10 + [0.49, 0.51], "e") == [*shown[:10], shown[11]]
    longer = [f"{stem}r" for stem in stems]
    assert forms_by_ending(longer, "s", [0.9] * 10 + [0.49, 0.51]) == longer


def test_doubled_letters_are_one_rule() -> None:
    """As plan and planning, stop and stopping: each letter has too few pairs for a rule of its own."""
    stems = [f"{first}a{last}" for first in "bcdfg" for last in "np"]
    words = [*stems, *(stem + stem[-1] + "ing" for stem in stems)]
    # A doubled letter is one more in common, so 0.3 is enough for stems of three letters.
    angles = [0.0] * len(stems) + np.arccos([0.9] * 8 + [0.31, 0.29]).tolist()
    pairs = form_pairs(words, unit_circle(angles))[0]
    assert [(words[a], words[b]) for a, b in pairs.tolist()] == list(
        zip(stems[:9], words[10:19], strict=True)
    )
    single = [*stems, *(stem + "ning" for stem in stems)]  # without a doubled letter for half of them
    assert len(form_pairs(single, unit_circle([0.0] * 20))[0]) == 0


def at_the_edge(stems: list[str], cosines: list[float]) -> tuple[list[str], NDArray[np.float32]]:
    """Stems and their plurals; products of their rows are exactly as given."""
    rows = [[1.0, 0.0]] * len(stems) + [[cosine, np.sqrt(1 - cosine**2)] for cosine in cosines]
    return [*stems, *(stem + "s" for stem in stems)], np.array(rows, dtype=np.float32)


@pytest.mark.parametrize(
    ("stem", "cosines", "share", "n_forms"),
    [
        ("stem", [0.9] * 5 + [0.3] * 5, None, 0),  # 0.3 is not yet the same thing, and a half no rule
        ("stem", [0.9] * 5 + [0.34] + [0.29] * 4, 0.6, 6),  # 0.6 is no weak rule
        ("stem", [0.9] * 9, None, 0),
        ("stem", [0.9] * 10, 1.0, 10),
        ("st", [0.9] * 9 + [0.5], 1.0, 9),  # a stem of three letters must be more alike than a half
        ("s", [0.9] * 12, None, 0),  # two letters are none
    ],
)
def test_rules_at_the_edge(stem: str, cosines: list[float], share: float | None, n_forms: int) -> None:
    stems = [f"{letter}{stem[1:]}{letter}" for letter in "abcdefghijkl"[: len(cosines)]]
    words, smooth = at_the_edge(stems, cosines)
    assert share_of_rule(words, smooth, ("", "s")) == share
    assert len(form_pairs(words, smooth)[0]) == n_forms


def unclear_text(share: float, cosine: float, ending: str = "s") -> tuple[list[str], NDArray[np.float32]]:
    """A hundred stems in random directions, and a share of their forms turned towards them."""
    random = np.random.default_rng(ord(ending))
    stems = [f"stem{chr(97 + k // 10)}{chr(97 + k % 10)}" for k in range(100)]
    first = unit_rows(np.random.default_rng(5).normal(size=(100, 300)).astype(np.float32))
    second = unit_rows(random.normal(size=(100, 300)).astype(np.float32))
    second = unit_rows(second - (second * first).sum(axis=1, keepdims=True) * first)
    cosines = np.where(np.arange(100) < 100 * share, cosine, 0.0)[:, None]
    forms = cosines * first + np.sqrt(1 - cosines**2) * second
    return [*stems, *(stem + ending for stem in stems)], np.concatenate([first, forms]).astype(np.float32)


def test_forms_are_found_in_texts_without_clear_subjects() -> None:
    """As in reviews, where all words have much the same company."""
    words, smooth = unclear_text(0.8, 0.25)
    found = form_pairs(words, smooth)
    assert found.same_thing == pytest.approx(0.45 * 0.25, abs=0.005)
    assert sorted(words[a] for a, _ in found.places.tolist()) == sorted(words[:80])
    # Half as near is hardly nearer than chance: 3 % of random pairs have 0.11 and more.
    words, smooth = unclear_text(0.8, 0.1)
    assert 0.1 < form_pairs(words, smooth).same_thing < 0.12
    assert len(form_pairs(words, smooth).places) == 0
    # Fewer than half of the pairs, for so unclear a text: 0.3, are no rule.
    clearness = 0.45 * 0.25 / 0.3
    for share in (0.5 * clearness**0.5 - 0.02, 0.5 * clearness**0.5 + 0.02):
        words, smooth = unclear_text(0.8, 0.25)
        others, rows = unclear_text(round(share, 2), 0.25, "t")
        together = form_pairs([*words, *others[100:]], np.concatenate([smooth, rows[100:]]))
        has_t = any(name.endswith("t") for name in ([*words, *others[100:]][b] for _, b in together.places))
        assert has_t == (share > 0.5 * clearness**0.5)
        rule = share_of_rule(others, rows, ("", "t"), together.same_thing)
        assert (rule is not None) == has_t


def test_subjects_are_never_clearer_than_those_of_an_encyclopedia() -> None:
    words, smooth = unclear_text(1.0, 0.9)
    assert form_pairs(words, smooth).same_thing == 0.3
    assert WordForms.of(words, smooth).same_thing.tolist() == [0.3]
    assert form_pairs(["one", "two"], smooth[:2]).same_thing == 0.3


def test_rules_are_named_by_the_shorter_ending_first() -> None:
    """Also if the word with the longer ending comes first."""
    assert rules_of("driving", "drives") == {("es", "ing"): ["drives driving"]}
    assert rules_of("drives", "driving") == {("es", "ing"): ["drives driving"]}
    assert rules_of("walks", "walked", "walk") == {
        ("s", "ed"): ["walks walked"], ("", "s"): ["walk walks"], ("", "ed"): ["walk walked"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("organ", "orgasm"),
        ("think", "thing"),
        ("car", "cart"),
        ("happy", "happened"),
        ("seven", "several"),
        ("doctor", "doctorate"),
    ],
)
def test_words_of_the_same_topic_are_no_forms_without_a_rule(first: str, second: str) -> None:
    stems = [f"{letter}{letter}lucky" for letter in "abcdefghijkl"]
    words = [first, second, *stems, *(stem + "s" for stem in stems)]
    pairs = form_pairs(words, unit_circle([0.0] * len(words))).places
    assert {words[a] for a, _ in pairs.tolist()} == set(stems)


def test_beginnings_make_other_words() -> None:
    words = [f"{letter}{letter}lucky" for letter in "abcdefghijkl"]
    words += ["un" + word for word in words]
    assert len(form_pairs(words, unit_circle([0.0] * 24))[0]) == 0


def test_words_that_differ_by_hyphens_alone_need_to_be_about_the_same_thing() -> None:
    words = ["email", "e-mail", "em-ail", "mail"]
    angles = np.arccos([1.0, 0.31, 0.29, 1.0]).tolist()
    places, cosines, _ = form_pairs(words, unit_circle(angles))
    assert [(words[a], words[b]) for a, b in places.tolist()] == [("email", "e-mail"), ("e-mail", "em-ail")]
    assert cosines[0] == pytest.approx(0.31, abs=1e-3)


def test_the_five_most_alike_of_many_forms() -> None:
    stems = [f"stem{letter}" for letter in "abcdefghijkl"]
    endings = ("", "s", "es", "ed", "ing", "er", "ers")
    words = [stem + ending for ending in endings for stem in stems]
    angles = [0.1 * number for number in range(len(endings)) for _ in stems]
    found = WordForms.of(words, unit_circle(angles))
    assert [words[row] for row, _ in found.of_row(0)] == [
        "stema",
        "stemas",
        "stemaes",
        "stemaed",
        "stemaing",
        "stemaer",
    ]
    assert [weight for _, weight in found.of_row(0)] == pytest.approx([2 / 7, *[1 / 7] * 5])


def test_forms(forms: WordVectors, lone: WordVectors) -> None:
    assert forms.forms(FORMS[3]) == [FORMS[13]]
    assert forms.forms(FORMS[13]) == [FORMS[3]]
    assert lone.forms(LONE[13]) == []
    assert np.mean([len(forms.forms(word)) == 1 for word in FORMS]) > 0.8


def test_parts_are_means_over_forms(forms: WordVectors, lone: WordVectors) -> None:
    topic = lone.profiles.topic
    rows = np.arange(N_WORDS)
    leaning = np.array([lone.profiles.leaning(lone, np.full(N_WORDS, row), rows) for row in rows])
    plain = (leaning + leaning.T) / 2
    np.fill_diagonal(plain, 0)
    mean = forms.profiles.forms.matrix.toarray()
    expected = [mean @ plain @ mean.T]
    for values in (topic.by_word().toarray(), topic.smooth):
        of_words = mean @ values
        of_words /= np.linalg.norm(of_words, axis=1, keepdims=True)
        expected.append(of_words @ of_words.T)
    first, second = np.triu_indices(N_WORDS, k=1)
    found = forms.profiles.pairs(forms, first, second)
    for number, part in enumerate(expected):
        assert found[:, number] == pytest.approx(part[first, second], abs=1e-3)


def test_means_over_two_forms_are_shorter_than_one(forms: WordVectors) -> None:
    profiles = forms.profiles
    rows = profiles.forms.matrix @ profiles.topic.by_word()
    expected = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1))).ravel()
    assert np.diff(profiles.forms.starts).max() == 2
    assert expected.min() < 0.95
    assert profiles.topic_lengths == pytest.approx(expected, abs=1e-5)


def test_all_ways_to_ask_agree(forms: WordVectors) -> None:
    scores = np.asarray(forms.most_similar(FORMS[25], topn=None))
    wanted = forms.similarities([(FORMS[25], word) for word in FORMS])
    assert scores == pytest.approx(wanted, abs=5e-3)
    places, values = Combined("similarity").nearest_of_rows(forms, np.array([0, 25, 119]), 6)
    for row, near, score in zip((0, 25, 119), places, values, strict=True):
        found = forms.similar_by_word(FORMS[row], topn=6, forms=True)
        assert [FORMS[k] for k in near] == [word for word, _ in found]
        assert score == pytest.approx([value for _, value in found], abs=5e-3)


def test_lists_fold_forms(forms: WordVectors) -> None:
    listed = [word for word, _ in forms.similar_by_word(FORMS[3], topn=6, forms=True)]
    assert FORMS[13] in listed
    folded = forms.similar_by_word(FORMS[3], topn=6)
    words = [word for word, _ in folded]
    assert FORMS[13] not in words
    assert not any(other in forms.forms(word) for word in words for other in words)
    assert all(FORMS.index(word) < FORMS.index(form) for word in words for form in forms.forms(word))
    assert [score for _, score in folded] == sorted((score for _, score in folded), reverse=True)
    for word, score in folded:
        assert forms.similarity(FORMS[3], word) == pytest.approx(score, abs=5e-3)
    without = [word for word, _ in forms.most_similar([FORMS[3]], [FORMS[5]], topn=20)]
    assert not {FORMS[13], FORMS[15]} & set(without)


def test_the_answer_to_an_analogy_may_be_a_form(forms: WordVectors) -> None:
    asked: dict[str, Any] = {"positive": [FORMS[3], FORMS[4]], "negative": [FORMS[5]], "topn": 20}
    listed = [word for word, _ in forms.most_similar(**asked)]
    assert {FORMS[13], FORMS[14]} <= {*listed}
    assert listed == [word for word, _ in forms.most_similar(**asked, forms=True)]
    folded = [word for word, _ in forms.most_similar(**asked, forms=False)]
    assert not {FORMS[13], FORMS[14], FORMS[15]} & {*folded}


def test_as_many_words_as_wanted_are_listed_though_many_are_forms(
    forms: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = forms.most_similar(FORMS[3], topn=N_WORDS)
    monkeypatch.setattr(nearest, "_FORMS_PER_WORD", 1)  # then the nearest two are the word and its form
    one = forms.most_similar(FORMS[3], topn=1)
    assert len(one) == len(forms.most_similar(FORMS[3], topn=1, restrict_vocab=100)) == 1
    assert forms.most_similar(FORMS[3], topn=N_WORDS) == everything
    assert forms.most_similar(FORMS[3], topn=0) == []


@pytest.mark.parametrize(("score", "shown"), [(7.0, (3, 7.0)), (6.9, (13, 10.0))])
def test_the_first_form_is_shown_unless_another_is_much_nearer(
    forms: WordVectors, monkeypatch: pytest.MonkeyPatch, score: float, shown: tuple[int, float]
) -> None:
    assert forms.forms(FORMS[13]) == [FORMS[3]]
    query = Combined("similarity").query(forms, [(FORMS[40], 1.0)])
    monkeypatch.setattr(query, "scores_of", lambda rows: np.array([score, 8.0])[: len(rows)])
    found = query.folded(np.array([13, 25]), np.array([10.0, 8.0]))
    expected = [shown, (25, 8.0)]
    assert found == sorted(expected, key=lambda one: -one[1])


def test_contributions_add_up(forms: WordVectors) -> None:
    related = Combined("related")
    for a, b in [(3, 13), (3, 33), (4, 107)]:
        shares = related.contributions(forms, a, b)
        assert shares.sum() == pytest.approx(forms.similarity(FORMS[a], FORMS[b]), abs=1e-4)
        assert related.contributions(forms, b, a) == pytest.approx(shares)


def test_association_is_credited_to_the_forms(matrix: NDArray[np.int16], forms: WordVectors) -> None:
    vectors = WordVectors(matrix, FORMS, FORMS)
    vectors.profiles = dataclasses.replace(forms.profiles, scales=np.array([1.0, 0, 0, 0, 0, 0]))
    shares = Combined("related").contributions(vectors, 3, 4)
    assert set(np.flatnonzero(shares).tolist()) == {3, 13, 4, 14}
