"""Tsetlin machines: settings, the slow obvious reference, and the native kernels behind one interface."""

from omnitm.machine.autoencoder import (
    Autoencoder,
    Feedback,
    Recording,
    TrainingCorpus,
    WordTrainer,
    instruction_sets,
    n_features,
    running_of,
)
from omnitm.machine.draws import Examples, training_examples, training_places
from omnitm.machine.settings import PAPER, AutoencoderSettings, Contexts, Kind, kind_key, word_key

__all__ = [
    "PAPER",
    "Autoencoder",
    "AutoencoderSettings",
    "Contexts",
    "Examples",
    "Feedback",
    "Kind",
    "Recording",
    "TrainingCorpus",
    "WordTrainer",
    "instruction_sets",
    "kind_key",
    "n_features",
    "running_of",
    "training_examples",
    "training_places",
    "word_key",
]
