"""Labelled documents: the published collections by name, and files of one's own."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from omnitm.corpus.reading import PACKED_SUFFIXES, Reading, SourceStream
from omnitm.errors import FileError, ParameterError
from omnitm.evaluation.datasets import DATA_VARIABLE, data_folder, named
from omnitm.parameters import check_integer


@dataclass(frozen=True)
class DocumentSet:
    """A published collection of labelled documents.

    Attributes
    ----------
    name, aliases
        What tables call it, and other spellings; case, spaces, `-` and `_` never matter.
    file
        File name, without the ending of an archive.
    label
        The field that holds the label; "first topic" is a rule of its own, see `labelled`.
    what
        What the labels are, and which documents count.
    citation, licence, home
        Whose work it is, under which terms, and where to get it.
    paper
        Labels and documents of the paper's set of that name.
    difference
        How this set differs from the paper's.
    """

    name: str
    aliases: tuple[str, ...]
    file: str
    label: str
    what: str
    citation: str
    licence: str
    home: str
    paper: tuple[int, int] | None
    difference: str


FIRST_TOPIC = "first topic"

DOCUMENT_SETS: tuple[DocumentSet, ...] = (
    DocumentSet(
        name="20 Newsgroups",
        aliases=("20news", "20newsgroups", "news20", "newsgroups"),
        file="20news.jsonl",
        label="label",
        what="messages by newsgroup, split by date, headers kept",
        citation="Lang (1995), NewsWeeder: learning to filter netnews",
        licence="none stated",
        home="http://qwone.com/~jason/20Newsgroups/",
        paper=(20, 18_846),
        difference="the paper's numbers are those of this version",
    ),
    DocumentSet(
        name="Reuters",
        aliases=("reuters", "reuters21578"),
        file="reuters21578.jsonl",
        label=FIRST_TOPIC,
        what="ModApte's training and test documents, by the first (in the alphabet) of their topics that "
        "occur in both parts",
        citation="Lewis (1997), Reuters-21578 text categorization test collection",
        licence="research use only",
        home="http://www.daviddlewis.com/resources/testcollections/reuters21578/",
        paper=(79, 10_788),
        difference="the paper does not say how a document with several topics is labelled; this rule gives "
        "its 79 labels, and one document more than it has",
    ),
    DocumentSet(
        name="Yelp",
        aliases=("yelp",),
        file="yelp.jsonl",
        label="label",
        what="reviews by business",
        citation="Yelp (2013), Kaggle's sample yelp.csv",
        licence="Yelp's terms of use",
        home="https://www.kaggle.com/c/yelp-recsys-2013",
        paper=(11_537, 229_907),
        difference="the paper's set has 23 times as many reviews and 2.8 times as many businesses; more than "
        "half of ours have a single review, which lifts every model's NMI",
    ),
    DocumentSet(
        name="Amazon",
        aliases=("amazon",),
        file="amazon.jsonl",
        label="label",
        what="reviews by product name; those without one are left out",
        citation="Datafiniti, consumer reviews of Amazon products",
        licence="CC BY-NC-SA 4.0",
        home="https://www.kaggle.com/datasets/datafiniti/consumer-reviews-of-amazon-products",
        paper=(30, 21_000),
        difference="another collection: the paper's has 30 categories of products, ours is nearly all "
        "tablets and speakers by Amazon itself, so that its figures cannot be compared",
    ),
    DocumentSet(
        name="AG News",
        aliases=("agnews", "ag"),
        file="agnews.jsonl",
        label="label",
        what="title and lead by section (world, sports, business, science)",
        citation="Zhang, Zhao & LeCun (2015), Character-level convolutional networks for text classification",
        licence="research use only",
        home="http://groups.di.unipi.it/~gulli/AG_corpus_of_news_articles.html",
        paper=(5, 120_001),
        difference="the official test set and 8,791 training rows; the paper's 120,001 rows and fifth label "
        "count the header of the training file",
    ),
    DocumentSet(
        name="IMDb",
        aliases=("imdb", "aclimdb"),
        file="imdb.jsonl",
        label="label",
        what="film reviews, positive or negative, with the official split",
        citation="Maas et al. (2011), Learning word vectors for sentiment analysis",
        licence="none stated",
        home="https://ai.stanford.edu/~amaas/data/sentiment/",
        paper=None,
        difference="the paper takes Keras' copy, already cut into the 20,000 most frequent tokens",
    ),
)  # fmt: skip

#: The five sets of the paper's Table 3, in its order.
CLUSTERING_SETS = ("20 Newsgroups", "Reuters", "Yelp", "Amazon", "AG News")


def document_set(name: str) -> DocumentSet:
    """Find a set by its name or an alias.

    >>> document_set("20news").name
    '20 Newsgroups'
    """
    found = named(name, DOCUMENT_SETS)
    if found is None:
        names = ", ".join(repr(known.name) for known in DOCUMENT_SETS)
        raise ParameterError(f"{name!r} is neither a known set of documents nor a file; known are {names}.")
    return found


_SUBFOLDERS = ("", "documents")
_WANTED = "expected CSV or TSV with a header, or JSON Lines, with a text and a label in each row"
_PIECE = 1 << 20


@dataclass(frozen=True, eq=False)
class LabelledDocuments:
    """Texts with a label each.

    Attributes
    ----------
    name
        What tables call the set.
    texts, labels
        One of each per document.
    splits
        "train" or "test" for each document, if the file says so; else None.
    notes
        What a reader of the results should know about the set.
    """

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    splits: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_labels(self) -> int:
        """Number of different labels."""
        return len(set(self.labels))

    def part(self, split: str) -> LabelledDocuments:
        """Return the documents of a split."""
        kept = [k for k, name in enumerate(self.splits or ()) if name == split]
        if not kept:
            there = ", ".join(map(repr, sorted(set(self.splits or ())))) or "no splits"
            raise ParameterError(
                f"{self.name} has no documents of the split {split!r} (it has {there}); a field 'split' with "
                "'train' and 'test' must say which documents are for testing."
            )
        return self._only(kept)

    def sample(self, limit: int | None, seed: int = 0) -> LabelledDocuments:
        """Draw at most `limit` documents, in their order; None: all."""
        if limit is None or len(self) <= check_integer("sample", "limit", limit, 1):
            return self
        kept = np.sort(np.random.default_rng(seed).permutation(len(self))[:limit])
        drawn = self._only(kept.tolist())
        note = f"{self.name}: {limit:,} of its {len(self):,} documents were drawn at random (seed {seed})"
        return replace(drawn, notes=(*drawn.notes, note))

    def _only(self, kept: list[int]) -> LabelledDocuments:
        return replace(
            self,
            texts=tuple(self.texts[k] for k in kept),
            labels=tuple(self.labels[k] for k in kept),
            splits=None if self.splits is None else tuple(self.splits[k] for k in kept),
        )


def load_documents(
    source: str | Path,
    data: str | Path | None = None,
    *,
    text_field: str = "text",
    label_field: str | None = None,
) -> LabelledDocuments:
    """Read a published set by its name, or any file of labelled documents.

    Parameters
    ----------
    source
        Name of a set, such as "20news", or the path of a CSV, TSV or JSON Lines file, packed or not.
    data
        Folder with the published sets, or whose sub-folder `documents` has them; None: $OMNITM_DATA.
    text_field, label_field
        Fields of a file; the label's is "label" if none is named.
    """
    if named(str(source), DOCUMENT_SETS) is None and Path(source).is_file():
        return read_documents(Path(source), text_field=text_field, label_field=label_field or "label")
    known = document_set(str(source))
    found = read_documents(locate_documents(known, data), label_field=known.label, name=known.name)
    return replace(found, notes=(_described(known, found), *found.notes))


def read_documents(
    path: str | Path, *, text_field: str = "text", label_field: str = "label", name: str | None = None
) -> LabelledDocuments:
    """Read labelled documents; rows without a label are left out and counted in the notes."""
    path = Path(path)
    rows = list(_rows(path))
    if not rows:
        raise FileError(path, f"has no documents; {_WANTED}")
    fields = {"labels" if label_field == FIRST_TOPIC else label_field, text_field}
    missing = sorted(fields - set(rows[0]))
    if missing:
        raise FileError(path, f"has no field {missing[0]!r}, only {', '.join(map(repr, rows[0]))}; {_WANTED}")
    labels = _first_topics(rows) if label_field == FIRST_TOPIC else [_label(row, label_field) for row in rows]
    kept = [k for k, label in enumerate(labels) if label]
    name = name or path.name.split(".")[0]
    if len({labels[k] for k in kept}) < 2:
        found = f"only the label {labels[kept[0]]!r}" if kept else "no labels"
        raise FileError(path, f"has {found} in {label_field!r}; at least two different ones are needed")
    dropped = len(rows) - len(kept)
    return LabelledDocuments(
        name,
        tuple(str(rows[k].get(text_field) or "") for k in kept),
        tuple(labels[k] for k in kept),
        tuple(str(rows[k].get("split") or "") for k in kept) if "split" in rows[0] else None,
        (f"{name}: {dropped:,} documents without a label that counts are left out",) if dropped else (),
    )


def locate_documents(known: DocumentSet, data: str | Path | None = None) -> Path:
    """Find the file of a published set; an error says where to put it."""
    folder = data_folder(data)
    names = [known.file + ending for ending in ("", *PACKED_SUFFIXES)]
    if folder is not None:
        for place in (folder / sub / name for sub in _SUBFOLDERS for name in names):
            if place.is_file():
                return place
    where = (
        f"in {folder} or {folder}/documents" if folder else f"here: no --data, and {DATA_VARIABLE} is not set"
    )
    raise FileError(
        known.file,
        f"the documents {known.name} are not {where}; get them from {known.home}, write a JSON object "
        f"with 'text' and '{'labels' if known.label == FIRST_TOPIC else known.label}' per line into "
        f"DIR/documents/{known.file}, and add --data DIR",
    )


def _described(known: DocumentSet, found: LabelledDocuments) -> str:
    ours = f"{known.name}: {known.what}; {len(found):,} documents, {found.n_labels:,} labels"
    paper = f" (paper: {known.paper[1]:,}, {known.paper[0]:,})" if known.paper else ""
    return f"{ours}{paper}; {known.difference}"


def _label(row: dict[str, Any], field: str) -> str:
    value = row.get(field)
    return "" if value is None else str(value).strip()


def _first_topics(rows: list[dict[str, Any]]) -> list[str]:
    """Label Reuters documents: see `DocumentSet.what`."""
    used: dict[str, Counter[str]] = {"train": Counter(), "test": Counter()}
    for row in rows:
        if row.get("split") in used:
            used[row["split"]].update(_topics(row))
    both = set(used["train"]) & set(used["test"])
    return [
        min((topic for topic in _topics(row) if topic in both), default="")
        if row.get("split") in used
        else ""
        for row in rows
    ]


def _topics(row: dict[str, Any]) -> list[str]:
    return [str(topic) for topic in row.get("labels") or ()]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    text = _text_of(path)
    kind = Reading().format_of(path)
    if kind in {"csv", "tsv"}:
        csv.field_size_limit(sys.maxsize)
        yield from csv.DictReader(io.StringIO(text), delimiter="," if kind == "csv" else "\t")
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _json_row(path, number, line)


def _json_row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise FileError(path, f"line {number}: {line[:60]!r} is not a JSON object; {_WANTED}")
    return row


def _text_of(path: Path) -> str:
    parts = []
    with SourceStream(path) as stream:
        while n := stream.readinto(piece := memoryview(bytearray(_PIECE))):
            parts.append(bytes(piece[:n]))
    try:
        return b"".join(parts).decode("utf-8-sig")  # with or without the mark that Excel puts first
    except UnicodeDecodeError as error:
        raise FileError(
            path, f"is not UTF-8 at byte {error.start}; convert it: iconv -f LATIN1 -t UTF-8 OLD > NEW"
        ) from None
