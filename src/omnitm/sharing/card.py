"""The model card: what a model is, made of and good for, in Markdown that model hubs show.

It is made again when the model, or what is said about it, changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import NoneType
from typing import Any

from omnitm.errors import FileError, ParameterError, nearest_spellings
from omnitm.store.model_notes import CARD, read_facts, write_card
from omnitm.store.packed import is_packed, read_packed
from omnitm.store.record import plain_settings
from omnitm.vectors.word_vectors import WordVectors

_TAGS = ("word-embeddings", "tsetlin-machine", "interpretability")
_NAME, _LOAD = "Word vectors", 'WordVectors.load(".")  # the path of this folder'
_LICENSES = (
    "mit apache-2.0 cc-by-4.0 cc-by-sa-4.0 cc0-1.0 bsd-3-clause bsd-2-clause gpl-3.0 gpl-2.0 lgpl-3.0 "
    "lgpl-2.1 agpl-3.0 mpl-2.0 cc-by-3.0 cc-by-2.0 cc-by-sa-3.0 cc-by-nc-4.0 cc-by-nc-sa-4.0 "
    "cc-by-nc-nd-4.0 cc-by-nd-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 "
    "cc-by-nc-nd-3.0 cc bsd 0bsd bsd-3-clause-clear gpl lgpl gfdl gfdl-1.3 odc-by odbl pddl "
    "cdla-permissive-1.0 cdla-permissive-2.0 cdla-sharing-1.0 epl-1.0 epl-2.0 eupl-1.1 eupl-1.2 "
    "artistic-2.0 afl-3.0 bsl-1.0 ecl-2.0 isc lppl-1.3c ms-pl ncsa ofl-1.1 osl-3.0 postgresql "
    "unlicense wtfpl zlib openrail bigscience-openrail-m c-uda etalab-2.0 unknown other "
)
LICENSES = tuple(_LICENSES.split())
"""Identifiers as model hubs use them: those of SPDX in lower case, the most usual first."""
_SHOWN_WORDS, _SHOWN_NEIGHBOURS = 5, 5


@dataclass(frozen=True)
class CardFacts:
    """What only the owner of a model knows.

    Attributes
    ----------
    corpus
        The text that it was trained on, in a sentence.
    license
        Identifier of the licence, such as "mit" or "cc-by-sa-4.0"; None: not stated, so all rights are
        reserved.
    language
        Code of the language, such as "en".
    scores
        Results of evaluations: name and number.
    """

    corpus: str | None = None
    license: str | None = None
    language: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("corpus", "license", "language"):
            if not isinstance(getattr(self, name), (str, NoneType)):
                raise ParameterError(f"The {name!r} parameter must be text. Got {getattr(self, name)!r}.")
        if not isinstance(self.scores, Mapping):
            raise ParameterError(f"The 'scores' parameter must map names to numbers. Got {self.scores!r}.")
        for name, score in self.scores.items():
            if isinstance(score, bool) or not isinstance(score, (int, float)):
                raise ParameterError(
                    f"The 'scores' parameter must map names to numbers. Got {name}: {score!r}."
                )


def model_card(vectors: WordVectors, facts: CardFacts, *, name: str, load: str) -> str:
    """Write the card of a model.

    Parameters
    ----------
    name
        Heading of the card.
    load
        Line of Python that loads the model.
    """
    code = f"from omnitm import WordVectors\n\nvectors = {load}"
    parts = [
        "\n".join(_front_matter(facts)),
        f"# {_plain(name)}",
        _summary(vectors),
        f"## How to load\n\n```console\n$ pip install omnitm\n```\n\n```python\n{code}\n```",
        "\n".join(["## Corpus", "", _corpus(vectors, facts)]),
        _table("Settings", ("setting", "value"), _settings(vectors)),
        _vocabulary(vectors),
        _scores(facts),
        "\n".join(["## Licence", "", _plain(facts.license or "Not stated by the author of this model.")]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front_matter(facts: CardFacts) -> Iterator[str]:
    """Yield the part that hubs read; JSON strings are also YAML."""
    yield "---"
    yield "library_name: omnitm"
    if facts.license:
        yield f"license: {json.dumps(facts.license)}"
    if facts.language:
        yield f"language: {json.dumps(facts.language)}"
    yield "tags:"
    yield from (f"- {tag}" for tag in _TAGS)
    yield "---"


def _summary(vectors: WordVectors) -> str:
    kind = getattr(vectors.training, "model", "Omni TM-AE")
    text = f"Word vectors by {_plain(kind)}: {len(vectors):,} words x {vectors.vector_size:,} "
    if not vectors.has_named_features:
        return text + "dimensions. Compare them by cosine."
    text += "coordinates. Each coordinate is about a word of the vocabulary, so a vector can be read."
    if vectors.keep_top is not None:
        text += (
            f" Only the {vectors.keep_top:,} coordinates of each word that differ most from its baseline are "
            "kept; the others read as the baseline."
        )
    return text


def _corpus(vectors: WordVectors, facts: CardFacts) -> str:
    text = _plain(facts.corpus) if facts.corpus else "Not described by the author of this model."
    if vectors.training is not None:
        text += f"\n\nFingerprint of its index (SHA-256): `{vectors.training.index_fingerprint}`"
    return text


def _settings(vectors: WordVectors) -> list[tuple[str, str]]:
    record = vectors.training
    if record is None:
        return []
    rows = {**plain_settings(record), "seed": record.seed, "omnitm version": record.omnitm_version}
    if vectors.keep_top is not None:
        rows["keep_top"] = vectors.keep_top
    return [(name, str(value)) for name, value in rows.items()]


def _vocabulary(vectors: WordVectors) -> str:
    metric: Any = "association" if vectors.has_named_features else "cosine"
    rows = []
    for word in vectors.telling_words(_SHOWN_WORDS):
        nearest = vectors.similar_by_word(word, _SHOWN_NEIGHBOURS, metric=metric)
        rows.append((word, ", ".join(near for near, _ in nearest)))
    of = f"{len(vectors):,} trained words"
    if vectors.has_named_features:
        of += f" of a vocabulary of {vectors.vector_size:,}"
    head = f"## Vocabulary\n\n{of}."
    return head + ("\n\n" + _rows(("word", f"nearest by {metric}"), rows) if rows else "")


def _scores(facts: CardFacts) -> str:
    rows = [(name, f"{score:.4g}") for name, score in facts.scores.items()]
    if not rows:
        return "## Scores\n\nNone known."
    return _table("Scores", ("measure", "score"), rows)


def _table(title: str, head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    return f"## {title}\n\n{_rows(head, rows)}" if rows else ""


def _rows(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    lines += [f"| {_plain(name)} | {_plain(value)} |" for name, value in rows]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Write text so that Markdown shows it as it is: words and names are never markup."""
    line = " ".join(text.split())
    return "".join(f"&#{ord(letter)};" if letter in "<>&|`*_[]#\\$~!" else letter for letter in line)


