"""Character classes of the running Python, as tables that the native tokeniser shares with `str`."""

from __future__ import annotations

import string
import unicodedata
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from omnitm._native import CharacterRules

N_CODE_POINTS = 0x110000
# The other planes hold ideographs, private and unassigned characters, which have no case and no class here.
# tests/corpus/test_preparation.py checks that against the running Python.
ASSIGNED = ((0, 0x3400), (0xA000, 0xAC00), (0xD7A4, 0xD800), (0xF900, 0x20000), (0xE0000, 0xE0200))

# Actions of native/text.hpp; smaller values are the code point that replaces the character.
FIRST_EXPANSION = 0xFFFF0000
REFUSED = 0xFFFFFFF0
NEWLINE = 0xFFFFFFF1
CAPITAL_SIGMA = 0xFFFFFFF2
SPACE = 0xFFFFFFF3
DELETED = 0xFFFFFFF4
APOSTROPHE = 0xFFFFFFF5
DELETED_DIGIT = 0xFFFFFFF6
HYPHEN = 0xFFFFFFF7
FULL_STOP = 0xFFFFFFF8
CASED, CASE_IGNORABLE, LEAVES_GAP, LEAVES_COMMA = 1, 2, 4, 8

APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
HYPHENS = "-\N{HYPHEN}\N{NON-BREAKING HYPHEN}"
COMMAS = ",\N{ARABIC COMMA}\N{IDEOGRAPHIC COMMA}\N{FULLWIDTH COMMA}"
DIGIT_MARK = "0"  # in a translated text: here was a digit
_ACTION_OF = {
    None: DELETED,
    " ": SPACE,
    "'": APOSTROPHE,
    DIGIT_MARK: DELETED_DIGIT,
    "-": HYPHEN,
    ".": FULL_STOP,
}
_REPLACEMENTS = {"delete": None, "space": " ", "split": " ", "drop": DIGIT_MARK}
SIGMA = "\N{GREEK CAPITAL LETTER SIGMA}"
FINAL_SIGMA = "\N{GREEK SMALL LETTER FINAL SIGMA}"


@lru_cache(maxsize=1)
def assigned_characters() -> str:
    """Every character that may have a class or a lower case."""
    codes = np.concatenate([np.arange(start, end, dtype="<u4") for start, end in ASSIGNED])
    return codes.tobytes().decode("utf-32-le")


@lru_cache(maxsize=2)
def punctuation(character_set: str) -> str:
    """`string.punctuation` and, unless `character_set` is "ascii", Unicode's categories P*."""
    if character_set == "ascii":
        return string.punctuation
    category = unicodedata.category
    wide = (c for c in assigned_characters() if category(c)[0] == "P")
    return string.punctuation + "".join(c for c in wide if c not in string.punctuation)


@lru_cache(maxsize=2)
def digits(character_set: str) -> str:
    """`string.digits`, or every character for which `str.isdigit` holds."""
    return string.digits if character_set == "ascii" else "".join(filter(str.isdigit, assigned_characters()))


@lru_cache(maxsize=1)
def spaces() -> str:
    """Characters that end a word: those of `str.split()`, and NUL."""
    return "\0" + "".join(filter(str.isspace, assigned_characters()))


def replacements(
    lowered_actions: dict[str, str], character_set: str, *, splits_possessives: bool
) -> dict[int, str | None]:
    """`str.translate` table for what happens after lower-casing; keys of the dict: punctuation, digits.

    Digits to "drop" become `DIGIT_MARK`, and apostrophes to delete become `'` if possessives are split. If
    punctuation is to "split" words, hyphens become `-`, full stops stay, and apostrophes are to delete.
    """
    classes = {"punctuation": punctuation(character_set), "digits": digits(character_set)}
    table: dict[int, str | None] = {0: " "}
    for name, action in lowered_actions.items():
        if action != "keep":
            table.update(dict.fromkeys(map(ord, classes[name]), _REPLACEMENTS[action]))
    if lowered_actions["punctuation"] == "split":
        joints = {".": ".", **dict.fromkeys(APOSTROPHES), **dict.fromkeys(HYPHENS, "-")}
        table.update({ord(c): kept for c, kept in joints.items() if ord(c) in table})
    if splits_possessives:
        table.update({ord(c): "'" for c in APOSTROPHES if table.get(ord(c), "") is None})
    return table


