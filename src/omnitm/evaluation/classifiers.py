"""The six classifiers of the paper's Table 2, with its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnitm.parameters import check_choice, check_integer

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 42  # the paper's


def make_classifier(name: str, n_jobs: int = 1) -> Any:
    """Make a classifier by the name that the paper's Table 2 gives it.

    >>> make_classifier("NB")
    MultinomialNB()
    """
    check_choice("make_classifier", "name", name, CLASSIFIERS)
    check_integer("make_classifier", "n_jobs", n_jobs, 1)
    return CLASSIFIERS[name](n_jobs)


def _forest(n_jobs: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, random_state=SEED, n_jobs=n_jobs)


def _regression(_: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(random_state=SEED)


def _bayes(_: int) -> Any:
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB()


def _vector_machine(_: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=SEED)


def _perceptron(_: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(random_state=SEED)


def _tsetlin_machine(n_jobs: int) -> Any:
    from omnitm.machine.classifier import TsetlinMachineClassifier

    return TsetlinMachineClassifier(
        n_clauses=1000,
        threshold=8000,
        specificity=2.0,
        clause_drop=0.75,
        n_epochs=10,
        binarize=0,
        seed=SEED,
        n_jobs=n_jobs,
    )


CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "RF": _forest,
    "LR": _regression,
    "NB": _bayes,
    "SVM": _vector_machine,
    "MLP": _perceptron,
    "TM": _tsetlin_machine,
}
