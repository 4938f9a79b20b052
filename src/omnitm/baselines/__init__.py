"""Other models of words, trained on the same text and giving the same `WordVectors`."""

from omnitm.baselines.bert import BERT, fine_tune
from omnitm.baselines.elmo import ELMo
from omnitm.baselines.gensim_models import FastText, Word2Vec
from omnitm.baselines.glove import GloVe
from omnitm.baselines.ppmi import PPMI
from omnitm.baselines.protocol import Baseline
from omnitm.baselines.registry import BASELINES, CONTEXTUAL, MODELS, OMNI, make_baseline
from omnitm.baselines.svd import SVD
from omnitm.baselines.tmae import TMAE
from omnitm.baselines.two_phase import TwoPhaseTMAE

__all__ = [
    "BASELINES",
    "BERT",
    "CONTEXTUAL",
    "MODELS",
    "OMNI",
    "PPMI",
    "SVD",
    "TMAE",
    "Baseline",
    "ELMo",
    "FastText",
    "GloVe",
    "TwoPhaseTMAE",
    "Word2Vec",
    "fine_tune",
    "make_baseline",
]
