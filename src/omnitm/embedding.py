"""Deprecated import paths of word vectors, training and the store; they go with the next release."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module

from omnitm.training import train_model, train_vectors
from omnitm.vectors import WordVectors

__all__ = ["WordVectors", "train_model", "train_vectors"]

_MOVED = {
    "compact": "omnitm.vectors.compact",
    "estimator": "omnitm.training.estimator",
    "sharing": "omnitm.sharing",
    "sharing.export": "omnitm.sharing.export",
    "sharing.sentences": "omnitm.vectors.document_vectors",
    "store": "omnitm.store",
    "store.packing": "omnitm.store.packing",
    "training": "omnitm.training.vocabulary",
    "vectorizer": "omnitm.vectors.vectorizer",
    "word_vectors": "omnitm.vectors.word_vectors",
}
__path__: list[str] = []  # a package to the import system: `omnitm.embedding.training` is looked for below
for _old, _new in _MOVED.items():
    sys.modules[f"{__name__}.{_old}"] = import_module(_new)
warnings.warn(
    "omnitm.embedding is now omnitm.vectors, omnitm.training, omnitm.store and omnitm.sharing; "
    "the names most people need are in omnitm itself.",
    DeprecationWarning,
    stacklevel=2,
)
