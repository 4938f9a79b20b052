"""The published word sets by name: what they are, whose they are, and where their files are found."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, ParameterError
from omnitm.files.plain import read_text, write_file

Named = TypeVar("Named", bound=Any)
DATA_VARIABLE = "OMNITM_DATA"
_SUBFOLDERS = ("", "wordsim", "word-sim", "categories")
_SECONDS = 20  # to wait for a download
_LARGEST = 1 << 24  # bytes of a download

TUNED_ON, REPORT, OWN_FILE = "tuned on", "report", "own file"
_COLLECTION = "https://raw.githubusercontent.com/mfaruqui/eval-word-vectors/master/data/word-sim/"


@dataclass(frozen=True)
class DataSet:
    """A published set of word pairs, analogies or categories.

    Attributes
    ----------
    name
        What tables call it.
    aliases
        Other spellings that find it; case, spaces, `-` and `_` never matter.
    files
        File names that it goes by, the collection's first.
    citation, licence, home
        Whose work it is, under which terms, and its own page.
    address, sha256
        Where omnitm downloads it, and the content that must arrive; None: nowhere in this form.
    packaged
        Files of Python packages that carry it: package, path inside it.
    use
        "tuned on" if read-outs or settings of omnitm were chosen by it, "report" if it only reports.
    lines
        Only the odd lines (1st, 3rd, ...) or the even ones; None: all.
    """

    name: str
    aliases: tuple[str, ...]
    files: tuple[str, ...]
    citation: str
    licence: str
    home: str
    address: str | None = None
    sha256: str | None = None
    packaged: tuple[tuple[str, str], ...] = ()
    kind: Literal["pairs", "analogies", "categories"] = "pairs"
    use: str = REPORT
    lines: Literal["odd", "even"] | None = None


DATA_SETS: tuple[DataSet, ...] = (
    DataSet(
        name="WS-353",
        aliases=("ws353", "wordsim353", "ws353all"),
        files=("EN-WS-353-ALL.txt", "wordsim353.tsv", "combined.csv", "combined.tab"),
        citation="Finkelstein et al. (2002), Placing search in context: the concept revisited",
        licence="CC BY 4.0",
        home="https://gabrilovich.com/resources/data/wordsim353/wordsim353.html",
        address=_COLLECTION + "EN-WS-353-ALL.txt",
        sha256="ce12919b240af45bdf46d243601eaca2b6212b159b5e7e9b435ee7ee40c5619c",
        packaged=(("gensim", "test/test_data/wordsim353.tsv"),),
    ),
    DataSet(
        name="WS-353-SIM",
        aliases=("ws353sim", "ws353similarity"),
        files=("EN-WS-353-SIM.txt", "wordsim_similarity_goldstandard.txt"),
        citation="Agirre et al. (2009), A study on similarity and relatedness using distributional and "
        "WordNet-based approaches",
        licence="CC BY 4.0, as WS-353",
        home="http://alfonseca.org/eng/research/wordsim353.html",
        address=_COLLECTION + "EN-WS-353-SIM.txt",
        sha256="f1da938998863c94e53f72f984a5c6e215f0b46c323aae8f0f4930703a339107",
    ),
    DataSet(
        name="WS-353-REL",
        aliases=("ws353rel", "ws353relatedness"),
        files=("EN-WS-353-REL.txt", "wordsim_relatedness_goldstandard.txt"),
        citation="Agirre et al. (2009), A study on similarity and relatedness using distributional and "
        "WordNet-based approaches",
        licence="CC BY 4.0, as WS-353",
        home="http://alfonseca.org/eng/research/wordsim353.html",
        address=_COLLECTION + "EN-WS-353-REL.txt",
        sha256="66a7c88100624d0a391605ff61ce84e11d11ee620d51ec0298da49592838f8fa",
    ),
    DataSet(
        name="MTURK-287",
        aliases=("mturk287", "mturk"),
        files=("EN-MTurk-287.txt", "Mtruk.csv", "Mturk.csv"),
        citation="Radinsky et al. (2011), A word at a time: computing word relatedness using temporal "
        "semantic analysis",
        licence="free for research; none stated",
        home="http://www.kiraradinsky.com/files/Mtruk.csv",
        address=_COLLECTION + "EN-MTurk-287.txt",
        sha256="a9ae3a9decb75a9700fe0cf18b048c1344774d9f40e0196baf8e34d4cd9d1ce5",
    ),
    DataSet(
        name="MTURK-771",
        aliases=("mturk771", "mturk717"),  # the paper prints 717
        files=("EN-MTurk-771.txt", "MTURK-771.csv"),
        citation="Halawi et al. (2012), Large-scale learning of word relatedness with constraints",
        licence="CC BY 4.0",
        home="http://www2.mta.ac.il/~gideon/mturk771.html",
        address=_COLLECTION + "EN-MTurk-771.txt",
        sha256="04dc297c9e86b6fa7cf8ef0e4ba2e2c8d3399ec68d92fb7a53c0b4aae27198b5",
    ),
    DataSet(
        name="RG-65",
        aliases=("rg65", "rg"),
        files=("EN-RG-65.txt", "rg65.csv", "RG65.csv"),
        citation="Rubenstein & Goodenough (1965), Contextual correlates of synonymy",
        licence="figures printed in the article; none stated",
        home="https://dl.acm.org/doi/10.1145/365628.365657",
        address=_COLLECTION + "EN-RG-65.txt",
        sha256="c243f3a91c3f5d8cf67f21a67f6fb80bde8b6bb060851a6a48e6f2d68ec98c9f",
    ),
    DataSet(
        name="MEN",
        aliases=("men", "men3k", "mentr3k"),
        files=("EN-MEN-TR-3k.txt", "MEN_dataset_natural_form_full", "MEN_dataset_lemma_form_full"),
        citation="Bruni, Tran & Baroni (2014), Multimodal distributional semantics",
        licence="CC BY 2.0",
        home="https://staff.fnwi.uva.nl/e.bruni/MEN",
        address=_COLLECTION + "EN-MEN-TR-3k.txt",
        sha256="888b13580faa362c7b11da0a670258cf1b1eb4bf0ecbcd418918729a3bd3f43a",
        use="report; odd lines tuned on",
    ),
    DataSet(
        name="SimLex-999",
        aliases=("simlex999", "simlex"),
        files=("SimLex-999.txt", "SimLex-999/SimLex-999.txt", "EN-SIMLEX-999.txt", "simlex999.txt"),
        citation="Hill, Reichart & Korhonen (2015), SimLex-999: evaluating semantic models with (genuine) "
        "similarity estimation",
        licence="free for research; none stated",
        home="https://fh295.github.io/simlex.html",
        address=_COLLECTION + "EN-SIMLEX-999.txt",
        sha256="405394ffb7d25f6d0e3c041f87c9f27d29dc6b047506769953e85c4523b11685",
        packaged=(("gensim", "test/test_data/simlex999.txt"),),
        use=TUNED_ON,
    ),
    DataSet(
        name="Card-660",
        aliases=("card660", "card"),
        files=("EN-CARD-660.txt",),
        citation="Pilehvar et al. (2018), Card-660: Cambridge rare word dataset",
        licence="free for research; none stated",
        home="https://pilehvar.github.io/card-660/",
        use=TUNED_ON,
    ),
    DataSet(
        name="Google analogies",
        aliases=("analogies", "google", "googleanalogies", "questionswords"),
        files=("questions-words.txt",),
        citation="Mikolov et al. (2013), Efficient estimation of word representations in vector space",
        licence="Apache 2.0",
        home="https://code.google.com/archive/p/word2vec/",
        address="https://raw.githubusercontent.com/tmikolov/word2vec/master/questions-words.txt",
        sha256="8c29b3332afc46f3fb8be04cb5297bf96f39aa7131272dff57869b4485b22a36",
        packaged=(("gensim", "test/test_data/questions-words.txt"),),
        kind="analogies",
    ),
    DataSet(
        name="SEMCAT",
        aliases=("semcat",),
        files=("semcat.tsv",),
        citation="Senel et al. (2018), Semantic structure and interpretability of word embeddings",
        licence="free for research; none stated",
        home="https://github.com/avaapm/SEMCATdataset2018",
        kind="categories",
        use=TUNED_ON,
    ),
    DataSet(
        name="AP",
        aliases=("ap", "almuharebpoesio"),
        files=("ap.tsv",),
        citation="Almuhareb & Poesio (2005), Concept learning and categorization from the web",
        licence="free for research; none stated",
        home="https://github.com/vecto-ai/word-benchmarks",
        kind="categories",
    ),
    DataSet(
        name="ESSLLI-2008",
        aliases=("esslli", "esslli2008"),
        files=("esslli-2008.tsv",),
        citation="Baroni, Evert & Lenci (2008), ESSLLI workshop on distributional lexical semantics",
        licence="free for research; none stated",
        home="https://github.com/vecto-ai/word-benchmarks",
        kind="categories",
    ),
)
_MEN = next(known for known in DATA_SETS if known.name == "MEN")
DATA_SETS += (
    replace(_MEN, name="MEN, odd lines", aliases=("menodd",), use=TUNED_ON, lines="odd"),
    replace(_MEN, name="MEN, even lines", aliases=("meneven",), use=REPORT, lines="even"),
)

#: The five sets of the paper's Table 1, in its order.
PAPER_SETS = ("WS-353", "MTURK-287", "MTURK-771", "RG-65", "MEN")
PAIR_SETS = tuple(known.name for known in DATA_SETS if known.kind == "pairs")
CATEGORY_SETS = tuple(known.name for known in DATA_SETS if known.kind == "categories")
_MEASURED_BY = {
    "pairs": "use `omnitm evaluate similarity`",
    "analogies": "use `omnitm evaluate analogies`",
    "categories": "use `omnitm evaluate categories`",
}


def data_set(name: str, kind: str | None = None) -> DataSet:
    """Find a set by its name, an alias or a file name; refuse one of another kind than asked for.

    >>> data_set("simlex").name
    'SimLex-999'
    """
    found = known_set(name)
    if found is None:
        names = ", ".join(repr(known.name) for known in DATA_SETS)
        raise ParameterError(f"{name!r} is neither a known data set nor a file; known are {names}.")
    if kind not in {None, found.kind}:
        raise FileError(found.name, f"is a set of {found.kind}, not of {kind}; {_MEASURED_BY[found.kind]}")
    return found


def known_set(name: str) -> DataSet | None:
    """Find a set by its name, an alias or a file name; None if there is no such set."""
    return named(name, DATA_SETS) or next((known for known in DATA_SETS if name in known.files), None)


def named(name: str, sets: Iterable[Named]) -> Named | None:
    """Find one of some sets by its name or an alias, whatever its case, spaces, `-` and `_`."""
    wanted = _plain(name)
    return next((known for known in sets if wanted in {_plain(known.name), *known.aliases}), None)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def locate(known: DataSet, data: str | Path | None = None, *, download: bool = False) -> Path:
    """Find the file of a data set.

    Looks into `data` (or the folder named by OMNITM_DATA) and its sub-folders `wordsim` and `categories`,
    then into installed packages, then into the user's cache, and asks the network only if it may.

    Parameters
    ----------
    data
        Folder to look into; None: the folder named by OMNITM_DATA, if any.
    download
        Whether the network may be asked.
    """
    folder = data_folder(data)
    found = _in_folder(known, folder) or _in_packages(known) or _in_cache(known)
    if found:
        return found
    problem = "it was not downloaded (add --download to fetch it)"
    if known.address is None:
        problem = "it is nowhere to download in this form"
    elif download:
        try:
            return _download(known, known.address)
        except (OSError, ValueError) as error:
            problem = f"{known.address} cannot be reached ({getattr(error, 'reason', None) or error})"
    places = (
        f"{folder} and its sub-folders wordsim and categories"
        if folder
        else f"no folder was given, {DATA_VARIABLE} is not set"
    )
    raise FileError(
        known.files[0],
        f"the data set {known.name} is not here ({places}), in no installed package, and {problem}; "
        f"get it from {known.home}, put it into a folder DIR as {known.files[0]}, and add --data DIR",
    )


def data_folder(data: str | Path | None) -> Path | None:
    """Return the folder with data: the one given, or the one that OMNITM_DATA names."""
    if data is None:
        named = os.environ.get(DATA_VARIABLE)
        return Path(named) if named else None
    folder = Path(data)
    if not folder.is_dir():
        raise FileError(folder, "is not a folder; --data needs the folder that holds the data sets")
    return folder


def cache_folder() -> Path:
    """Return the folder where downloaded sets are kept."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "omnitm" / "data"


