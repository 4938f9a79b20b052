"""A model on disk: what its files hold, how they are written, and how they are checked."""

from omnitm.embedding.store.folder import ModelFolder
from omnitm.embedding.store.loading import StoredModel, load_model
from omnitm.embedding.store.record import TrainingRecord, index_fingerprint

__all__ = ["ModelFolder", "StoredModel", "TrainingRecord", "index_fingerprint", "load_model"]
