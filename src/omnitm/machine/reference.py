"""The machine of the paper, slow and obvious: what every native kernel must equal, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm.corpus.assembling import DOCUMENT_END
from omnitm.corpus.running import NO_FEATURE, OFFSETS, feature_numbers
from omnitm.machine.draws import Purpose, below, draw, high, literal_coins, low

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.corpus import DocumentIndex
    from omnitm.machine.settings import AutoencoderSettings, Kind


class _Documents:
    """What a word is about: documents with it and without it, as sets of words; the word itself is hidden."""

    def __init__(self, index: DocumentIndex, target: int) -> None:
        self._index, self.n_features, self.hidden = index, index.n_words, [target]
        self.all = np.arange(index.n_documents)
        self.inside = index.documents_with(target)
        self.outside = np.setdiff1d(self.all, self.inside)

    def features_of(self, document: int) -> NDArray[np.uint32]:
        return self._index.words_of(document)


class _Places:
    """Where a word stands: places of it and of other words, as sets of neighbours; nothing is hidden."""

    def __init__(self, index: DocumentIndex, settings: AutoencoderSettings, target: int) -> None:
        assert index.running is not None  # noqa: S101  # the caller's business
        self._running = index.running
        self._features = feature_numbers(index.running.word_starts, settings.n_place_features)
        self._n_words = len(index.running.feature_words(settings.n_place_features))
        self.n_features = len(OFFSETS) * self._n_words
        self.hidden: list[int] = []
        starts = index.running.word_starts.astype(np.int64)
        self.all = np.arange(starts[-1])
        self.inside = np.arange(starts[target], starts[target + 1])
        self.outside = np.setdiff1d(self.all, self.inside)

    def features_of(self, rank: int) -> list[int]:
        place, tokens = int(self._running.places[rank]), self._running.tokens
        features = []
        for block, offset in enumerate(OFFSETS):
            between = tokens[place + offset // 2] if abs(offset) == 2 else None
            if between == DOCUMENT_END or not 0 <= place + offset < len(tokens):
                continue
            number = tokens[place + offset]
            if number != DOCUMENT_END and self._features[number] != NO_FEATURE:
                features.append(block * self._n_words + int(self._features[number]))
        return features


class ReferenceAutoencoder:
    """One target word's machine, example by example.

    `states` is clauses x literals; literal k is "feature k occurs", literal n_features + k "it does not". A
    feature is a word of a document, or for the kind "place" a word at one of four places around the target.
    """

    def __init__(
        self,
        index: DocumentIndex,
        settings: AutoencoderSettings,
        target: int,
        key: int,
        *,
        kind: Kind = "topic",
        negated_literals: bool = True,
    ) -> None:
        self._source = _Documents(index, target) if kind == "topic" else _Places(index, settings, target)
        self.n_features = n_features = self._source.n_features
        self.index, self.settings, self.target, self.key = index, settings, target, key
        heads = draw(key, Purpose.INITIAL_WEIGHT, 0, settings.n_clauses) >> np.uint64(63)
        self.weights: NDArray[np.int32] = np.where(heads == 1, 1, -1).astype(np.int32)
        self.states = np.full((settings.n_clauses, 2 * n_features), settings.include_from - 1, dtype=np.int16)
        self.visible = np.ones(2 * n_features, dtype=bool)
        self.visible[n_features:] = negated_literals
        for hidden in self._source.hidden:
            self.visible[[hidden, n_features + hidden]] = False
        self.trained = np.ones(settings.n_clauses, dtype=bool)
        if settings.algorithm == "fast":
            self.trained = self.weights > 0

    def train(self) -> ReferenceAutoencoder:
        """Learn from all examples."""
        for example in range(self.settings.total_examples):
            label, literals = self.prepare(example)
            self.learn(example, label, literals)
        return self

    def prepare(self, example: int) -> tuple[bool, NDArray[np.bool_]]:
        """Draw a label and merge documents that have it into one set of true literals."""
        label = self.label(example)
        present = np.zeros(self.n_features, dtype=bool)
        for document in self.documents(example, label):
            present[self._source.features_of(document)] = True
        return label, np.concatenate([present, ~present])

    def label(self, example: int) -> bool:
        """Draw whether the example shows the target."""
        coin = high(draw(self.key, Purpose.LABEL, example, 1))[0]
        return int(coin) < int(self.settings.output_balancing * 2**32)

    def documents(self, example: int, label: bool) -> list[int]:
        """Draw the documents of an example, or the ranks of its places, with replacement."""
        source = self._source
        pool = source.inside if label else source.outside
        if len(source.inside) == 0 or len(source.outside) == 0:
            pool = source.all
        count = self.settings.accumulation
        bits = draw(self.key, Purpose.DOCUMENT, example * count, count)
        return [int(pool[(int(b) * len(pool)) >> 64]) for b in bits]

    def learn(self, example: int, label: bool, literals: NDArray[np.bool_]) -> None:
        """Give every clause that takes part its feedback."""
        settings, weights = self.settings, self.weights.copy()
        included = (self.states >= settings.include_from) & self.visible
        outputs: NDArray[np.bool_] = np.logical_not((included & ~literals).any(axis=1))
        gate, coin, weight_coin = self.coins(example)
        taking_part, vote = self.trained, 0
        if settings.algorithm == "exact":
            taking_part = self.passes(gate)
            vote = int(
                np.clip((weights * outputs)[taking_part].sum(), -settings.threshold, settings.threshold)
            )
        chance = settings.threshold - vote if label else settings.threshold + vote
        for clause in map(int, np.flatnonzero(taking_part & (coin < chance))):
            if (weights[clause] >= 0) == label:
                self.type_i(example, clause, bool(outputs[clause]), int(included[clause].sum()), literals)
            elif outputs[clause]:
                self.type_ii(clause, literals)
        if settings.algorithm == "exact":
            self.weights[taking_part & outputs & (weight_coin < chance)] += 1 if label else -1

    def passes(self, gate: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Decide which clauses take part: the heavier, the more rarely."""
        threshold = self.settings.threshold
        passes: NDArray[np.bool_] = gate < threshold - np.minimum(np.abs(self.weights), threshold)
        return passes

    def coins(self, example: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Toss each clause's gate (below T), feedback coin and weight coin (below 2T)."""
        threshold, count = self.settings.threshold, self.settings.n_clauses
        bits = draw(self.key, Purpose.GATE_AND_FEEDBACK, example * count, count)
        weight_bits = draw(self.key, Purpose.WEIGHT, example * count, count)
        return (
            below(high(bits), threshold),
            below(low(bits), 2 * threshold),
            below(high(weight_bits), 2 * threshold),
        )

    def type_i(
        self, example: int, clause: int, output: bool, n_included: int, literals: NDArray[np.bool_]
    ) -> None:
        """Remember what is there (Ia) or forget (Ib)."""
        limit = self.settings.max_included_literals
        forget = literal_coins(
            self.key,
            example * self.settings.n_clauses + clause,
            self.n_features,
            self.settings.forget_probability,
        )
        if output and (limit is None or n_included <= limit):
            self._step(clause, literals.astype(np.int16) - (~literals & forget))
        else:
            self._step(clause, -forget.astype(np.int16))

    def type_ii(self, clause: int, literals: NDArray[np.bool_]) -> None:
        """Move false literals towards inclusion, so that the clause learns to reject the example."""
        self._step(clause, (~literals).astype(np.int16))

    def _step(self, clause: int, change: NDArray[np.int16]) -> None:
        moved = np.clip(self.states[clause] + change, 0, self.settings.max_state)
        self.states[clause] = np.where(self.visible, moved, self.states[clause])


def omni_embedding(states: NDArray[np.int16], weights: NDArray[np.int32]) -> NDArray[np.int16]:
    """Read out Algorithm 1 of the paper: the mean over positive clauses of state minus negated state."""
    positive = states[weights > 0].astype(np.int64)
    n_words = states.shape[1] // 2
    if len(positive) == 0:
        return np.zeros(n_words, dtype=np.int16)
    sums = (positive[:, :n_words] - positive[:, n_words:]).sum(axis=0)
    embedding: NDArray[np.int16] = (sums // len(positive)).astype(np.int16)
    return embedding
