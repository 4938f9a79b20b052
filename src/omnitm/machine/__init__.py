"""Tsetlin machines: settings, the slow obvious reference, and the native kernels behind one interface."""

from omnitm.machine.settings import PAPER, AutoencoderSettings, word_key

__all__ = ["PAPER", "AutoencoderSettings", "word_key"]
