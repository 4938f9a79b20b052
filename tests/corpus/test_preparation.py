from __future__ import annotations

import string
import sys
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitm._native import CharacterRules, WordTable
from omnitm.corpus import Preparation, characters
from omnitm.corpus.preparation import COMMA_TOKEN, GAP_TOKEN
from omnitm.corpus.reading import UNITS
from omnitm.corpus.vocabulary import words_of
from omnitm.errors import CorpusError, ParameterError

# Letters whose lower case depends on neighbours, grows, or meets marks; digits and spaces of several scripts.
AWKWARD = (
    "\u03a3\u03c3\u03c2\u0391A\u0130I\u0345\u0301\u00b7'.:\u00adʰǅẞ\u023a٣²①\u2009\u3000\u0085\x1c\0 \t\r"
    "—“”…。、\U00010400\U0001e900x9"
)
GREEK = str.maketrans("AODS", "\u0391\u039f\u0394\u03a3")
OPTIONS = [
    Preparation(),
    Preparation.paper(),
    Preparation(lowercase=False, digits="delete"),
    Preparation(punctuation="keep", digits="drop"),
    Preparation(character_set="ascii"),
    Preparation(lowercase=False),
    Preparation(punctuation="space", digits="keep"),
    Preparation(punctuation="keep", digits="space", character_set="ascii"),
    Preparation(normalization="NFKC"),
]


@lru_cache
def native_rules(preparation: Preparation) -> CharacterRules:
    return preparation.native_rules(refuse_nul=False)


def native_tokens(preparation: Preparation, text: str) -> Counter[str]:
    data = preparation.normalized(text).encode()
    table = WordTable([])
    rules = native_rules(preparation)
    _, lengths, _, problem, _ = table.count_block(
        rules, np.frombuffer(data, dtype=np.uint8), UNITS.index("file"), True
    )
    assert problem == 0
    assert len(lengths) == 1
    letters, word_lengths, counts, _, _ = table.records()
    words = map(bytes.decode, words_of(letters, word_lengths))
    return Counter(dict(zip(words, counts.tolist(), strict=True)))


def texts() -> st.SearchStrategy[str]:
    characters_of_all_scripts = st.characters(exclude_categories=["Cs"])
    mixed = st.text(st.one_of(st.sampled_from(AWKWARD), characters_of_all_scripts), max_size=60)
    # Plain words take a quicker path: of up to 15 letters, and of 16 and more, with all that may follow.
    word = st.text(st.sampled_from("abAZzésS19'"), max_size=20)
    after = st.sampled_from(
        [
            " ",
            ", ",
            ". ",
            ".",
            "\t",
            "\n",
            "\r\n",
            "'s ",
            "\u2019S, ",
            "'s' ",
            '." ',
            "1 ",
            " (",
            " '9",
            "\0",
            "é",
        ]
    )
    plain = st.lists(st.tuples(word, after), max_size=20).map(lambda parts: "".join(map("".join, parts)))
    return st.one_of(mixed, plain)


@settings(max_examples=400, deadline=None)
@given(text=texts())
@pytest.mark.parametrize("preparation", OPTIONS, ids=range(len(OPTIONS)))
def test_native_code_equals_plain_python(preparation: Preparation, text: str) -> None:
    assert native_tokens(preparation, text) == Counter(preparation.tokens(text))


@pytest.mark.torture
@settings(max_examples=100_000, deadline=None)
@given(text=texts())
def test_native_code_equals_plain_python_on_many_lines(text: str) -> None:
    assert native_tokens(OPTIONS[0], text) == Counter(OPTIONS[0].tokens(text))