def native_rules(*, lowercase: bool, table: dict[int, str | None], refuse_nul: bool) -> CharacterRules:
    """Rules that make the native tokeniser do `text.lower().translate(table).split()`, marks interpreted."""
    actions = np.arange(N_CODE_POINTS, dtype=np.uint32)
    actions[[ord(c) for c in spaces()]] = SPACE
    for code, replacement in table.items():
        actions[code] = _ACTION_OF[replacement]
    expansions: list[bytes] = []
    if lowercase:
        _apply_lower_case(actions, expansions)
    actions[ord("\n")] = NEWLINE
    if refuse_nul:
        actions[0] = REFUSED
    contexts = sigma_contexts().copy()
    for code, mark in marks_between_words(table).items():
        contexts[code] |= LEAVES_COMMA if mark == "," else LEAVES_GAP
    return CharacterRules(actions, contexts, expansions)


def marks_between_words(table: dict[int, str | None]) -> dict[int, str]:
    """Which characters leave a mark between the words that they end: "," or, if they are no commas, ";"."""
    ends_words = (" ", "-", ".")
    return {
        code: "," if chr(code) in COMMAS else ";"
        for code, replacement in table.items()
        if replacement in ends_words and chr(code) not in APOSTROPHES and chr(code) not in spaces()
    }


@lru_cache(maxsize=1)
def token_rules() -> CharacterRules:
    """Rules for words that are ready: NUL after each word, a newline after each document."""
    actions = np.arange(N_CODE_POINTS, dtype=np.uint32)
    actions[0] = SPACE
    actions[ord("\n")] = NEWLINE
    return CharacterRules(actions, np.zeros(N_CODE_POINTS, dtype=np.uint8), [])


def _apply_lower_case(actions: NDArray[np.uint32], expansions: list[bytes]) -> None:
    after_lowering = actions.copy()
    for character in _changed_by_lower():
        lowered = character.lower()
        if character == SIGMA:
            actions[ord(character)] = CAPITAL_SIGMA
        elif len(lowered) == 1:
            actions[ord(character)] = after_lowering[ord(lowered)]
        else:
            actions[ord(character)] = FIRST_EXPANSION + len(expansions)
            expansions.append(lowered.encode())


@lru_cache(maxsize=1)
def _changed_by_lower() -> str:
    every = assigned_characters()
    parts = (every[start : start + 64] for start in range(0, len(every), 64))
    return "".join(c for part in parts if part != part.lower() for c in part if c != c.lower())


@lru_cache(maxsize=1)
def sigma_contexts() -> NDArray[np.uint8]:
    """Which characters decide whether a capital sigma becomes a final one, as `str.lower` sees them."""
    several = {c for c in _changed_by_lower() if len(c.lower()) > 1}  # would shift the positions below
    assigned = assigned_characters().translate(dict.fromkeys(map(ord, several)))
    codes = np.frombuffer(assigned.encode("utf-32-le"), dtype="<u4")
    contexts = np.zeros(N_CODE_POINTS, dtype=np.uint8)
    is_cased = _makes_sigma_final("", codes)
    contexts[codes[is_cased]] = CASED
    contexts[codes[_makes_sigma_final("A", codes) & ~is_cased]] = CASE_IGNORABLE
    contexts[[ord(c) for c in several]] = CASED
    return contexts


def _makes_sigma_final(before: str, codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether a capital sigma becomes final after `before` and each character, at the end of a word."""
    template = np.array([*map(ord, before), 0, ord(SIGMA), ord(" ")], dtype="<u4")
    rows = np.tile(template, (len(codes), 1))
    rows[:, len(before)] = codes
    lowered = rows.tobytes().decode("utf-32-le").lower().encode("utf-32-le")
    last = np.frombuffer(lowered, dtype="<u4").reshape(rows.shape)[:, -2]
    return np.asarray(last == ord(FINAL_SIGMA))
