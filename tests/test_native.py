"""The native module refuses arguments that would lead it out of its memory: every binding, fuzzed.

200 calls of each here, 10,000 of each under the sanitizers (`make sanitize` sets OMNITM_FUZZED_CALLS).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm import _native
from omnitm.errors import CorpusError
from omnitm.machine import Autoencoder, AutoencoderSettings
from omnitm.machine.autoencoder import SharedAutoencoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex

Arguments = dict[str, Any]
Random = np.random.Generator

N_CALLS = int(os.environ.get("OMNITM_FUZZED_CALLS", "200"))
N_WORDS, N_CLAUSES, N_EXAMPLES = 12, 6, 10
REFUSALS = (TypeError, ValueError, IndexError, OverflowError, MemoryError, RuntimeError)
NUMBERS = (-(2**63), -1, 0, 1, 2, 3, 5, 17, 255, 256, 4096, 65_535, 65_536, 65_537)
TOO_LARGE = (2**31, 2**32 - 1, 2**33, 2**62, 2**63, 2**64 - 1, 2**64)  # refused, or harmless


def arrays(**lists: tuple[object, str]) -> Arguments:
    return {name: np.array(values, dtype=dtype) for name, (values, dtype) in lists.items()}


def zeros(**shapes: tuple[int | tuple[int, int], str]) -> Arguments:
    return {name: np.zeros(size, dtype=dtype) for name, (size, dtype) in shapes.items()}


def corpus(random: Random) -> Arguments:
    presence = random.random((20, N_WORDS)) < 0.4
    presence[:, 0] = random.random(20) < 0.5
    documents, words = np.nonzero(presence)
    by_word = np.nonzero(presence.T)[1]
    return arrays(
        document_offsets=(np.concatenate([[0], np.cumsum(np.bincount(documents, minlength=20))]), "u8"),
        document_words=(words, "u4"),
        word_offsets=(np.concatenate([[0], np.cumsum(np.bincount(words, minlength=N_WORDS))]), "u8"),
        word_documents=(by_word, "u4"),
    )


def running(random: Random) -> Arguments:
    tokens = np.where(random.random(60) < 0.2, 2**32 - 1, random.integers(0, N_WORDS, 60))
    tokens[[0, 1, -1]] = 2**32 - 1, 0, 2**32 - 1
    places = [np.flatnonzero(tokens == number) for number in range(N_WORDS)]
    features = np.append(random.permutation(N_WORDS - 1), 2**32 - 1)
    return {
        **arrays(
            tokens=(tokens, "u4"),
            word_starts=(np.concatenate([[0], np.cumsum(list(map(len, places)))]), "u8"),
            places=(np.concatenate(places), "u4"),
            feature_of=(features, "u4"),
        ),
        "n_feature_words": N_WORDS - 1,
        "n_joined_words": random.integers(N_WORDS),
        "joiners": [*random.permutation(N_WORDS)[: random.integers(5)].tolist(), 2**32 - 2],
        "passage_reach": (0, 0, 1, 4, 100)[random.integers(5)],
    }


def machine_settings() -> Arguments:
    return {
        "n_clauses": N_CLAUSES,
        "threshold": 10,
        "forget_probability": 2**32,
        "accumulation": 3,
        "accumulation_growth": 2,
        "n_examples": N_EXAMPLES,
        "label_probability": 2**31,
        "max_included": 3,
        "negated": True,
        "isa": "auto",
    }


def autoencoder_settings(random: Random) -> Arguments:
    kernel = ("auto", "lazy", "sliced")[random.integers(3)]
    return {**machine_settings(), "state_bits": 8, "fast": bool(random.integers(2)), "kernel": kernel}


def is_short(arguments: Arguments) -> bool:
    """Whether a machine with these settings is trained in no time."""
    return bool(
        arguments["n_examples"] * arguments["accumulation"] * arguments["accumulation_growth"] <= 100_000
    )


def new_autoencoder(**arguments: Any) -> None:
    machine = _native.Autoencoder(**arguments)
    if is_short(arguments):
        for target in range(min(2, len(arguments["word_offsets"]) - 1)):
            machine.train(target, 5)
            machine.embedding(np.empty(len(arguments["word_offsets"]) - 1, dtype=np.int16))
            machine.weights(np.empty(arguments["n_clauses"], dtype=np.int32))


def new_place_autoencoder(**arguments: Any) -> None:
    machine = _native.Autoencoder(**arguments)
    if is_short(arguments):
        for target in range(min(2, len(arguments["feature_of"]))):
            machine.train(target, 5)
            size = 4 * arguments["n_feature_words"] + arguments["n_joined_words"]
            size = arguments["n_feature_words"] if arguments["passage_reach"] else size
            machine.embedding(np.empty(size, dtype=np.int16))


def new_shared_autoencoder(**arguments: Any) -> None:
    machine = _native.SharedAutoencoder(**arguments)
    if is_short(arguments):
        machine.train([0, 1], [5, 6], 7)
        machine.weights(np.empty(2 * arguments["n_clauses"], dtype=np.int32))


def trained(random: Random) -> _native.Autoencoder:
    machine = _native.Autoencoder(**corpus(random), **autoencoder_settings(random))
    machine.train(1, 2)
    return machine


def trained_shared(random: Random) -> _native.SharedAutoencoder:
    machine = _native.SharedAutoencoder(**corpus(random), **machine_settings())
    machine.train([1, 2], [3, 4], 5)
    return machine


def matrix(random: Random, n_rows: int = 6) -> NDArray[np.int16]:
    return random.integers(-9, 10, (n_rows, 5)).astype(np.int16)


def scaled_rows(random: Random) -> Arguments:
    return {
        "matrix": matrix(random),
        **zeros(baseline=(6, "i2")),
        **arrays(gain=(np.ones(6), "f4"), own=([0, 1, -1, 2, 3, 4], "i4")),
    }


def new_scaled_rows(**arguments: Any) -> None:
    rows = _native.ScaledRows(**arguments)
    n_rows, n_columns = arguments["matrix"].shape
    rows.moments(np.zeros(n_columns), np.zeros(n_columns))
    rows.count_above(np.zeros(n_columns, np.float32), np.zeros(n_rows, np.int64))


def excess(random: Random) -> tuple[Callable[..., object], Arguments]:
    rows, limits = _native.ScaledRows(**scaled_rows(random)), np.zeros(5, dtype=np.float32)
    counts = np.zeros(6, dtype=np.int64)
    rows.count_above(limits, counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    filled = zeros(columns=(starts[-1], "i4"), excesses=(starts[-1], "f4"))
    return rows.excess_above, {
        "limits": limits,
        "inverse_deviations": np.ones(5, np.float32),
        "starts": starts,
        **filled,
    }


WORDS = arrays(
    letters=(list(b"abcdefghijklmnopqrstuvwxyz"), "u1"),
    lengths=([1, 2, 20, 3], "u2"),
    counts=([1, 2, 3, 4], "u8"),
    documents=([1, 1, 2, 2], "u8"),
    ids=([0, 1, 2, 3], "u4"),
)
ACTIONS = np.arange(0x110000, dtype=np.uint32)
ACTIONS[[0, 10, 32, 0x130, 0x3A3, 0x2028]] = (
    0xFFFFFFF0,
    0xFFFFFFF1,
    0xFFFFFFF3,
    0xFFFF0000,
    0xFFFFFFF2,
    0xFFFFFFF4,
)
CONTEXTS = (np.arange(0x110000) % 3).astype(np.uint8)
RULES = _native.CharacterRules(ACTIONS, CONTEXTS, [b"i\xcc\x87"])
TEXT = np.frombuffer(
    "some words, \u0130\u03a3 \u2028and a very_long_word_indeed\n\nmore WORDS\n".encode() * 3, dtype=np.uint8
)


def new_rules(**arguments: Any) -> None:
    _native.WordTable([]).count_block(_native.CharacterRules(**arguments), TEXT, 0, ends_document=True)


def word_table() -> _native.WordTable:
    table = _native.WordTable([b"a", b"and"])
    table.count_block(RULES, TEXT, 0, ends_document=True)
    table.absorb(*(WORDS[name] for name in ("letters", "lengths", "counts", "documents")))
    return table


def new_table(**arguments: Any) -> None:
    _native.WordTable(**arguments).count_block(RULES, TEXT, 1, ends_document=False)


def only(values: Arguments, *names: str) -> Arguments:
    return {name: values[name] for name in names}


def documents_as_lists(random: Random) -> Arguments:
    ids = [random.permutation(8).astype(np.uint32) for _ in range(3)]
    return {
        "ids": ids,
        "lengths": [np.array([3, 0, 5], dtype=np.uint32) for _ in range(3)],
        "remaps": [random.permutation(8).astype(np.uint32) for _ in range(3)],
        "n_words": 6,
        "other": 7,
        **zeros(words=(24, "u4"), word_lengths=(9, "u4"), tokens=(33, "u4")),
    }


def interleaved(random: Random) -> Arguments:
    counts = [random.integers(0, 4, 5).astype(np.uint32) for _ in range(3)]
    runs = [np.arange(int(part.sum()), dtype=np.uint32) for part in counts]
    return {"counts": counts, "runs": runs, "joined": np.zeros(sum(map(len, runs)), dtype=np.uint32)}


def glove_text(random: Random) -> Arguments:
    ids = {"ids": random.integers(0, 7, 30).astype(np.uint32)}
    return {**ids, **arrays(offsets=([0, 10, 10, 30], "u8")), "n_words": 7, "window": 3}


def glove_vectors(random: Random) -> Arguments:
    count: Arguments = {"first": 0, "end": 7, "n_groups": 2, "x_max": 10.0, "alpha": 0.75}
    blocks = _native.glove_count(**glove_text(random), **count)
    parameters = random.random((2, 7, 12)).astype(np.float32) + np.float32(0.1)
    return {
        "words": parameters[0].copy(),
        "contexts": parameters[1].copy(),
        "size": 4,
        "blocks": [np.asarray(blocks[0]), np.asarray(blocks[3])],
        "learning_rate": 0.05,
        "n_threads": 2,
    }


def labelled_documents(random: Random) -> Arguments:
    found = corpus(random)
    return {"offsets": found["document_offsets"], "words": found["document_words"], "n_words": N_WORDS}


def lesson(random: Random) -> Arguments:
    memory = np.zeros(4 * 2 * 32 + 4, dtype=np.uint64)
    start = -memory.ctypes.data % 32 // 8
    return {
        **labelled_documents(random),
        "planes": memory[start : start + 4 * 2 * 32],
        **arrays(
            weights=([1, 1, -1, -1], "i4"),
            active=([0, 1, 3], "u4"),
            documents=([0, 4, 7], "u4"),
            steps=([0, 3, 4], "u8"),
        ),
        "threshold": 5,
        "forget_probability": 2**31,
        "max_included": 4,
        "key": 3,
        "isa": "auto",
    }


def ballot(random: Random) -> Arguments:
    clauses = arrays(
        clause_offsets=([0, 2, 2, 5], "u8"),
        clause_literals=([0, 13, 1, 2, 20], "u4"),
        weights=([3, 1, -2], "i4"),
    )
    return {**labelled_documents(random), "first": 2, **clauses, "votes": np.zeros(9, dtype=np.int64)}


def profiles() -> Arguments:
    return arrays(
        starts=([0, 2, 5], "i8"),
        columns=([0, 1, 1, 2, 3], "u4"),
        values=([1, 2, 3, 4, 5], "u2"),
        rows=([1, 0], "i8"),
        query=([0.5, 2, 1, 0], "f4"),
        products=(np.zeros(2), "f4"),
    )


def weighted_profiles() -> Arguments:
    given = profiles()
    del given["query"], given["products"]
    return {**given, **arrays(weights=([0.5, 2], "f4"), sum=(np.zeros(4), "f4"))}


def chosen_rows() -> Arguments:
    return arrays(
        matrix=([[1, 2, 3], [4, 5, 6]], "f4"),
        rows=([1, 0, 1], "i8"),
        query=([0.5, 2, 1], "f4"),
        products=(np.zeros(3), "f4"),
    )


def codes() -> Arguments:
    return arrays(
        codes=([[3, -4, 5], [127, -128, 0]], "i1"),
        queries=([[1, -2, 3], [0, 0, 1], [-128, 5, 7]], "i1"),
        products=(np.zeros((3, 2)), "i4"),
    )


def sparse_and_dense() -> Arguments:
    return {**weighted_rows(), **zeros(dense=((4, 3), "f4"), products=((2, 3), "f4"))}


def weighted_rows() -> Arguments:
    return arrays(starts=([0, 2, 5], "i8"), columns=([0, 1, 1, 2, 3], "i4"), values=([1, 2, 3, 4, 5], "f4"))


#: For every binding a function that returns something to call, and arguments that it accepts.
BINDINGS: dict[str, Callable[[Random], tuple[Callable[..., object], Arguments]]] = {
    "row_modes": lambda r: (_native.row_modes, {"matrix": matrix(r), **zeros(modes=(6, "i2"))}),
    "profile_products": lambda _: (_native.profile_products, profiles()),
    "add_profiles": lambda _: (_native.add_profiles, weighted_profiles()),
    "chosen_products": lambda _: (_native.chosen_products, chosen_rows()),
    "code_products": lambda _: (_native.code_products, codes()),
    "sparse_products": lambda _: (_native.sparse_products, sparse_and_dense()),
    "dense_products": lambda _: (
        _native.dense_products,
        zeros(matrix=((3, 4), "f4"), other=((4, 2), "f4"), products=((3, 2), "f4")),
    ),
    "orthogonaliser": lambda _: (_native.orthogonaliser, zeros(products=((3, 3), "f8"), turn=((3, 3), "f8"))),
    "symmetric_eigenvectors": lambda _: (
        _native.symmetric_eigenvectors,
        zeros(matrix=((3, 3), "f8"), values=(3, "f8")),
    ),
    "ScaledRows": lambda r: (new_scaled_rows, scaled_rows(r)),
    "ScaledRows.moments": lambda r: (
        _native.ScaledRows(**scaled_rows(r)).moments,
        zeros(sums=(5, "f8"), squares=(5, "f8")),
    ),
    "ScaledRows.count_above": lambda r: (
        _native.ScaledRows(**scaled_rows(r)).count_above,
        zeros(limits=(5, "f4"), counts=(6, "i8")),
    ),
    "ScaledRows.excess_above": excess,
    "block_sums": lambda r: (
        _native.block_sums,
        {
            "matrix": matrix(r),
            **arrays(edges=([0, 2, 5], "i8")),
            **zeros(sums=(12, "i8"), squares=(12, "i8")),
        },
    ),
    "add_dots": lambda r: (
        _native.add_dots,
        {
            "matrix": matrix(r),
            "largest": 10,
            **arrays(rows=([5, 0, 2, 2, 1], "i8"), query=([1, -2, 3, 4, 5], "i2"), dots=([0] * 5, "i8")),
            "first": 1,
            "last": 4,
        },
    ),
    "sparse_dots": lambda r: (
        _native.sparse_dots,
        {
            "content": np.array([0, 3, 0x00050007, 1, 9], dtype=np.uint32).view(np.uint8),
            "starts": np.array([0, 12, 12, 20]),
            "queries": matrix(r, 2),
            "dots": np.zeros(6, dtype=np.int64),
        },
    ),
    "row_dots": lambda r: (
        _native.row_dots,
        {"matrix": matrix(r), "largest": 9, "queries": matrix(r, 2), **zeros(dots=(12, "i8"))},
    ),
    "Autoencoder": lambda r: (new_autoencoder, {**corpus(r), **autoencoder_settings(r)}),
    "Autoencoder of places": lambda r: (new_place_autoencoder, {**running(r), **autoencoder_settings(r)}),
    "Autoencoder.train": lambda r: (trained(r).train, {"target": 3, "key": 4}),
    "Autoencoder.record": lambda r: (
        trained(r).record,
        {
            "target": 3,
            "key": 4,
            "word": 2,
            **zeros(
                states=(2 * N_EXAMPLES * N_CLAUSES, "u1"),
                feedback=(N_EXAMPLES * N_CLAUSES, "u1"),
                weights=(N_EXAMPLES * N_CLAUSES, "i4"),
            ),
        },
    ),
    "Autoencoder.stop": lambda r: (trained(r).stop, {}),
    "Autoencoder.embedding": lambda r: (trained(r).embedding, zeros(out=(N_WORDS, "i2"))),
    "Autoencoder.states": lambda r: (trained(r).states, zeros(out=(2 * N_WORDS * N_CLAUSES, "u1"))),
    "Autoencoder.weights": lambda r: (trained(r).weights, zeros(out=(N_CLAUSES, "i4"))),
    "SharedAutoencoder": lambda r: (new_shared_autoencoder, {**corpus(r), **machine_settings()}),
    "SharedAutoencoder.train": lambda r: (
        trained_shared(r).train,
        {"targets": [1, 2, 5], "keys": [3, 4, 6], "key": 5},
    ),
    "SharedAutoencoder.stop": lambda r: (trained_shared(r).stop, {}),
    "SharedAutoencoder.n_done": lambda r: (lambda: trained_shared(r).n_done, {}),
    "SharedAutoencoder.states": lambda r: (
        trained_shared(r).states,
        zeros(out=(2 * N_WORDS * N_CLAUSES, "u1")),
    ),
    "SharedAutoencoder.weights": lambda r: (trained_shared(r).weights, zeros(out=(2 * N_CLAUSES, "i4"))),
    "CharacterRules": lambda _: (
        new_rules,
        {"actions": ACTIONS, "contexts": CONTEXTS, "expansions": [b"i\xcc\x87"]},
    ),
    "WordTable": lambda _: (new_table, {"stop_words": [b"a", b"and"]}),
    "WordTable.count_block": lambda r: (
        word_table().count_block,
        {"rules": RULES, "data": TEXT.copy(), "unit": int(r.integers(3)), "ends_document": True},
    ),
    "WordTable.absorb": lambda _: (
        word_table().absorb,
        only(WORDS, "letters", "lengths", "counts", "documents"),
    ),
    "WordTable.take_common": lambda _: (
        word_table().take_common,
        {"other": word_table(), "first": 1, "last": 5},
    ),
    "WordTable.records": lambda _: (word_table().records, {}),
    "WordTable.partitioned_records": lambda _: (word_table().partitioned_records, {"n_partitions": 3}),
    "WordTable.select": lambda _: (
        word_table().select,
        {
            "min_count": 1,
            "min_documents": 1,
            "max_documents": 9,
            "limit": 4,
            "floor_count": 1,
            "floor_word": b"m",
            "limit_of_others": 2,
            "other_floor_count": 0,
            "other_floor_word": b"",
        },
    ),
    "WordTable.lookup": lambda _: (
        word_table().lookup,
        {"words": [b"some", b"none", b"very_long_word_indeed"]},
    ),
    "WordTable.remap": lambda _: (
        word_table().remap,
        {**only(WORDS, "letters", "lengths", "ids"), "n_ids": 4},
    ),
    "WordTable.positions_in": lambda _: (word_table().positions_in, only(WORDS, "letters", "lengths")),
    "WordTable.clear": lambda _: (word_table().clear, {}),
    "WordTable.n_types": lambda _: (lambda: word_table().n_types, {}),
    "WordTable.memory": lambda _: (lambda: word_table().memory, {}),
    "WordTable.document_open": lambda _: (lambda: word_table().document_open, {}),
    "WordTable.n_tokens": lambda _: (lambda: word_table().n_tokens, {}),
    "WordTable.n_too_long": lambda _: (lambda: word_table().n_too_long, {}),
    "remap_documents": lambda r: (_native.remap_documents, documents_as_lists(r)),
    "invert_running": lambda r: (
        _native.invert_running,
        {
            "tokens": np.append(r.integers(0, 5, 8), 2**32 - 1).astype(np.uint32),
            "first_place": 7,
            **zeros(counts=(5, "u4"), places=(9, "u4")),
        },
    ),
    "invert": lambda r: (
        _native.invert,
        {
            "words": r.integers(0, 5, 8).astype(np.uint32),
            **arrays(lengths=([3, 0, 5], "u4")),
            "first_document": 7,
            **zeros(counts=(5, "u4"), documents=(8, "u4")),
        },
    ),
    "interleave": lambda r: (_native.interleave, interleaved(r)),
    "first_defect": lambda _: (
        _native.first_defect,
        {**arrays(offsets=([0, 2, 5], "u8"), members=([1, 2, 0, 3, 4], "u4")), "limit": 5},
    ),
    "glove_neighbours": lambda r: (_native.glove_neighbours, glove_text(r)),
    "glove_count": lambda r: (
        _native.glove_count,
        {**glove_text(r), "first": 1, "end": 6, "n_groups": 2, "x_max": 10.0, "alpha": 0.75},
    ),
    "glove_train": lambda r: (_native.glove_train, glove_vectors(r)),
    "teach_class": lambda r: (_native.teach_class, lesson(r)),
    "class_votes": lambda r: (_native.class_votes, ballot(r)),
    "instruction_sets": lambda _: (_native.instruction_sets, {}),
    "crc32c": lambda _: (_native.crc32c, {**zeros(content=(5000, "u1")), "portable": True}),
    "block_checksums": lambda _: (_native.block_checksums, zeros(content=(5000, "u1"), sums=(2, "u4"))),
    "has_sha256": lambda _: (_native.has_sha256, {}),
    "sha256_blocks": lambda _: (
        _native.sha256_blocks,
        zeros(first_state=(8, "u4"), first=(640, "u1"), second_state=(8, "u4"), second=(192, "u1")),
    ),
    "check_column": lambda _: (
        _native.check_column,
        {
            **zeros(content=(5000, "u1"), sums=(2, "u4"), checked=(2, "u1")),
            "start": 3,
            "distance": 50,
            "span": 9,
        },
    ),
    "check_spans": lambda _: (
        _native.check_spans,
        {**zeros(content=(5000, "u1"), sums=(2, "u4"), checked=(2, "u1"), starts=(3, "i8")), "span": 9},
    ),
}


def bindings() -> set[str]:
    """List the functions, classes, methods and properties of the native module."""
    names = {name for name in dir(_native) if not name.startswith("_") and not name.isupper()}
    classes = [name for name in names if isinstance(getattr(_native, name), type)]
    members = {
        f"{owner}.{name}" for owner in classes for name in vars(getattr(_native, owner)) if name[0] != "_"
    }
    return names | members


def spoiled(random: Random, array: NDArray[Any], extremes: list[Any]) -> NDArray[Any]:
    """Change a few elements."""
    changed, values = array.copy(), [*extremes, 0, 1, array.size % 100]
    for place in random.integers(max(1, array.size), size=random.integers(1, 4)):
        changed.flat[place : place + 1] = values[random.integers(len(values))]
    return changed


def reinterpreted(memory: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """View memory as numbers of another type."""
    content = np.ascontiguousarray(memory).reshape(-1).view(np.uint8)
    return content[: len(content) // dtype.itemsize * dtype.itemsize].view(dtype)


def shuffled(random: Random, array: NDArray[Any]) -> Any:
    """Change the order; of a table of a million characters in one stretch, which is as wrong and quicker."""
    found, start = array.copy(), random.integers(max(1, len(array) - 4096))
    found[start : start + 4096] = random.permutation(found[start : start + 4096])
    return found


def other_array(random: Random, array: NDArray[Any], others: list[NDArray[Any]]) -> Any:
    """Make an array that is wrong somehow: its length, content, type, layout, or whose memory it is."""
    is_integral = array.dtype.kind in "iu"
    extremes = (
        [np.iinfo(array.dtype).min, np.iinfo(array.dtype).max] if is_integral else [np.nan, np.inf, -1e30]
    )
    options = (
        lambda: array[: random.integers(len(array) + 1)],
        lambda: np.concatenate([array, array[: random.integers(1, 9)], array[:1]]),
        lambda: shuffled(random, array),
        lambda: spoiled(random, array, extremes),
        lambda: spoiled(random, array, extremes),
        lambda: np.full(array.shape, extremes[random.integers(len(extremes))], dtype=array.dtype),
        lambda: np.frombuffer(random.bytes(array.nbytes), dtype=array.dtype).reshape(array.shape).copy(),
        lambda: array.astype(("i1", "u2", "i8", "f8", "c8", "u4")[random.integers(6)]),
        lambda: (array.reshape(-1, 1), array[::2], array.tobytes(), None, [1, 2])[random.integers(5)],
        lambda: np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape),
        lambda: reinterpreted(others[random.integers(len(others))] if others else array, array.dtype),
    )
    return options[random.integers(len(options))]()


def other_list(random: Random, values: list[Any]) -> Any:
    options: list[Any] = [values[:-1], [*values, *values[:2]], values[::-1], [], None]
    for place, value in enumerate(values):
        options.append([*values[:place], other_value(random, "", value, {}), *values[place + 1 :]])
    return options[random.integers(len(options))]


def other_value(random: Random, name: str, value: Any, arguments: Arguments) -> Any:
    """Make another value for an argument, most often one that is wrong."""
    if isinstance(value, np.ndarray):
        others = [other for key, other in arguments.items() if isinstance(other, np.ndarray) and key != name]
        return other_array(random, value, others)
    if isinstance(value, list):
        return other_list(random, value)
    options: tuple[Any, ...] = (None, "", "auto", "portable", "avx2", "sliced", "a thing", 7)
    if isinstance(value, bool):
        options = (not value, None, 3)
    elif isinstance(value, int):  # memory for 2**31 words or more is nothing to ask for in a test
        options = (*NUMBERS, value + 1, value - 1, *(() if name == "n_ids" else TOO_LARGE))
    elif isinstance(value, float):
        options = (0.0, -1.0, np.nan, np.inf, 1e300, 1e-300)
    elif isinstance(value, bytes):
        options = (b"", b"a\0b", b"x" * 65_535, b"x" * 65_536, b"\xff\xfe", None)
    return options[random.integers(len(options))]


def read(result: Any) -> None:
    """Touch every number that came back."""
    if isinstance(result, np.ndarray):
        result.sum()
    elif isinstance(result, (tuple, list)):
        for part in result:
            read(part)


def test_every_binding_is_here() -> None:
    assert bindings() == {name.split(" of ")[0] for name in BINDINGS}


@pytest.mark.parametrize("name", BINDINGS)
def test_sound_arguments_are_accepted(name: str) -> None:
    if name == "sha256_blocks" and not _native.has_sha256():
        pytest.skip("this processor has no instructions for SHA-256")
    for seed in range(5):
        call, arguments = BINDINGS[name](np.random.default_rng(seed))
        read(call(**arguments))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, about the numbers that the fuzzer makes
@pytest.mark.parametrize(
    "name", [name for name, make in BINDINGS.items() if make(np.random.default_rng(0))[1]]
)
def test_unsound_arguments_are_refused_or_harmless(name: str) -> None:
    n_refused = 0
    for seed in range(N_CALLS):
        random = np.random.default_rng([seed, len(name)])
        call, arguments = BINDINGS[name](random)
        for key in random.permutation(list(arguments))[: random.integers(1, 3)]:
            arguments[key] = other_value(random, key, arguments[key], arguments)
        try:
            read(call(**arguments))
        except REFUSALS:
            n_refused += 1
    assert n_refused > N_CALLS // 20


def with_action(action: int) -> NDArray[np.uint32]:
    """Rules in which the letter A becomes something else."""
    return np.where(ord("A") == ACTIONS, np.uint32(action), ACTIONS)


ONE, SAME = np.ones(1, dtype=np.uint32), np.zeros(8, dtype=np.uint32)


@pytest.mark.parametrize(
    ("name", "message", "wrong"),
    [
        ("WordTable.absorb", "must add up to the number of letters", {"lengths": WORDS["lengths"][:3]}),
        ("WordTable.absorb", "needs its count", {"counts": WORDS["counts"][:3]}),
        ("WordTable.remap", "every word needs its number", {"ids": ONE}),
        ("WordTable.remap", "`ids` must be below `n_ids`", {"n_ids": 3}),
        ("WordTable.count_block", "`unit` must be", {"unit": 3}),
        ("WordTable.partitioned_records", "`n_partitions` must be", {"n_partitions": 0}),
        ("WordTable", "stop word is longer", {"stop_words": [b"x" * 65_536]}),
        ("WordTable", "stop word is there twice", {"stop_words": [b"x", b"x"]}),
        ("CharacterRules", "one value per code point", {"actions": ACTIONS[:-1]}),
        ("CharacterRules", "an action is unknown", {"actions": ACTIONS | np.uint32(0xFFFFFFF0)}),
        ("CharacterRules", "expansion may have 1024", {"expansions": [b"x" * 1025]}),
        ("CharacterRules", "ASCII character is too long", {"actions": with_action(0xFFFF0000)}),
        ("sha256_blocks", "must have 8 numbers", {"first_state": ONE}),
        ("sha256_blocks", "whole blocks of 64 bytes", {"second": np.zeros(65, dtype=np.uint8)}),
        ("sha256_blocks", "shares memory with another argument", {"first_state": SAME, "second_state": SAME}),
        ("invert", "must add up to the number of their words", {"lengths": ONE}),
        ("invert", "a word that is not there", {"counts": ONE}),
        ("invert", "array to be filled is too small", {"documents": ONE}),
        ("invert", "shares memory with another argument", {"words": SAME, "documents": SAME}),
        ("remap_documents", "as many lists of each kind", {"ids": []}),
        ("remap_documents", "must add up to the number of words", {"lengths": [ONE] * 3}),
        ("remap_documents", "there is no such word", {"remaps": [ONE] * 3}),
        ("invert_running", "there is no such word", {"counts": ONE[:0]}),
        ("invert_running", "array to be filled is too small", {"places": ONE}),
        ("Autoencoder of places", "a word and a place, and its two ends", {"tokens": ONE}),
        ("Autoencoder of places", "must span `places`", {"places": ONE}),
        ("Autoencoder of places", "1 to 2\\*\\*28 feature words", {"n_feature_words": 0}),
        (
            "Autoencoder of places",
            "there is no such feature word",
            {"n_feature_words": 3, "n_joined_words": 3},
        ),
        ("Autoencoder of places", "there may be five joiners", {"joiners": [0, 1, 2, 3, 4, 5]}),
        ("Autoencoder of places", "joiner must be the number of a word", {"joiners": [N_WORDS]}),
        ("Autoencoder of places", "at most 2\\*\\*28 words", {"n_joined_words": 2**28 + 1}),
        ("Autoencoder of places", "`passage_reach` must be at most 65536", {"passage_reach": 65_537}),
        ("interleave", "every run needs its counts", {"counts": []}),
        ("interleave", "counts of the same words", {"counts": [ONE, ONE[:0]], "runs": [ONE, ONE[:0]]}),
        ("interleave", "must add up to the length of their run", {"counts": [ONE, ONE, ONE]}),
        ("glove_count", "`offsets` must ascend", {"offsets": np.array([0, 31], np.uint64)}),
        ("glove_count", "`n_words` must be below", {"n_words": 2**31}),
        ("glove_count", "`ids` must be numbers of words", {"n_words": 6, "end": 5}),
        ("glove_count", "`first` and `end`", {"end": 0}),
        ("glove_count", "`n_groups` must be", {"n_groups": 0}),
        ("glove_train", "room for as many squares", {"size": 2**32 - 1}),
        ("glove_train", "vectors of the same shape", {"words": np.ones((7, 10), np.float32)}),
        ("glove_train", "`n_threads` must be", {"n_threads": 0}),
        ("glove_train", "whole entries", {"blocks": [np.zeros(15, np.uint8)]}),
        ("glove_train", "multiple of 4", {"blocks": [np.zeros(20, np.uint8)[1:17]]}),
        ("glove_train", "no such word", {"blocks": [np.full(16, 255, np.uint8)]}),
        ("add_dots", "`largest` must be", {"largest": -1}),
        ("add_dots", "no such row", {"rows": np.array([6, 0, 0, 0, 0])}),
        ("sparse_dots", "beyond the last column", {"content": np.full(20, 255, np.uint8)}),
        ("ScaledRows.excess_above", "must come from `count_above`", {"limits": np.full(5, -99, np.float32)}),
        ("Autoencoder", "needs a document and a word", {"word_offsets": np.zeros(1, np.uint64)}),
        ("Autoencoder", "`n_clauses` must be", {"n_clauses": 0}),
        ("Autoencoder", "`threshold` must be", {"threshold": 0}),
        ("Autoencoder", "`accumulation` must be", {"accumulation": 0}),
        ("Autoencoder", "`accumulation_growth` must be", {"accumulation_growth": 0}),
        ("Autoencoder", "`n_examples` must be", {"n_examples": 0}),
        ("Autoencoder", "`state_bits` must be", {"state_bits": 9, "kernel": "sliced"}),
        ("Autoencoder", "at most 2\\*\\*32", {"label_probability": 2**33}),
        ("teach_class", "weight is beyond", {"weights": np.full(4, 2**31 - 1, np.int32)}),
        ("teach_class", "no such document", {"documents": np.full(3, 99, np.uint32)}),
        ("teach_class", "must be below 2\\*\\*31", {"n_words": 2**31}),
        ("class_votes", "a member is too large", {"n_words": 3}),
        ("CharacterRules", "must be a code point", {"actions": with_action(0x110000)}),
        ("CharacterRules", "expansion that is not there", {"actions": with_action(0xFFFF0001)}),
    ],
)
def test_messages_name_what_is_wrong(name: str, message: str, wrong: Arguments) -> None:
    call, arguments = BINDINGS[name](np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        call(**{**arguments, **wrong})


@pytest.mark.parametrize("kernel", ["lazy", "sliced"])
@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("document_offsets", 2**63),
        ("document_words", N_WORDS),
        ("word_offsets", 2**63),
        ("word_documents", 20),
    ],
)
def test_a_corpus_that_leads_astray_is_noticed_where_it_is_drawn(kernel: str, array: str, value: int) -> None:
    arguments = {**corpus(np.random.default_rng(0)), **autoencoder_settings(np.random.default_rng(0))}
    arguments[array][1:-1] = value
    machine = _native.Autoencoder(**{**arguments, "kernel": kernel})
    with pytest.raises(ValueError, match="the index is damaged: it names words or documents"):
        machine.train(1, 2)
    with pytest.raises(RuntimeError, match="train a word first"):
        machine.weights(np.empty(N_CLAUSES, dtype=np.int32))
    with pytest.raises(RuntimeError, match="train words first"):
        _native.SharedAutoencoder(**arguments_of_bank(arguments)).states(np.empty(144, dtype=np.uint8))


def arguments_of_bank(arguments: Arguments) -> Arguments:
    return {key: value for key, value in arguments.items() if key not in ("state_bits", "fast", "kernel")}


def test_damage_is_named_to_the_user(random_index: Callable[..., DocumentIndex]) -> None:
    index = random_index(20, N_WORDS)
    index.document_words[:] = N_WORDS
    settings = AutoencoderSettings(n_clauses=4, threshold=10, n_examples=5)
    with pytest.raises(CorpusError, match="the index is damaged"):
        Autoencoder(index, settings).train(0, 1)
    with pytest.raises(CorpusError, match="the index is damaged"):
        Autoencoder(index, settings).record(0, 1, 2)
    with pytest.raises(CorpusError, match="the index is damaged"):
        SharedAutoencoder(index, settings).train([0], [1], 2)
