"""Who may import whom: rooms in their order, no cycles, and every exception with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from house import cycle, graph, imports, modules

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOMS = (
    "files",
    "corpus",
    "machine",
    "engines",
    "similarity",
    "vectors",
    "store",
    "sharing",
    "training",
    "explain",
    "comparison",
    "baselines",
    "evaluation",
    "paper",
    "explorer",
    "cli",
)
BELOW_ALL = {"omnitm.errors", "omnitm.parameters", "omnitm.tables", "omnitm._native"}
ABOVE_ALL = {"omnitm", "omnitm.embedding"}  # names for users, gathered from all rooms

_LOADING = "methods of WordVectors for users: loading and what is kept beside a model, imported when called"
_SHARING = "methods of WordVectors for users: cards, export and hub, imported when called"
_ENCODING = "method of WordVectors for users: encode, imported when called"
_THEMES = "method of WordVectors for users: themes, imported when called"
_SENSES = "method of WordVectors for users: sense_vector, imported when called"
_RULES = "method of OmniTMAE for users: explain, imported when called"
_CARDS = "a packed model is unpacked with its card, imported when called"
_PICTURES = "methods of comparisons for users: plot and to_html, imported when called"
EXCEPTIONS = {
    ("omnitm.comparison.corpora", "omnitm.comparison.report"): _PICTURES,
    ("omnitm.comparison.words", "omnitm.comparison.report"): _PICTURES,
    ("omnitm.store.packing", "omnitm.sharing.card"): _CARDS,
    ("omnitm.training.estimator", "omnitm.explain"): _RULES,
    ("omnitm.vectors.named_rows", "omnitm.store"): _LOADING,
    ("omnitm.vectors.named_rows", "omnitm.store.model_notes"): _LOADING,
    ("omnitm.vectors.named_rows", "omnitm.store.record"): _LOADING,
    ("omnitm.vectors.word_vectors", "omnitm.explain"): _SENSES,
    ("omnitm.vectors.word_vectors", "omnitm.store.model_notes"): _LOADING,
    ("omnitm.vectors.word_vectors", "omnitm.sharing.card"): _SHARING,
    ("omnitm.vectors.word_vectors", "omnitm.sharing.export"): _SHARING,
    ("omnitm.vectors.word_vectors", "omnitm.sharing.pretrained"): _SHARING,
    ("omnitm.vectors.word_vectors", "omnitm.store"): _LOADING,
    ("omnitm.vectors.word_vectors", "omnitm.store.similarity_cache"): _LOADING,
    ("omnitm.vectors.word_vectors", "omnitm.store.record"): _LOADING,
    ("omnitm.vectors.word_vectors", "omnitm.store.folder"): _LOADING,
    ("omnitm.vectors.word_vectors", "omnitm.vectors.document_vectors"): _ENCODING,
    ("omnitm.vectors.word_vectors", "omnitm.vectors.themes"): _THEMES,
}

MODULES = modules()
EDGES = graph(MODULES)


def without(exceptions: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    left = {importer: set(imported) for importer, imported in EDGES.items()}
    for importer, imported in exceptions:
        left[importer].discard(imported)
    return left


def room(module: str) -> str:
    return module.split(".")[1]


def is_allowed(importer: str, imported: str) -> bool:
    if imported in BELOW_ALL:
        return True
    if imported in ABOVE_ALL or importer in BELOW_ALL:
        return False
    return ROOMS.index(room(imported)) <= ROOMS.index(room(importer))


def test_every_folder_is_a_room() -> None:
    found = {name.split(".")[1] for name in MODULES if "." in name}
    assert found == {*ROOMS, "embedding", "errors", "parameters", "tables"}


@pytest.mark.parametrize("importer", sorted(set(MODULES) - ABOVE_ALL))
def test_imports_only_earlier_rooms(importer: str) -> None:
    found = imports(MODULES[importer], {**MODULES, "omnitm._native": MODULES["omnitm"]})
    wrong = {
        imported
        for imported in found
        if not is_allowed(importer, imported) and (importer, imported) not in EXCEPTIONS
    }
    assert not wrong, f"{importer} imports {sorted(wrong)}, which comes after it"


def test_no_cycles() -> None:
    assert not cycle(without(EXCEPTIONS))


@pytest.mark.parametrize(("importer", "imported"), EXCEPTIONS)
def test_exceptions_are_needed(importer: str, imported: str) -> None:
    """An exception is an import that exists, and that is out of order or part of a cycle."""
    assert imported in EDGES[importer], "this import is gone: take it out of EXCEPTIONS"
    if is_allowed(importer, imported):
        assert cycle(without(EXCEPTIONS.keys() - {(importer, imported)})), (
            "in order and without a cycle: take it out of EXCEPTIONS"
        )


def test_a_room_may_not_import_a_later_one() -> None:
    assert is_allowed("omnitm.store.folder", "omnitm.corpus.index")
    assert not is_allowed("omnitm.corpus.index", "omnitm.store.folder")
    assert not is_allowed("omnitm.errors", "omnitm.files.plain")
    assert not is_allowed("omnitm.files.plain", "omnitm")
