"""ELMo: published weights if there are any, else a small model trained on the text of the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitm.baselines.protocol import Baseline, Learned, Limits
from omnitm.baselines.texts import mean_over_occurrences, texts_of
from omnitm.corpus import DocumentIndex
from omnitm.errors import ParameterError, needs_extra
from omnitm.training.progress import ProgressOption, reporting

_FILTERS = [[1, 16], [2, 16], [3, 32], [4, 32]]  # width and number, for models trained here
_LETTERS, _LETTER_SIZE = 24, 16
_LONGEST = 64  # pieces of a document that are read


@dataclass(frozen=True, kw_only=True)
class ELMo(Baseline):
    """ELMo (Peters et al. 2018): a language model of letters; a word is the mean over its occurrences.

    An occurrence is the mean of all layers, as the published module gives it by default.

    Parameters
    ----------
    options, weights
        Files of a published model, `options.json` and `weights.hdf5`; None: train a small model first.
    n_occurrences
        Documents to read for each word.
    projection, dimension, n_layers
        Size of the model trained here.
    n_documents, n_epochs, batch_size, learning_rate
        How much it is trained.
    seed
        Of its first weights and of the documents drawn.
    n_jobs
        Threads of torch.
    """

    options: str | None = None
    weights: str | None = None
    n_occurrences: int = 20
    projection: int = 64
    dimension: int = 128
    n_layers: int = 2
    n_documents: int = 20_000
    n_epochs: int = 1
    batch_size: int = 64
    learning_rate: float = 2e-3
    seed: int = 0
    n_jobs: int = 1
    name = "elmo"
    limits: ClassVar[Limits] = {
        **dict.fromkeys(("n_occurrences", "projection", "dimension", "n_layers", "n_documents"), (1,)),
        **dict.fromkeys(("n_epochs", "batch_size", "n_jobs"), (1,)),
        "learning_rate": (0,),
        "seed": (0, 2**32 - 1),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.options is None) != (self.weights is None):
            raise ParameterError("ELMo needs both 'options' and 'weights' of a published model, or neither.")

    def learn(self, index: DocumentIndex, words: Sequence[str], progress: ProgressOption) -> Learned:
        """Load or train a language model, then read documents and average."""
        _torch().set_num_threads(self.n_jobs)
        encoder = _Encoder(self, index, progress)
        matrix = mean_over_occurrences(
            index, words, encoder, n_occurrences=self.n_occurrences, progress=progress
        )
        return matrix, {"origin": encoder.origin}


class _Encoder:
    def __init__(self, settings: ELMo, index: DocumentIndex, progress: ProgressOption) -> None:
        from omnitm.baselines.elmo_network import published_model

        self._settings = settings
        if settings.options is not None and settings.weights is not None:
            self._model = published_model(Path(settings.options), Path(settings.weights))
            self.origin = "published weights"
        else:
            self._model = trained_model(settings, index, progress)
            self.origin = f"trained here on at most {settings.n_documents:,} documents"
        self.size = 2 * self._model.size

    def encode(self, documents: Sequence[list[str]]) -> list[NDArray[np.float32]]:
        """Give each piece of text the mean of all layers."""
        found: list[NDArray[np.float32]] = []
        with _torch().inference_mode():
            for start in range(0, len(documents), self._settings.batch_size):
                batch = [pieces[:_LONGEST] for pieces in documents[start : start + self._settings.batch_size]]
                found.extend(rows.numpy() for rows in self._model.embed(batch))
        return found


def small_options(settings: ELMo) -> dict[str, Any]:
    """Options of a model that is trained here, in the published form."""
    lstm = {"projection_dim": settings.projection, "dim": settings.dimension, "n_layers": settings.n_layers}
    return {
        "lstm": {**lstm, "use_skip_connections": True, "cell_clip": 3, "proj_clip": 3},
        "char_cnn": {
            "activation": "relu",
            "filters": _FILTERS,
            "n_highway": 1,
            "embedding": {"dim": _LETTER_SIZE},
            "n_characters": 262,
            "max_characters_per_token": _LETTERS,
        },
    }


def trained_model(settings: ELMo, index: DocumentIndex, progress: ProgressOption = False) -> Any:
    """Train a language model to foresee the next and the previous word of documents."""
    from omnitm.baselines.elmo_network import BiLM, character_ids

    torch = _torch()
    torch.manual_seed(settings.seed)
    model = BiLM(small_options(settings))
    head = torch.nn.Linear(model.size, index.n_words + 1)  # the last is any other word
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=settings.learning_rate)
    random = np.random.default_rng(settings.seed)
    count = min(settings.n_documents, index.n_documents)
    chosen = np.sort(random.permutation(index.n_documents)[:count])
    documents = [text.split()[:_LONGEST] for text in texts_of(index, chosen.tolist())]
    with reporting(progress, 0, settings.n_epochs * len(documents), "training on documents") as report:
        for epoch in range(settings.n_epochs):
            order = random.permutation(len(documents)).tolist()
            for start in range(0, len(order), settings.batch_size):
                batch = [documents[k] for k in order[start : start + settings.batch_size]]
                ids = character_ids(batch, model.letters)
                loss = _language_loss(model, head, ids, _targets(index, batch, ids.shape[1]))
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                report(epoch * len(documents) + start + len(batch))
    return model.eval()


def _language_loss(model: Any, head: Any, ids: Any, targets: Any) -> Any:
    """How badly the next and the previous word are foreseen."""
    _, (forward, backward) = model(ids)
    return _loss(head, forward[-1][:, :-1], targets[:, 1:]) + _loss(
        head, backward[-1][:, 1:], targets[:, :-1]
    )


def _targets(index: DocumentIndex, batch: Sequence[Sequence[str]], width: int) -> Any:
    """Numbers of words, with a place for each mark; -100, which torch leaves out, where nothing is."""
    tokens, known = index.preparation_or_default.tokens, {word: k for k, word in enumerate(index.vocabulary)}
    found = np.full((len(batch), width), -100, dtype=np.int64)
    for row, pieces in enumerate(batch):
        for place, piece in enumerate(pieces, 1):
            word = tokens(piece)
            found[row, place] = known.get(word[0], index.n_words) if len(word) == 1 else index.n_words
    return _torch().from_numpy(found)


def _loss(head: Any, hidden: Any, targets: Any) -> Any:
    """Cross entropy over the places that have a word."""
    torch = _torch()
    wanted = targets >= 0
    if not bool(wanted.any()):
        return hidden.sum() * 0
    return torch.nn.functional.cross_entropy(head(hidden[wanted]), targets[wanted])


def _torch() -> Any:
    with needs_extra("ELMo", "elmo"):
        import torch
    return torch
