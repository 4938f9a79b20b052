"""One place that knows every model by its name."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from omnitm.baselines.bert import BERT
from omnitm.baselines.elmo import ELMo
from omnitm.baselines.gensim_models import FastText, Word2Vec
from omnitm.baselines.glove import GloVe
from omnitm.baselines.ppmi import PPMI
from omnitm.baselines.svd import SVD
from omnitm.baselines.tmae import TMAE
from omnitm.baselines.two_phase import TwoPhaseTMAE
from omnitm.errors import ParameterError
from omnitm.parameters import check_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnitm.baselines.protocol import Baseline

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