def _in_folder(known: DataSet, folder: Path | None) -> Path | None:
    if folder is None:
        return None
    places = (folder / sub / name for name in known.files for sub in _SUBFOLDERS)
    return next((place for place in places if place.is_file()), None)


def _in_packages(known: DataSet) -> Path | None:
    for package, inside in known.packaged:
        spec = importlib.util.find_spec(package)  # finds the folder without importing the package
        for place in (spec.submodule_search_locations if spec else None) or ():
            if (Path(place) / inside).is_file():
                return Path(place) / inside
    return None


def _in_cache(known: DataSet) -> Path | None:
    path = cache_folder() / known.files[0]
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == known.sha256:
        return path
    return None


def _download(known: DataSet, address: str) -> Path:
    """Fetch a set into the cache; only the very content that is known counts."""
    import urllib.error
    import urllib.request

    request = urllib.request.Request(address, headers={"User-Agent": "omnitm"})  # noqa: S310 - our own list
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - our own list
        content: bytes = answer.read(_LARGEST)
    found = hashlib.sha256(content).hexdigest()
    if found != known.sha256:
        raise ValueError(
            f"it gave other content: SHA-256 {found[:12]}..., expected {str(known.sha256)[:12]}..."
        )
    path = cache_folder() / known.files[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, content)
    return path


