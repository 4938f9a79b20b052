"""A model on disk: what its files hold, how they are written, and how they are checked."""

from omnitm.store.folder import ModelFolder, write_model
from omnitm.store.loading import load_model
from omnitm.store.packed import StoredModel
from omnitm.store.packing import pack_model, unpack_model
from omnitm.store.record import AnyRecord, ModelRecord, TrainingRecord, index_fingerprint, omni_record

__all__ = [
    "AnyRecord",
    "ModelFolder",
    "ModelRecord",
    "StoredModel",
    "TrainingRecord",
    "index_fingerprint",
    "load_model",
    "omni_record",
    "pack_model",
    "unpack_model",
    "write_model",
]
