"""Word embeddings made of logic: Omni TM-AE, exact and fast.

>>> from omnitm import OmniTMAE, WordVectors
"""

import logging
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "DocumentIndex",
    "Explainer",
    "OmniTMAE",
    "OmniVectorizer",
    "TsetlinMachineClassifier",
    "WordVectors",
    "__version__",
    "compare",
    "compare_corpora",
    "train_model",
]

if TYPE_CHECKING:
    from omnitm.comparison import compare, compare_corpora
    from omnitm.corpus import DocumentIndex
    from omnitm.explain import Explainer
    from omnitm.machine.classifier import TsetlinMachineClassifier
    from omnitm.training.estimator import OmniTMAE
    from omnitm.training.vocabulary import train_model
    from omnitm.vectors.vectorizer import OmniVectorizer
    from omnitm.vectors.word_vectors import WordVectors

_HOMES = {
    "DocumentIndex": "omnitm.corpus",
    "Explainer": "omnitm.explain",
    "OmniTMAE": "omnitm.training.estimator",
    "OmniVectorizer": "omnitm.vectors.vectorizer",
    "TsetlinMachineClassifier": "omnitm.machine.classifier",
    "WordVectors": "omnitm.vectors.word_vectors",
    "compare": "omnitm.comparison",
    "compare_corpora": "omnitm.comparison",
    "train_model": "omnitm.training.vocabulary",
}

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent until the user asks for a log


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import omnitm` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'omnitm' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