_WANTED = "expected two words and a score, separated by tabs, commas, semicolons or spaces"
_PARTS_OF_SPEECH = {"n": "noun", "v": "verb", "a": "adjective", "j": "adjective", "r": "adverb"}


@dataclass(frozen=True, eq=False)
class WordPairs:
    """Pairs of words and how near people find them.

    Attributes
    ----------
    name
        What tables call the set.
    first, second
        The words of each pair, as they are spelt in the file.
    scores
        Human judgements; higher is nearer.
    parts_of_speech
        "noun", "verb", "adjective" or "adverb" for each pair, if the file says so; else None.
    """

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    scores: NDArray[np.float64]
    parts_of_speech: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.first)

    def every_second(self, start: int) -> WordPairs:
        """Take every second pair, from the first (0) or the second (1) on."""
        kinds = self.parts_of_speech
        part = slice(start, None, 2)
        return WordPairs(
            self.name, self.first[part], self.second[part], self.scores[part], kinds and kinds[part]
        )


def load_pairs(source: str | Path, data: str | Path | None = None, *, download: bool = False) -> WordPairs:
    """Read a published set by its name, or any file of pairs.

    Parameters
    ----------
    source
        Name of a set, such as "WS-353" or "simlex", or the path of a file: two words and a score per line.
    data
        Folder with the published sets, see `omnitm.evaluation.datasets.locate`.
    """
    if known_set(str(source)) is None and Path(source).is_file():
        return read_pairs(Path(source))
    known = data_set(str(source), "pairs")
    pairs = read_pairs(locate(known, data, download=download), known.name)
    return pairs if known.lines is None else pairs.every_second(0 if known.lines == "odd" else 1)