def keep_card(vectors: WordVectors, folder: Path, facts: CardFacts | None = None) -> None:
    """Write the card of a model into its folder; one that somebody has edited is left as it is.

    Parameters
    ----------
    facts
        What is said about the model; None: what its card says already.
    """
    facts = kept_facts(folder) if facts is None else facts
    write_card(folder, model_card(vectors, facts, name=_NAME, load=_LOAD), facts_as_json(facts))


def make_card(vectors: WordVectors, folder: Path, facts: CardFacts, *, force: bool = False) -> Path:
    """Write the card of a model as its owner asks for; refuse to replace one that was edited by hand."""
    text = model_card(vectors, facts, name=_NAME, load=_LOAD)
    if not write_card(folder, text, facts_as_json(facts), force=force):
        raise FileError(folder / CARD, "was edited by hand; go on so, or replace it with --force")
    return folder / CARD


def kept_facts(model: Path | None) -> CardFacts:
    """Return what is said about a model in its card, or in the file that it is packed in."""
    if model is None:
        return CardFacts()
    found = read_packed(model).card if is_packed(model) else read_facts(model)
    known = {field.name for field in fields(CardFacts)}
    try:
        return CardFacts(**{name: value for name, value in found.items() if name in known})
    except (ParameterError, AttributeError):
        return CardFacts()  # of another version, or edited


def updated_facts(facts: CardFacts, **given: Any) -> CardFacts:
    """Return facts with some of them said anew; None leaves what was said."""
    check_license(given.get("license"))
    return replace(facts, **{name: value for name, value in given.items() if value is not None})


def check_license(identifier: object) -> None:
    """Refuse what is no identifier of a licence; model hubs would not understand it."""
    if not isinstance(identifier, str) or identifier.lower() in LICENSES:
        return
    near = nearest_spellings(identifier, LICENSES, 3)
    meant = f"; did you mean {' or '.join(near)}?" if near else "."
    wanted = "an identifier such as mit or cc-by-4.0, or 'other'"
    raise ParameterError(f"The 'license' parameter must be {wanted}. Got {identifier!r}{meant}")


def facts_as_json(facts: CardFacts) -> dict[str, Any]:
    """Return what is known as an object of JSON."""
    return {name: value for name, value in asdict(facts).items() if value}
