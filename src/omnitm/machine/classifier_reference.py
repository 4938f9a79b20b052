"""The classifier, slow and obvious: what the native kernel must equal, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from omnitm.machine.classifier_banks import active_clauses, draw_epoch
from omnitm.machine.draws import Purpose, below, draw, high, literal_coins, low

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from omnitm.machine.classifier_settings import ClassifierSettings


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