def read_pairs(path: str | Path, name: str | None = None) -> WordPairs:
    """Read a table of word pairs: tabs, commas, semicolons or spaces, with or without a header.

    A column between the words and the score, and endings such as in `run-v`, are taken for parts of speech.
    """
    path = Path(path)
    rows = _split(path, read_text(path))
    if not rows:
        raise FileError(path, f"has no pairs; {_WANTED}")
    column = _score_column(rows[0][1])
    if column is None:  # the first line is a header
        rows = rows[1:]
        column = _score_column(rows[0][1]) if rows else 2
    if column is None:
        raise FileError(path, f"line {rows[0][0]}: {_shown(rows[0][1])} has no score; {_WANTED}")
    checked = [_pair(path, number, fields, column) for number, fields in rows]
    if not checked:
        raise FileError(path, f"has a header but no pairs; {_WANTED}")
    kinds = tuple(_PARTS_OF_SPEECH.get(fields[2].strip().lower(), "other") for _, fields in rows)
    first, second = [pair[0] for pair in checked], [pair[1] for pair in checked]
    tagged = _parts_of_tagged(first, second)
    if tagged:
        first, second = [word[:-2] for word in first], [word[:-2] for word in second]
    scores = np.array([pair[2] for pair in checked])
    return WordPairs(name or path.stem, tuple(first), tuple(second), scores, kinds if column > 2 else tagged)


