"""Make the card of a model in a folder, and again when the model or what is said about it changes."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from omnitm.errors import FileError, ParameterError
from omnitm.sharing.card import CardFacts, model_card
from omnitm.store.packed import is_packed, read_packed
from omnitm.store.signed_card import CARD, read_facts, write_card

if TYPE_CHECKING:
    from pathlib import Path

    from omnitm.vectors.word_vectors import WordVectors

_NAME, _LOAD = "Word vectors", 'WordVectors.load(".")  # the path of this folder'


def keep_card(
    vectors: WordVectors, folder: Path, facts: CardFacts | None = None, *, force: bool = False
) -> None:
    """Write the card of a model into its folder; one that somebody has edited is left as it is.

    Parameters
    ----------
    facts
        What is said about the model; None: what its card says already.
    force
        Replace a card that somebody has edited.
    """
    facts = kept_facts(folder) if facts is None else facts
    write_card(folder, model_card(vectors, facts, name=_NAME, load=_LOAD), facts_as_json(facts), force=force)


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
    return replace(facts, **{name: value for name, value in given.items() if value is not None})


def facts_as_json(facts: CardFacts) -> dict[str, Any]:
    """Return what is known as an object of JSON."""
    return {name: value for name, value in asdict(facts).items() if value}
