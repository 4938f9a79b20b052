"""Words in groups: the 13 groups of the paper's map, and the one reader of files with groups of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from omnitm.errors import FileError, ParameterError
from omnitm.files.plain import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Groups as the paper names them (its section on clustering). It prints only a few of its 130 words
#: (computer, internet, robot; engineer; partner; those are here); the others are our own choice.
WORD_GROUPS: dict[str, tuple[str, ...]] = {
    "emotions": (
        "happy", "sad", "angry", "afraid", "joy", "love", "hate", "pride", "grief", "hope",
    ),
    "professions": (
        "doctor", "teacher", "engineer", "lawyer", "nurse", "journalist", "architect", "scientist", "artist",
        "farmer",
    ),
    "nature": (
        "tree", "river", "mountain", "forest", "ocean", "flower", "rain", "desert", "lake", "storm",
    ),
    "technology": (
        "computer", "internet", "robot", "software", "network", "phone", "camera", "digital", "machine",
        "data",
    ),
    "relationships": (
        "mother", "father", "sister", "brother", "friend", "wife", "husband", "partner", "daughter",
        "marriage",
    ),
    "food": (
        "bread", "cheese", "meat", "rice", "fruit", "sugar", "soup", "wine", "milk", "vegetable",
    ),
    "geography": (
        "country", "city", "continent", "island", "border", "capital", "region", "europe", "africa", "coast",
    ),
    "abstract concepts": (
        "freedom", "justice", "truth", "knowledge", "time", "idea", "reason", "beauty", "morality",
        "existence",
    ),
    "animals": (
        "dog", "cat", "horse", "lion", "elephant", "bird", "fish", "wolf", "snake", "monkey",
    ),
    "vehicles": (
        "car", "truck", "bus", "train", "airplane", "bicycle", "motorcycle", "ship", "helicopter", "boat",
    ),
    "sports": (
        "football", "basketball", "tennis", "baseball", "hockey", "golf", "swimming", "boxing", "rugby",
        "cricket",
    ),
    "royalty and leadership": (
        "king", "queen", "prince", "princess", "emperor", "president", "minister", "duke", "throne", "leader",
    ),
    "miscellaneous": (
        "music", "book", "house", "money", "war", "school", "color", "door", "hospital", "election",
    ),
}  # fmt: skip

_LARGEST = 1 << 20  # bytes
_WANTED = (
    'expected JSON such as {"animals": ["dog", "cat"]}, or a line per group such as "animals: dog, cat", '
    'or a line per word such as "dog<TAB>animals"'
)


def read_groups(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read words in groups from a file; a word may be in several groups.

    A file that ends with `.json` is an object of lists. In others a line is `group: word word`, with spaces
    or commas between the words, or `word<TAB>group`; empty lines and those that start with `#` are skipped.
    """
    path = Path(path)
    try:
        text = read_file(path, _LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(path, f"must be UTF-8 text; byte {error.start:,} is not") from None
    found = _from_json(path, text) if path.suffix.lower() == ".json" else _from_lines(path, text)
    if not found:
        raise FileError(path, f"has no groups; {_WANTED}")
    for name, words in found.items():
        if not name or ":" in name or len(name.splitlines()) > 1:
            raise FileError(
                path, f"{name!r} is no name of a group: it is empty, or has a colon or line break"
            )
        if not words:
            raise FileError(path, f"the group {name!r} has no words; {_WANTED}")
    return {name: tuple(dict.fromkeys(words)) for name, words in found.items()}


def load_groups(path: str | Path | None = None) -> dict[str, tuple[str, ...]]:
    """Read groups for a map: at least two, and no word in two; None: the groups of the paper's map."""
    if path is None:
        return dict(WORD_GROUPS)
    groups = read_groups(path)
    if len(groups) < 2:
        raise FileError(path, "has one group, but two are needed to tell them apart; add another")
    seen: dict[str, str] = {}
    for name, words in groups.items():
        for word in words:
            if word in seen:
                raise FileError(path, f"{word!r} is in {seen[word]!r} and in {name!r}; one group per word")
            seen[word] = name
    return groups


def known_groups(
    groups: Mapping[str, tuple[str, ...]], vocabulary: Mapping[str, int]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Keep the words that a model knows, in groups of at least two; return them and the unknown words."""
    unknown = [word for words in groups.values() for word in words if word not in vocabulary]
    kept = {name: tuple(word for word in words if word in vocabulary) for name, words in groups.items()}
    kept = {name: words for name, words in kept.items() if len(words) >= 2}
    if len(kept) < 2:
        lacks = f", and it does not know {_some(unknown)}" if unknown else ""
        raise ParameterError(
            f"The model knows too few of the words: two groups with two known words each are needed{lacks}; "
            "train such words, or list others in a file for --groups."
        )
    return kept, unknown


def _some(words: list[str], most: int = 5) -> str:
    rest = f" and {len(words) - most} others" if len(words) > most else ""
    return ", ".join(map(repr, words[:most])) + rest


def _from_json(path: Path, text: str) -> dict[str, list[str]]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise FileError(path, f"is not JSON ({error}); {_WANTED}") from None
    is_right = isinstance(found, dict) and all(
        isinstance(words, list) and all(isinstance(word, str) for word in words) for words in found.values()
    )
    if not is_right:
        raise FileError(path, f"has no groups of words; {_WANTED}")
    return dict(found)


def _from_lines(path: Path, text: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if "\t" in line.strip():
            word, _, name = line.strip().partition("\t")
            words = [word.strip()]
        elif ":" in line:
            name, _, listed = line.partition(":")
            words = listed.replace(",", " ").split()
        else:
            raise FileError(path, f"line {number}: {line[:60]!r} names no group; {_WANTED}")
        groups.setdefault(name.strip(), []).extend(words)
    return groups
