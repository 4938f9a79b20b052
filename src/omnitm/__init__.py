"""Word embeddings made of logic: Omni TM-AE, exact and fast.

>>> from omnitm import OmniTMAE, WordVectors
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "DocumentIndex",
    "Explainer",
    "OmniTMAE",
    "OmniVectorizer",
    "WordVectors",
    "__version__",
    "train_model",
]

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex
    from omnitm.embedding.estimator import OmniTMAE
    from omnitm.embedding.training import train_model
    from omnitm.embedding.vectorizer import OmniVectorizer
    from omnitm.embedding.word_vectors import WordVectors
    from omnitm.explain import Explainer

_HOMES = {
    "DocumentIndex": "omnitm.corpus",
    "Explainer": "omnitm.explain",
    "OmniTMAE": "omnitm.embedding.estimator",
    "OmniVectorizer": "omnitm.embedding.vectorizer",
    "WordVectors": "omnitm.embedding.word_vectors",
    "train_model": "omnitm.embedding.training",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import omnitm` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'omnitm' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