# Parts of words that are found 64 bytes at a time, what is between them, and words that are not found so.
PIECES = (
    "a", "The", "words", "Wikipedia", "abcdefghijklmno", "abcdefghijklmnop", "internationalization", "x" * 70,
    " ", " ", " ", "  ", ", ", ". ", ' "', " (", ") ", "-", "--", "'", "'s ", "' ", "5", " 1998 ", "20th ",
    "\t", "\r", "\0", "\x7f", "é", "\u2019s ", "\u2013", "\x1f", "@", "[", "`", "{", "/", ":", "~", "!",
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("preparation", OPTIONS[:-1], ids=range(len(OPTIONS) - 1))
def test_words_keep_their_order_and_their_documents(preparation: Preparation, unit: str) -> None:
    separator = {"line": "\n", "paragraph": "\n\n", "file": "\n"}[unit]
    for seed in range(40):
        random = np.random.default_rng(seed)
        documents = [
            "word " + "".join(PIECES[k] for k in random.integers(0, len(PIECES), random.integers(60)))
            for _ in range(20)
        ]
        text = separator.join(documents)
        table = WordTable([], keeps_order=True)
        ids, lengths, n_marks, problem, _ = table.count_block(
            native_rules(preparation), np.frombuffer(text.encode(), dtype=np.uint8), UNITS.index(unit), True
        )
        assert problem == 0
        letters, word_lengths, _, _, _ = table.records()
        names = [word.decode() for word in words_of(letters, word_lengths)]
        marks = {0: [], 1: [COMMA_TOKEN], 2: [GAP_TOKEN]}
        found = [token for n in ids.tolist() for token in (*marks[n >> 29 & 3], names[n & 0x1FFFFFFF])]
        parts = [text] if unit == "file" else documents
        assert found == [token for document in parts for token in preparation.marked_tokens(document)]
        assert n_marks == len(found) - len(ids)
        assert lengths.tolist() == [len(preparation.tokens(document)) for document in parts]


def test_what_stands_between_words() -> None:
    def marked(text: str, **options: Any) -> str:
        return " ".join(Preparation(**options).marked_tokens(text)).replace("\0", "")

    assert (
        marked("red, green,, (blue), 3 mp3s; U.S. well-known") == "red , green ; blue ; mps ; us ; well-known"
    )
    assert marked("\u7ea2\u3001\u7eff\uff0c\u84dd \u2013 it's John's, don't") == (
        "\u7ea2 , \u7eff , \u84dd ; it 's john 's , dont"
    )
    assert marked(", red,\n", digits="keep") == "red"
    # What vanishes within words leaves no mark, but a number that is left out does.
    assert marked("red, green 7 blue", punctuation="delete") == "red green ; blue"
    assert marked("red, green 7 blue", punctuation="keep") == "red, green ; blue"
    assert Preparation(tokenizer=str.split).marked_tokens("red , 7") == ["red", ",", "7"]


def other_characters() -> str:
    is_other = np.ones(sys.maxunicode + 1, dtype=np.bool_)
    is_other[0xD800:0xE000] = False
    for start, end in characters.ASSIGNED:
        is_other[start:end] = False
    return np.flatnonzero(is_other).astype("<u4").tobytes().decode("utf-32-le")


def test_every_single_character_is_treated_alike() -> None:
    every = characters.assigned_characters() + other_characters()[::997]
    text = " ".join(f"a{c}b" for c in every if c != "\n")
    preparation = Preparation()
    assert native_tokens(preparation, text) == Counter(preparation.tokens(text))


def test_other_characters_have_no_class() -> None:
    others = other_characters()
    assert others == others.lower()
    assert not any(map(str.isspace, others))
    assert not any(map(str.isdigit, others))
    assert "P" not in {category[0] for category in map(unicodedata.category, others)}
    before_sigma = "".join([f"{c}\u03a3 A{c}\u03a3 " for c in others])
    assert (
        "\N{GREEK SMALL LETTER FINAL SIGMA}" not in before_sigma.lower()
    )  # neither cased nor case-ignorable


def test_defaults_are_the_agreed_steps() -> None:
    text = "The U.S. isn't 52 States, it's 50!\tYes\n"
    plain = text.lower().translate({ord(c): None for c in string.punctuation + string.digits}).split()
    assert Preparation.paper().tokens(text) == plain
    assert Preparation().words(text) == Preparation.paper().words(text) == ["us", "states", "yes"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Germany's king\u2019s, 'the cat's'", ["germany", "'s", "king", "'s", "the", "cat", "'s"]),
        (
            "kings' don't rock'n'roll O'Neill's 's a's's",
            ["kings", "dont", "rocknroll", "oneill", "'s", "s", "as", "'s"],
        ),
        ("the 19th, '90s (1990's) 3D 20-year-old", ["the", "year-old"]),
        ("mp3 war.[3] m² H2O", ["mp", "war", "m", "ho"]),
        ("1,000 1 a", ["a"]),
    ],
)
def test_possessives_are_split_and_words_that_begin_with_a_digit_dropped(
    text: str, tokens: list[str]
) -> None:
    assert Preparation().tokens(text) == tokens
    assert native_tokens(Preparation(), text) == Counter(tokens)
    assert native_tokens(Preparation(), text + " end" * 40) == Counter(tokens) + Counter({"end": 40})


def test_the_papers_way_is_that_of_indexes_made_before() -> None:
    options = Preparation().to_json()
    del options["possessives"]
    options |= {"digits": "delete", "punctuation": "delete"}
    assert Preparation.from_json(options) == Preparation.paper()
    assert Preparation.paper().words("Germany's 19th") == ["germanys", "th"]
    assert Preparation(punctuation="space").tokens("Germany's") == ["germany", "s"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A fine movie.It moved me<br /><br />to tears", "a fine movie it moved me br br to tears"),
        ("writer/director, sci_fi & rock'n'roll (1977)", "writer director sci fi rocknroll"),
        ("well-known, self--made -- odd- -ly 'quoted'", "well-known self made odd ly quoted"),
        ("rock-'n'-roll mid-1990s covid-19 20-year-old é-a", "rock n roll mid covid year-old é-a"),
        ("the U.S. and J.R.R. Tolkien at 5 p.m. i.e. x.It", "the us and jrr tolkien at pm ie x it"),
        ("ab.c a.bc a.b é.a a.é a..b .a. a.", "ab c a bc ab é a a é a b a a"),
        ("non\u2010breaking hy\u2011phens \u2013 and\u2014dashes", "non-breaking hy-phens and dashes"),
        ("wait...what?!yes", "wait what yes"),
    ],
)
def test_punctuation_splits_but_not_inside_words(text: str, tokens: str) -> None:
    preparation = Preparation(stop_words=None)
    assert preparation.tokens(text) == tokens.split()
    # Long enough for the native code to look at 64 bytes at once, at every place of these.
    for shift in range(70):
        moved = "b" * shift + " " + text + " " + "longer words follow here " * 8
        assert native_tokens(preparation, moved) == Counter(preparation.tokens(moved))


