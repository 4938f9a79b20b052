"""Words in groups, maps of them (the paper's t-SNE figure), and how well the groups separate."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.results import PlainTable
from omnitm.files.plain import read_file
from omnitm.parameters import check_integer
from omnitm.vectors.document_vectors import dense_rows

if TYPE_CHECKING:
    from omnitm.vectors.word_vectors import WordVectors

#: Groups as the paper names them (its section on clustering). It prints only a few of its 130 words
#: (computer, internet, robot; engineer; partner; those are here); the others are our own choice.
WORD_GROUPS = {
    name: tuple(words.split())
    for name, words in (
        line.split(": ")
        for line in """\
emotions: happy sad angry afraid joy love hate pride grief hope
professions: doctor teacher engineer lawyer nurse journalist architect scientist artist farmer
nature: tree river mountain forest ocean flower rain desert lake storm
technology: computer internet robot software network phone camera digital machine data
relationships: mother father sister brother friend wife husband partner daughter marriage
food: bread cheese meat rice fruit sugar soup wine milk vegetable
geography: country city continent island border capital region europe africa coast
abstract concepts: freedom justice truth knowledge time idea reason beauty morality existence
animals: dog cat horse lion elephant bird fish wolf snake monkey
vehicles: car truck bus train airplane bicycle motorcycle ship helicopter boat
sports: football basketball tennis baseball hockey golf swimming boxing rugby cricket
royalty and leadership: king queen prince princess emperor president minister duke throne leader
miscellaneous: music book house money war school color door hospital election""".splitlines()
    )
}

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


NEIGHBOURS = 10
_PERPLEXITY, _LEARNING_RATE, _ITERATIONS = 30.0, 200.0, 2_000  # the paper's
PAPER_SEED = 42
_EXACT = 500  # words; few enough to compare all pairs in every step


@dataclass(frozen=True)
class Separation:
    """How well groups separate.

    Attributes
    ----------
    silhouette
        From -1 to 1; above 0 words are nearer to their own group than to the next one.
    purity
        Share of the 10 nearest neighbours of a word that are of its own group, mean over words.
    highest_purity
        The purity of a perfect separation: a group of ten leaves only nine neighbours.
    chance_purity
        What neighbours drawn at random would give.
    """

    silhouette: float
    purity: float
    highest_purity: float
    chance_purity: float


@dataclass(frozen=True, eq=False)
class WordMap:
    """Words of groups on a plane; row k of `positions` is `words[k]`, which is in `groups[k]`.

    `unknown` are words that the model does not know, `alone` those that it knows as the only ones of their
    group, which is left out.
    """

    model: str
    words: tuple[str, ...]
    groups: tuple[str, ...]
    positions: NDArray[np.float32]
    original: Separation
    on_map: Separation
    unknown: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Write everything as JSON."""
        content = {**asdict(self), "positions": self.positions.tolist()}
        return json.dumps({"kind": "omnitm word map", "version": 1, **content}, indent=2)


def map_words(
    vectors: WordVectors,
    groups: Mapping[str, tuple[str, ...]],
    *,
    name: str = "model",
    seed: int = PAPER_SEED,
    raw: bool = False,
) -> WordMap:
    """Lay words out by t-SNE with the paper's settings, and measure how well their groups separate.

    Words are compared by the cosine of the rows that documents are made of, see `dense_rows`; if `raw`, as in
    the paper: by the distance of the vectors as they are.
    """
    check_integer("map_words", "seed", seed, 0, 2**32 - 1)
    known, unknown = known_groups(groups, vectors.key_to_index)
    words = [word for members in known.values() for word in members]
    labels = [group for group, members in known.items() for _ in members]
    wanted = (word for members in groups.values() for word in members)
    alone = tuple(word for word in wanted if word not in {*words, *unknown})
    places = [vectors.get_index(word) for word in words]
    rows = vectors.matrix[places].astype(np.float32) if raw else dense_rows(vectors)[places]
    positions = _arranged(rows, seed)
    return WordMap(
        name,
        tuple(words),
        tuple(labels),
        positions,
        separation(rows, labels),
        separation(positions, labels),
        tuple(unknown),
        alone,
    )


def separation(rows: NDArray[Any], labels: list[str]) -> Separation:
    """Measure how well groups separate, by Euclidean distance; of unit rows that is by cosine."""
    from sklearn.metrics import pairwise_distances, silhouette_score

    distances = pairwise_distances(rows.astype(np.float64))
    np.fill_diagonal(distances, 0.0)
    silhouette = float(silhouette_score(distances, labels, metric="precomputed"))
    np.fill_diagonal(distances, np.inf)
    count = min(NEIGHBOURS, len(labels) - 1)
    names = np.array(labels)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :count]
    purity = float((names[nearest] == names[:, None]).mean())
    others = (names[:, None] == names).sum(axis=1) - 1
    highest = float(np.minimum(others, count).mean()) / count
    return Separation(silhouette, purity, highest, float(others.mean()) / (len(labels) - 1))


def separation_table(maps: list[WordMap]) -> PlainTable:
    """Make one table of several models' maps."""
    header = ["model", "words", "groups", "silhouette", "on the map", "10-nearest purity", "on the map"]
    table = PlainTable("How well groups of words separate", header)
    for found in maps:
        figures = (
            found.original.silhouette,
            found.on_map.silhouette,
            found.original.purity,
            found.on_map.purity,
        )
        counts = (str(len(found.words)), str(len(set(found.groups))))
        table.rows.append([found.model, *counts, *(f"{figure:.3f}" for figure in figures)])
    bounds = [f"{found.original.highest_purity:.3f} / {found.original.chance_purity:.3f}" for found in maps]
    for bound in dict.fromkeys(bounds):
        whose = [found.model for found, own in zip(maps, bounds, strict=True) if own == bound]
        name = "highest / by chance" + (f", {', '.join(whose)}" if len(whose) < len(maps) else "")
        table.rows.append([name, "", "", "1.000", "1.000", bound, bound])
    return table


def _arranged(rows: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    from sklearn.manifold import TSNE

    # scikit-learn 1.5 gave `n_iter` its new name
    iterations = "max_iter" if "max_iter" in inspect.signature(TSNE).parameters else "n_iter"
    layout = TSNE(
        n_components=2,
        perplexity=min(_PERPLEXITY, (len(rows) - 1) / 3),
        learning_rate=_LEARNING_RATE,
        random_state=seed,
        init="pca" if min(rows.shape) >= 2 else "random",
        method="exact" if len(rows) <= _EXACT else "barnes_hut",
        **{iterations: _ITERATIONS},
    )
    positions: NDArray[np.float32] = layout.fit_transform(rows)
    return positions