def spelling(word: str, knows: Callable[[str], bool]) -> str | None:
    """Return a word as a vocabulary spells it: as it is, or in lower case; None if it has neither."""
    return next((form for form in (word, word.lower()) if knows(form)), None)


def scores_of_all_pairs(
    pairs: WordPairs,
    vocabulary: Sequence[str],
    rows_of: Callable[[Sequence[str]], Iterable[NDArray[np.floating[Any]]]],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Score all pairs of a set, unknown words included; also returns which pairs are known.

    An expression such as `formic_acid` that is no word of the vocabulary is scored by its known parts: the
    mean over all pairs of parts. A pair with a word of which nothing is known gets the mean of known pairs.

    Parameters
    ----------
    rows_of
        For some words, a row of scores each, in the order of `vocabulary`.
    """
    places = {word: place for place, word in enumerate(vocabulary)}
    parts = {word: _known_parts(word, places) for word in {*pairs.first, *pairs.second}}
    wanted = sorted({part for word in pairs.first for part in parts[word]}, key=places.__getitem__)
    others: dict[str, set[str]] = {}
    for first, second in zip(pairs.first, pairs.second, strict=True):
        for part in parts[first]:
            others.setdefault(part, set()).update(parts[second])
    found = {
        word: {other: float(row[places[other]]) for other in others[word]}
        for word, row in zip(wanted, rows_of(wanted), strict=True)
    }
    scores = np.full(len(pairs), np.nan)
    for number, (first, second) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        if parts[first] and parts[second]:
            scores[number] = np.mean([found[a][b] for a in parts[first] for b in parts[second]])
    known = np.isfinite(scores)
    scores[~known] = scores[known].mean() if known.any() else 0.0
    return scores, known


def _known_parts(word: str, places: Mapping[str, int]) -> list[str]:
    """Return the word itself as the vocabulary spells it, or the known parts of an expression."""
    whole = spelling(word, places.__contains__)
    if whole is not None:
        return [whole]
    parts = (spelling(part, places.__contains__) for part in word.split("_"))
    return [part for part in parts if part is not None]


def _split(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """Split lines into fields by the first separator that the file uses; lines keep their numbers."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    separator = next((mark for mark in "\t,;" if lines and mark in lines[0][1]), None)
    if separator is None:
        return [(number, line.split()) for number, line in lines]
    try:
        return [
            (number, next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True)))
            for number, line in lines
        ]
    except csv.Error as error:
        raise FileError(path, f"has a line that is no table row ({error}); {_WANTED}") from None


def _score_column(fields: list[str]) -> int | None:
    return next((column for column in range(2, len(fields)) if _number(fields[column]) is not None), None)


def _pair(path: Path, number: int, fields: list[str], column: int) -> tuple[str, str, float]:
    score = _number(fields[column]) if len(fields) > column else None
    words = [field.strip() for field in fields[:2]]
    if score is None or not all(words):
        raise FileError(path, f"line {number}: {_shown(fields)} is not a pair; {_WANTED}")
    if not math.isfinite(score):
        raise FileError(path, f"line {number}: the score {fields[column]!r} is not a finite number")
    return words[0], words[1], score


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _shown(fields: list[str]) -> str:
    text = " ".join(fields)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _parts_of_tagged(first: list[str], second: list[str]) -> tuple[str, ...] | None:
    """Read parts of speech from words like `run-v`, if all words have such an ending."""
    if not all(re.fullmatch(r".+-[nvjra]", word) for word in [*first, *second]):
        return None
    kinds = ((_PARTS_OF_SPEECH[a[-1]], _PARTS_OF_SPEECH[b[-1]]) for a, b in zip(first, second, strict=True))
    return tuple(a if a == b else "mixed" for a, b in kinds)