@settings(max_examples=300, deadline=None)
@given(text=st.text("aBz.-\u2010' é,5\nΣİ", max_size=200))
def test_any_punctuation_is_split_as_plain_python_does(text: str) -> None:
    for preparation in (Preparation(stop_words=None), Preparation(stop_words=None, possessives="join")):
        assert native_tokens(preparation, text) == Counter(preparation.tokens(text))


def test_final_sigma_is_that_of_python() -> None:
    text = "ODOS ODOS. S SAS AS'A AS' AS\u0345 AS\u0301A".translate(GREEK)
    assert native_tokens(Preparation(), text) == Counter(Preparation().tokens(text))
    assert (
        Preparation().tokens(text)[0]
        == "ODOs".translate(GREEK).lower()[:3] + "\N{GREEK SMALL LETTER FINAL SIGMA}"
    )


def test_words_of_more_than_65535_bytes_are_left_out() -> None:
    fits, too_long = "x" * 65535, "é" * 32768
    text = f"a {fits} {too_long} b"
    preparation = Preparation(stop_words=None)
    assert preparation.tokens(text) == ["a", fits, "b"]
    assert native_tokens(preparation, text) == Counter(["a", fits, "b"])


def test_stop_words_are_prepared_like_text() -> None:
    assert Preparation().words("Don't you see? DON\N{RIGHT SINGLE QUOTATION MARK}T!") == ["see"]
    assert Preparation(stop_words=["SEE"]).words("See it") == ["it"]
    assert Preparation(stop_words=None).words("the end") == ["the", "end"]


def test_stop_words_cover_the_function_words() -> None:
    stop = Preparation().prepared_stop_words
    assert 150 < len(stop) < 250
    assert {"the", "and", "of", "himself", "wouldnt", "its", "very", "than", "whom"} <= stop
    assert (
        not {"new", "one", "also", "first", "well", "ill", "hell", "shell", "shed", "wed", "us", "may"} & stop
    )


def test_pattern_and_tokenizer_replace_the_rules() -> None:
    pattern = r"[a-z]+-?[a-z]+"
    assert Preparation(token_pattern=pattern).tokens("Well-known, a x9 Dog") == ["well-known", "dog"]
    by_comma = Preparation(stop_words=None, tokenizer=lambda text: text.split(","))
    assert by_comma.tokens("New York,, Rome, ") == ["new york", " rome"]


def test_options_survive_json_except_the_tokenizer() -> None:
    preparation = Preparation(stop_words=("a", "b"), punctuation="space", normalization="NFC")
    assert Preparation.from_json(preparation.to_json()) == preparation
    named = Preparation.from_json(Preparation(tokenizer=str.split).to_json())
    assert named.is_incomplete
    with pytest.raises(CorpusError, match=r"tokeniser '.*split'.* give it again"):
        named.tokens("a b")
    assert Preparation.from_json(Preparation(tokenizer=str.split).to_json(), str.split).tokens("A b") == [
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lowercase": 1}, "'lowercase' parameter of Preparation must be a bool. Got 1"),
        (
            {"punctuation": "drop"},
            "'punctuation' parameter .* one of 'split', 'delete', 'space', 'keep'. Got 'drop'",
        ),
        ({"digits": None}, "'digits' parameter"),
        ({"possessives": "cut"}, "'possessives' parameter .* one of 'split', 'join'. Got 'cut'"),
        ({"character_set": "latin"}, "'character_set' parameter"),
        ({"normalization": "nfc"}, "'normalization' parameter"),
        ({"stop_words": "german"}, "must be 'english', None or a list of words"),
        ({"stop_words": [1]}, "must be 'english', None or a list of words"),
        ({"token_pattern": "("}, "not a regular expression"),
        ({"token_pattern": "a", "tokenizer": str.split}, "either 'token_pattern' or 'tokenizer'"),
        ({"token_pattern": "a", "digits": "keep"}, "take the place"),
        ({"tokenizer": "split"}, "must be callable"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Preparation(**options)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (lambda text: text, "must return a list of words, not str"),
        (lambda _: [1], "Words must be str. Got 1"),
        (lambda _: ["a\nb"], "line break"),
    ],
)
def test_bad_tokenizers_are_refused(tokenizer: object, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        Preparation(tokenizer=tokenizer).tokens("text")  # type: ignore[arg-type]  # wrong on purpose
