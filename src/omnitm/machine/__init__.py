"""Tsetlin machines: settings, the slow obvious reference, and the native kernels behind one interface."""

from omnitm.machine.autoencoder import Autoencoder, instruction_sets
from omnitm.machine.settings import PAPER, AutoencoderSettings, word_key

__all__ = ["PAPER", "Autoencoder", "AutoencoderSettings", "instruction_sets", "word_key"]
