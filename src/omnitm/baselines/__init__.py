"""Other models of words, trained on the same text and giving the same `WordVectors`."""

from omnitm.baselines.gensim_models import FastText, Word2Vec
from omnitm.baselines.protocol import Baseline
from omnitm.baselines.registry import BASELINES, MODELS, OMNI, make_baseline

__all__ = ["BASELINES", "MODELS", "OMNI", "Baseline", "FastText", "Word2Vec", "make_baseline"]
