"""The machines of the paper, of the classic TM-AE and of the classifier, slow and obvious.

Every native kernel must equal them, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from omnitm.corpus import DocumentIndex
from omnitm.corpus.assembling import DOCUMENT_END, MARKS
from omnitm.corpus.running import JOINED_COLUMN, OFFSETS, feature_numbers
from omnitm.machine.classifier import active_clauses, draw_epoch
from omnitm.machine.draws import Purpose, below, draw, high, literal_coins, low
from omnitm.machine.settings import AutoencoderSettings, ClassifierSettings, Kind


class _Documents:
    """What a word is about: documents with it and without it, as sets of words; the word itself is hidden."""

    def __init__(self, index: DocumentIndex, settings: AutoencoderSettings, target: int) -> None:
        self._index, self.n_features, self.hidden = index, index.n_words, [target]
        self.merged = settings.accumulation
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
        self._features = feature_numbers(index.running.word_starts, settings.n_feature_words)
        n_words = len(index.running.feature_words(settings.n_feature_words))
        self._n_neighbours, self._n_joined = settings.n_neighbours_and_joined(n_words)
        self._joiners = settings.joiners
        self.n_features = len(OFFSETS) * self._n_neighbours + self._n_joined
        self.hidden: list[int] = []
        starts = index.running.word_starts.astype(np.int64)
        self.all = np.arange(starts[-1])
        self.inside = np.arange(starts[target], starts[target + 1])
        self.merged = settings.merged_places(len(self.inside))
        self.outside = np.setdiff1d(self.all, self.inside)

    def features_of(self, rank: int) -> list[int]:
        place, tokens = int(self._running.places[rank]), self._running.tokens
        features: list[int] = []
        for block, offset in enumerate(OFFSETS):
            between = tokens[place + offset // 2] if abs(offset) == 2 else None
            if between != DOCUMENT_END and 0 <= place + offset < len(tokens):
                self._append(features, tokens[place + offset], block, self._n_neighbours)
        for step in (-1, 1):
            number = self._running.joined_with(place, step, self._joiners)
            if number is not None:
                self._append(features, number, JOINED_COLUMN, self._n_joined)
        return features

    def _append(self, features: list[int], number: int, block: int, most: int) -> None:
        # Ends of documents and marks are no words.
        if number < len(self._features) and self._features[number] < most:
            features.append(block * self._n_neighbours + int(self._features[number]))


class _Passages:
    """What a word is about: passages with it and without it, as sets of words; the word itself is hidden."""

    def __init__(self, index: DocumentIndex, settings: AutoencoderSettings, target: int) -> None:
        assert index.running is not None  # noqa: S101  # the caller's business
        self._running, self._target, self._reach = index.running, target, settings.passage_reach
        self.n_features, self.hidden = index.n_words, [target] if target < index.n_words else []
        self.merged = settings.accumulation
        starts = index.running.word_starts.astype(np.int64)
        self.all = np.arange(starts[-1])
        self.inside = np.arange(starts[target], starts[target + 1])
        self.outside = np.setdiff1d(self.all, self.inside)

    def features_of(self, rank: int) -> list[int]:
        place, tokens = int(self._running.places[rank]), self._running.tokens
        ends = {int(DOCUMENT_END)} if tokens[place] == self._target else {int(DOCUMENT_END), self._target}
        numbers = [int(tokens[place])]
        for step in (-1, 1):
            at, n_words = place + step, 0
            while n_words < self._reach and int(tokens[at]) not in ends:
                if tokens[at] not in MARKS:
                    numbers.append(int(tokens[at]))
                    n_words += 1
                at += step
        return [number for number in numbers if number < self.n_features]


class ReferenceAutoencoder:
    """One target word's machine, example by example.

    `states` is clauses x literals; literal k is "feature k occurs", literal n_features + k "it does not". A
    feature is a word of a document or passage, or for the kind "place" a word at one of four places around
    the target, or joined with it.
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
        source: type[_Documents | _Passages | _Places] = _Places
        if kind == "topic":
            source = _Passages if settings.passage_reach else _Documents
        self._source = source(index, settings, target)
        self.n_features = n_features = self._source.n_features
        self.index, self.settings, self.target, self.key = index, settings, target, key
        heads = draw(key, Purpose.INITIAL_WEIGHT, 0, settings.n_clauses) >> np.uint64(63)
        self.weights: NDArray[np.int32] = np.where(heads == 1, 1, -1).astype(np.int32)
        self.states = np.full((settings.n_clauses, 2 * n_features), settings.include_from - 1, dtype=np.int16)
        # A literal that is not visible is never included and never learns: a target must not explain itself.
        self.visible = np.ones(2 * n_features, dtype=bool)
        self.visible[n_features:] = negated_literals
        for hidden in self._source.hidden:
            self.visible[[hidden, n_features + hidden]] = False
        self.trained = np.ones(settings.n_clauses, dtype=bool)
        if settings.algorithm == "fast":  # only positive clauses are read out, so only they are trained
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
        # A coin of 32 bits: heads if it is below the probability in units of 2**-32.
        return int(coin) < int(self.settings.output_balancing * 2**32)

    def documents(self, example: int, label: bool) -> list[int]:
        """Draw the documents of an example, or the ranks of its places, with replacement."""
        source = self._source
        pool = source.inside if label else source.outside
        if len(source.inside) == 0 or len(source.outside) == 0:  # the label then says nothing
            pool = source.all
        count = source.merged
        bits = draw(self.key, Purpose.DOCUMENT, example * count, count)
        # floor(u * n) for u = b / 2**64, in integers, so that native code gives the same.
        return [int(pool[(int(b) * len(pool)) >> 64]) for b in bits]

    def learn(self, example: int, label: bool, literals: NDArray[np.bool_]) -> None:
        """Give every clause that takes part its feedback."""
        settings, weights = self.settings, self.weights.copy()
        included = (self.states >= settings.include_from) & self.visible
        # A clause is true unless one of its literals is false; an empty one is true.
        outputs: NDArray[np.bool_] = np.logical_not((included & ~literals).any(axis=1))
        gate, coin, weight_coin = self.coins(example)
        taking_part, vote = self.trained, 0
        if settings.algorithm == "exact":
            taking_part = self.passes(gate)
            vote = int(
                np.clip((weights * outputs)[taking_part].sum(), -settings.threshold, settings.threshold)
            )
        # Feedback with probability (T - vote) / 2T for the label, (T + vote) / 2T against it: the surer the
        # machine already is, the rarer. Coins are from 0 to 2T - 1.
        chance = settings.threshold - vote if label else settings.threshold + vote
        for clause in map(int, np.flatnonzero(taking_part & (coin < chance))):
            if (weights[clause] >= 0) == label:
                self.type_i(example, clause, bool(outputs[clause]), int(included[clause].sum()), literals)
            elif outputs[clause]:
                self.type_ii(clause, literals)
        # After all feedback, which is given by the weights as they were before this example.
        if settings.algorithm == "exact":
            self.weights[taking_part & outputs & (weight_coin < chance)] += 1 if label else -1

    def passes(self, gate: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Decide which clauses take part: the heavier, the more rarely."""
        threshold = self.settings.threshold
        # With probability 1 - |weight| / T; never from |weight| = T on.
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
            # Ia: true literals step up, always (boosted); false ones step down where the coin says so.
            self._step(clause, literals.astype(np.int16) - (~literals & forget))
        else:
            # Ib: all literals step down where the coin says so.
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
    # Rounded down, also below 0: the native read-out does the same.
    embedding: NDArray[np.int16] = (sums // len(positive)).astype(np.int16)
    return embedding


class _Member(ReferenceAutoencoder):
    """One word: draws and weights of its own, the states of all."""

    bank: ReferenceSharedAutoencoder

    def passes(self, gate: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Decide by the mean magnitude of a clause's weights over all words, without rounding."""
        count, threshold = len(self.bank.members), self.settings.threshold
        sums = np.abs(self.bank.weights.astype(np.int64)).sum(axis=0)
        # gate < T - mean(|weight|), multiplied by the number of words.
        passes: NDArray[np.bool_] = gate * count < threshold * count - np.minimum(sums, threshold * count)
        return passes


class ReferenceSharedAutoencoder:
    """A bank of clauses that learns several target words in turn.

    Draws of a word come from its own key, as in a machine of its own; the first weights, the same for all
    words, and the order of the words come from `key`.
    """

    def __init__(
        self,
        index: DocumentIndex,
        settings: AutoencoderSettings,
        targets: Sequence[int],
        keys: Sequence[int],
        key: int,
        *,
        negated_literals: bool = True,
    ) -> None:
        self.settings, self.key = settings, key
        first = ReferenceAutoencoder(index, settings, targets[0], key)
        self.states = first.states
        self.members = []
        for target, own_key in zip(targets, keys, strict=True):
            member = _Member(index, settings, target, own_key, negated_literals=negated_literals)
            member.bank, member.states, member.weights = self, self.states, first.weights.copy()
            self.members.append(member)

    @property
    def weights(self) -> NDArray[np.int32]:
        """Clause weights, words x clauses."""
        return np.array([member.weights for member in self.members])

    def train(self) -> ReferenceSharedAutoencoder:
        """Show every word all of its examples, one at a time, in an order that changes."""
        for example in range(self.settings.total_examples):
            for row in self.order(example):
                member = self.members[row]
                label, literals = member.prepare(example)
                member.learn(example, label, literals)
        return self

    def order(self, example: int) -> list[int]:
        """Shuffle the words."""
        count = len(self.members)
        bits = draw(self.key, Purpose.ORDER, example * count, count).tolist()
        # Fisher and Yates, from the end: position k gets one of the k + 1 words that are left.
        order = list(range(count))
        for k in range(count - 1, 0, -1):
            other = (bits[k] * (k + 1)) >> 64
            order[k], order[other] = order[other], order[k]
        return order


class ReferenceClassifier:
    """A bank of clauses per class, trained document by document.

    `states` is classes x clauses x literals; literal k is "word k occurs", literal n_words + k "word k does
    not". The first half of a class's clauses votes for it, the second against it.
    """

    def __init__(self, settings: ClassifierSettings, n_classes: int, n_words: int, key: int) -> None:
        self.settings, self.n_classes, self.n_words, self.key = settings, n_classes, n_words, key
        shape = n_classes, settings.n_clauses, 2 * n_words
        self.states = np.full(shape, settings.include_from - 1, dtype=np.int16)
        self.votes_for = np.arange(settings.n_clauses) < settings.n_clauses // 2
        self.weights = np.tile(np.where(self.votes_for, 1, -1), (n_classes, 1)).astype(np.int32)
        self.n_epochs = self.n_examples = 0

    def learn_epoch(self, documents: NDArray[np.bool_], labels: NDArray[np.int64]) -> ReferenceClassifier:
        """Show every document (rows of words) once, to its own class and to one other."""
        epoch = draw_epoch(self.key, self.n_epochs, self.n_examples, labels, self.n_classes)
        active = [
            active_clauses(self.key, self.settings, epoch.number, label, self.n_classes)
            for label in range(self.n_classes)
        ]
        for position, document in enumerate(epoch.order):
            literals = np.concatenate([documents[document], ~documents[document]])
            target, other = int(epoch.targets[position]), int(epoch.others[position])
            step = 2 * (epoch.first_example + position)
            self.learn(step, target, active[target], literals, belongs=True)
            self.learn(step + 1, other, active[other], literals, belongs=False)
        self.n_epochs += 1
        self.n_examples += len(labels)
        return self

    def learn(
        self, step: int, label: int, active: NDArray[np.bool_], literals: NDArray[np.bool_], *, belongs: bool
    ) -> None:
        """Teach the clauses of one class that a document belongs to it, or that it does not."""
        threshold, weights = self.settings.threshold, self.weights[label]
        included = self.states[label] >= self.settings.include_from
        outputs: NDArray[np.bool_] = ~(included & ~literals).any(axis=1)
        remembers = outputs & self.is_small(included)
        vote = int(np.clip(weights[active & outputs].sum(), -threshold, threshold))
        # Out of 2T, as in `ReferenceAutoencoder.learn`.
        chance = threshold - vote if belongs else threshold + vote
        feedback_coin, weight_coin = self.coins(step)
        for clause in np.flatnonzero(active & (feedback_coin < chance)).tolist():
            if self.votes_for[clause] == belongs:
                self._step(label, clause, self.type_i(step, clause, remembers[clause], literals))
            elif outputs[clause]:
                self._step(label, clause, (~literals).astype(np.int16))
        self.move_weights(weights, active & outputs & (weight_coin < chance), belongs=belongs)

    def is_small(self, included: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say which clauses have so few literals that they may take up more."""
        limit = self.settings.max_included_literals
        small: NDArray[np.bool_] = included.sum(axis=1) <= (included.shape[1] if limit is None else limit)
        return small

    def coins(self, step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Toss each clause's feedback coin and weight coin (below 2T)."""
        count = self.settings.n_clauses
        bits = draw(self.key, Purpose.GATE_AND_FEEDBACK, step * count, count)
        bound = 2 * self.settings.threshold
        return below(high(bits), bound), below(low(bits), bound)

    def type_i(
        self, step: int, clause: int, remembers: bool, literals: NDArray[np.bool_]
    ) -> NDArray[np.int16]:
        """Remember what is there (Ia) or forget (Ib)."""
        number = step * self.settings.n_clauses + clause
        forget = literal_coins(self.key, number, self.n_words, self.settings.forget_probability)
        return literals.astype(np.int16) - (~literals & forget) if remembers else -forget.astype(np.int16)

    def move_weights(self, weights: NDArray[np.int32], moved: NDArray[np.bool_], *, belongs: bool) -> None:
        """Move weights towards the class or away from it; none changes its sign or becomes 0."""
        last = -1 if belongs else 1
        weights[moved & (weights != last)] += 1 if belongs else -1

    def _step(self, label: int, clause: int, change: NDArray[np.int16]) -> None:
        states = self.states[label, clause]
        self.states[label, clause] = np.clip(states + change, 0, self.settings.max_state)

    def votes(self, documents: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Sum each class's weights over its clauses that are true; an empty clause is silent."""
        literals = np.concatenate([documents, ~documents], axis=1)
        included = self.states >= self.settings.include_from
        votes = np.zeros((len(documents), self.n_classes), dtype=np.int64)
        for row, truth in enumerate(literals):
            outputs = included.any(axis=2) & ~(included & ~truth).any(axis=2)
            votes[row] = (self.weights * outputs).sum(axis=1)
        return votes
