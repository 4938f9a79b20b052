"""Other models of words, trained on the same text and giving the same `WordVectors`, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from omnitm.baselines.bert import BERT, fine_tune
from omnitm.baselines.elmo import ELMo
from omnitm.baselines.gensim_models import FastText, Word2Vec
from omnitm.baselines.glove import GloVe
from omnitm.baselines.ppmi import PPMI, SVD
from omnitm.baselines.protocol import Baseline
from omnitm.baselines.tmae import TMAE, TwoPhaseTMAE
from omnitm.errors import ParameterError
from omnitm.parameters import check_choice

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

BASELINES: dict[str, type[Any]] = {
    model.name: model for model in (Word2Vec, FastText, GloVe, PPMI, SVD, TMAE, TwoPhaseTMAE, BERT, ELMo)
}
CONTEXTUAL = (BERT.name, ELMo.name)  # read sentences; a word is the mean over its occurrences
OMNI = ("omni", "fast-omni")  # trained word by word, so that they can be resumed: see `train_model`
MODELS = (*OMNI, *BASELINES)


def make_baseline(name: str, settings: Mapping[str, Any]) -> Baseline:
    """Make a baseline by name; settings that it does not have are an error that lists those it has.

    >>> make_baseline("word2vec", {"window": 3}).window
    3
    """
    model = BASELINES[check_choice("make_baseline", "name", name, BASELINES)]
    known = [field.name for field in fields(model)]
    for setting in settings:
        if setting not in known:
            raise ParameterError(f"{name} has no setting {setting!r}; it has {', '.join(known)}.")
    baseline: Baseline = model(**settings)
    return baseline
