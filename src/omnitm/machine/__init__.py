"""Tsetlin machines: settings, the slow obvious reference, and the native kernels behind one interface."""

from omnitm.machine.autoencoder import Autoencoder, Feedback, Recording, TrainingCorpus, instruction_sets
from omnitm.machine.examples import Examples, training_examples
from omnitm.machine.settings import PAPER, AutoencoderSettings, word_key

__all__ = [
    "PAPER",
    "Autoencoder",
    "AutoencoderSettings",
    "Examples",
    "Feedback",
    "Recording",
    "TrainingCorpus",
    "instruction_sets",
    "training_examples",
    "word_key",
]
