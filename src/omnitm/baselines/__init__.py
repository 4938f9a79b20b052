"""Other models of words, trained on the same text and giving the same `WordVectors`."""

from omnitm.baselines.gensim_models import FastText, Word2Vec
from omnitm.baselines.glove import GloVe
from omnitm.baselines.ppmi import PPMI
from omnitm.baselines.protocol import Baseline
from omnitm.baselines.registry import BASELINES, MODELS, OMNI, make_baseline
from omnitm.baselines.tmae import TMAE
from omnitm.baselines.two_phase import TwoPhaseTMAE

__all__ = [
    "BASELINES",
    "MODELS",
    "OMNI",
    "PPMI",
    "TMAE",
    "Baseline",
    "FastText",
    "GloVe",
    "TwoPhaseTMAE",
    "Word2Vec",
    "make_baseline",
]
