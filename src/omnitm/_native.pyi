"""Native kernels of omnitm; use the Python modules around them."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def row_modes(matrix: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], modes: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Find the most frequent value of every row."""

def profile_products(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], query: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], products: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Multiply some sparse rows with a dense vector."""

def add_profiles(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], sum: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Add some sparse rows, each times its weight, to a dense vector."""

def chosen_products(matrix: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], query: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], products: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Multiply some rows of a matrix with a vector."""

def code_products(codes: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], queries: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], products: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], *, portable: bool = False) -> None:
    """
    Multiply every row of small integers with several vectors of them: queries x rows.
    """

def sparse_products(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], dense: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], products: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Multiply sparse rows with a dense matrix."""

@overload
def dense_products(matrix: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], other: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], products: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Multiply two matrices."""

@overload
def dense_products(matrix: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], other: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], products: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

def orthogonaliser(products: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], turn: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Find what makes columns orthogonal, given their products, which are overwritten.
    """

def symmetric_eigenvectors(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Put the eigenvectors of a symmetric matrix in its place, as rows; values ascend.
    """

class ScaledRows:
    """Rows as (value - baseline) * gain, without a copy of the matrix."""

    def __init__(self, matrix: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], baseline: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], gain: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def moments(self, sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Add values and squares to column sums."""

    def count_above(self, limits: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Count the columns above their limits in every row."""

    def excess_above(self, limits: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], inverse_deviations: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], excesses: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Write the columns above their limits, and by how many deviations they exceed them.
        """

def block_sums(matrix: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], squares: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Sum blocks of columns, and their squares, of every row; returns the largest magnitude.
    """

def add_dots(matrix: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], largest: int, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], query: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, last: int, dots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Multiply some columns of some rows with a query."""

def sparse_dots(content: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], queries: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], dots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Multiply every row of a matrix that is mostly zeros with every query."""

def row_dots(matrix: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], largest: int, queries: Annotated[NDArray[numpy.int16], dict(shape=(None, None), order='C', device='cpu', writable=False)], dots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Multiply every row with every query."""

def instruction_sets() -> list[str]:
    """Instruction sets of this processor, best last."""

class Autoencoder:
    """One thread's machine: see omnitm.machine.Autoencoder."""

    @overload
    def __init__(self, document_offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], document_words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], word_offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], word_documents: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, n_clauses: int, threshold: int, forget_probability: int, accumulation: int, accumulation_growth: int, n_examples: int, label_probability: int, max_included: int, state_bits: int, fast: bool, negated: bool, kernel: str, isa: str) -> None: ...

    @overload
    def __init__(self, tokens: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], word_starts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], feature_of: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_feature_words: int, n_joined_words: int, joiners: Sequence[int], passage_reach: int, *, n_clauses: int, threshold: int, forget_probability: int, accumulation: int, accumulation_growth: int, n_examples: int, label_probability: int, max_included: int, state_bits: int, fast: bool, negated: bool, kernel: str, isa: str) -> None: ...

    def train(self, target: int, key: int) -> bool:
        """False: stopped before the end."""

    def record(self, target: int, key: int, word: int, states: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], feedback: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> bool:
        """
        Train, and write down what becomes of one word's literals. False: stopped before the end.
        """

    def stop(self) -> None:
        """Make a running `train` return soon; may be called from any thread."""

    def embedding(self, out: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def states(self, out: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def weights(self, out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

class SharedAutoencoder:
    """See omnitm.machine.SharedAutoencoder."""

    def __init__(self, document_offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], document_words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], word_offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], word_documents: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, n_clauses: int, threshold: int, forget_probability: int, accumulation: int, accumulation_growth: int, n_examples: int, label_probability: int, max_included: int, negated: bool, isa: str) -> None: ...

    def train(self, targets: Sequence[int], keys: Sequence[int], key: int) -> bool:
        """False: stopped before the end."""

    def stop(self) -> None:
        """Make a running `train` return soon; may be called from any thread."""

    @property
    def n_done(self) -> int: ...

    def states(self, out: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def weights(self, out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

def teach_class(offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_words: int, planes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], active: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], documents: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, threshold: int, forget_probability: int, max_included: int, key: int, isa: str) -> None:
    """Teach the clauses of one class; planes and weights change."""

def class_votes(offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_words: int, first: int, clause_offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], clause_literals: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], votes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Write one class's votes on documents from `first` on."""

class CharacterRules:
    """What becomes of each code point; see corpus/characters.py."""

    def __init__(self, actions: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], contexts: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], expansions: Sequence[bytes]) -> None: ...

class WordTable:
    """Numbers words as they are first seen and counts them exactly."""

    def __init__(self, stop_words: Sequence[bytes], keeps_order: bool = False) -> None: ...

    def count_block(self, rules: CharacterRules, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], unit: int, ends_document: bool) -> tuple:
        """
        Prepare a block: (word numbers, words per document, marks between words, problem, its byte offset). The word numbers are valid until the next block is counted.
        """

    def absorb(self, letters: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], documents: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def take_common(self, other: WordTable, first: int, last: int) -> None: ...

    def records(self) -> tuple: ...

    def partitioned_records(self, n_partitions: int) -> list: ...

    def select(self, min_count: int, min_documents: int, max_documents: int, limit: int, floor_count: int, floor_word: bytes, limit_of_others: int, other_floor_count: int, other_floor_word: bytes) -> tuple: ...

    def lookup(self, words: Sequence[bytes]) -> tuple: ...

    def remap(self, letters: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_ids: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    def positions_in(self, letters: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    def clear(self) -> None: ...

    @property
    def n_types(self) -> int: ...

    @property
    def memory(self) -> int: ...

    @property
    def document_open(self) -> bool: ...

    @property
    def n_tokens(self) -> int: ...

    @property
    def n_too_long(self) -> int: ...

def remap_documents(ids: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], lengths: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], remaps: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_words: int, other: int, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], word_lengths: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], tokens: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

def invert_running(tokens: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_place: int, counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], places: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

def invert(words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_document: int, counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], documents: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

def interleave(counts: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], runs: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], joined: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

def first_defect(offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], limit: int) -> int: ...

def glove_neighbours(ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_words: int, window: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
    """How many neighbours each word has in a text."""

def glove_count(ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_words: int, window: int, first: int, end: int, n_groups: int, x_max: float, alpha: float) -> list:
    """Counts of some words with all words, as bytes of entries per block."""

def glove_train(words: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], contexts: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], size: int, blocks: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]], learning_rate: float, n_threads: int) -> float:
    """One pass over blocks that share no words; returns the cost."""

CHECKSUM_BLOCK: int = 4096

SHA256_BLOCK: int = 64

def has_sha256() -> bool:
    """Whether the processor has instructions for SHA-256."""

def sha256_blocks(first_state: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], first: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], second_state: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], second: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """Bring the states of SHA-256 of two contents up to date."""

def crc32c(content: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, portable: bool = False) -> int:
    """CRC-32C of bytes."""

def block_checksums(content: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """CRC-32C of every block of a file."""

def check_column(content: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], checked: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], start: int, distance: int, span: int) -> int:
    """
    Check the blocks with `span` bytes at the same place of every row of `distance` bytes; as `check_spans`.
    """

def check_spans(content: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], checked: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], span: int) -> int:
    """
    Check the blocks of some spans that are not yet marked as checked; the number of a damaged one, or -1.
    """
