"""BERT through `transformers`: any local folder or hub name, as it is or fine-tuned first."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from omnitm.baselines.protocol import Baseline, Learned, Limits
from omnitm.baselines.texts import mean_over_occurrences
from omnitm.corpus import DocumentIndex
from omnitm.errors import FileError, ParameterError, needs_extra
from omnitm.parameters import check_integer, check_real
from omnitm.training.progress import ProgressOption


@dataclass(frozen=True, kw_only=True)
class BERT(Baseline):
    """BERT (Devlin et al. 2019) or any encoder of its kind; a word is the mean over its occurrences.

    An occurrence is the mean of the last layer over the word's pieces, in the running text of the document.

    Parameters
    ----------
    model
        Folder of a model in the format of `transformers`, or its name on the hub.
    n_occurrences
        Documents to read for each word.
    max_length
        Pieces of a document to read.
    batch_size
        Documents to read at once.
    seed
        Not used: nothing is drawn.
    n_jobs
        Threads of torch.
    """

    model: str = "bert-base-uncased"
    n_occurrences: int = 20
    max_length: int = 128
    batch_size: int = 32
    seed: int = 0
    n_jobs: int = 1
    name = "bert"
    limits: ClassVar[Limits] = {
        **dict.fromkeys(("n_occurrences", "max_length", "batch_size", "n_jobs"), (1,)),
        "seed": (0, 2**32 - 1),
    }

    def learn(self, index: DocumentIndex, words: Sequence[str], progress: ProgressOption) -> Learned:
        """Read documents of the index and average; nothing is trained."""
        encoder = _Encoder(self)
        matrix = mean_over_occurrences(
            index, words, encoder, n_occurrences=self.n_occurrences, progress=progress
        )
        return matrix, {"layers": encoder.n_layers}


class _Encoder:
    def __init__(self, settings: BERT) -> None:
        self._torch, transformers = _libraries()
        self._torch.set_num_threads(settings.n_jobs)
        self._settings = settings
        self._tokenizer = _loaded(transformers.AutoTokenizer, settings.model)
        self._model = _loaded(transformers.AutoModel, settings.model).eval()
        self.size = int(self._model.config.hidden_size)
        self.n_layers = int(self._model.config.num_hidden_layers)

    def encode(self, documents: Sequence[list[str]]) -> list[NDArray[np.float32]]:
        """Give each piece of text the mean of the last layer over its word pieces."""
        order = sorted(range(len(documents)), key=lambda k: len(documents[k]))  # equal lengths pad little
        found: list[NDArray[np.float32]] = [np.zeros((0, self.size), np.float32)] * len(documents)
        for start in range(0, len(order), self._settings.batch_size):
            batch = [k for k in order[start : start + self._settings.batch_size] if documents[k]]
            if batch:
                for k, rows in zip(batch, self._batch([documents[k] for k in batch]), strict=True):
                    found[k] = rows
        return found

    def _batch(self, documents: list[list[str]]) -> list[NDArray[np.float32]]:
        coded = self._tokenizer(
            documents,
            is_split_into_words=True,
            truncation=True,
            max_length=self._settings.max_length,
            padding=True,
            return_tensors="pt",
        )
        with self._torch.inference_mode():
            hidden = self._model(**coded).last_hidden_state.numpy()
        return [_by_piece(hidden[k], coded.word_ids(k)) for k in range(len(documents))]


def fine_tune(
    model: str,
    texts: Sequence[str],
    labels: Sequence[str],
    output: str | Path,
    *,
    n_epochs: int = 3,
    batch_size: int = 8,
    learning_rate: float = 5e-5,
    max_norm: float = 1.0,
    max_length: int = 128,
    seed: int = 42,
    on_step: Callable[[int, int], object] | None = None,
) -> Path:
    """Teach a model to classify documents, with the paper's settings, and save it as a folder.

    Give the folder to `BERT(model=...)`. Returns it.
    """
    for name, value in (("n_epochs", n_epochs), ("batch_size", batch_size), ("max_length", max_length)):
        check_integer("fine_tune", name, value, 1)
    check_real("fine_tune", "learning_rate", learning_rate, 0)
    names = sorted(set(labels))
    if len(names) < 2 or len(texts) != len(labels):
        raise ParameterError(
            f"fine_tune needs a label for each text, and two different ones. Got {len(texts)} texts, "
            f"{len(labels)} labels and {len(names)} different ones."
        )
    torch, transformers = _libraries()
    torch.manual_seed(seed)
    tokenizer = _loaded(transformers.AutoTokenizer, model)
    network = _loaded(transformers.AutoModelForSequenceClassification, model, num_labels=len(names)).train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=learning_rate)
    batches = _batches(len(texts), batch_size, n_epochs, seed)
    options = {"truncation": True, "max_length": max_length, "padding": True, "return_tensors": "pt"}
    for step, batch in enumerate(batches, 1):
        coded = tokenizer([texts[k] for k in batch], **options)
        loss = network(**coded, labels=torch.tensor([names.index(labels[k]) for k in batch])).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), max_norm)
        optimizer.step()
        if on_step:
            on_step(step, len(batches))
    folder = Path(output)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    facts = {"from": model, "n_epochs": n_epochs, "batch_size": batch_size, "learning_rate": learning_rate}
    (folder / "omnitm-fine-tuning.json").write_text(json.dumps({**facts, "max_norm": max_norm, "seed": seed}))
    return folder


def _batches(count: int, size: int, n_epochs: int, seed: int) -> list[list[int]]:
    """Shuffle anew in every epoch, and cut into batches."""
    random = np.random.default_rng(seed)
    orders = [random.permutation(count).tolist() for _ in range(n_epochs)]
    return [order[start : start + size] for order in orders for start in range(0, count, size)]


def _by_piece(hidden: NDArray[np.float32], word_ids: Sequence[int | None]) -> NDArray[np.float32]:
    """Average over the word pieces of each piece of text; special pieces belong to none."""
    known = [(place, word) for place, word in enumerate(word_ids) if word is not None]
    n_words = max((word for _, word in known), default=-1) + 1
    sums, counts = np.zeros((n_words, hidden.shape[1]), np.float32), np.zeros(n_words, np.float32)
    places, words = [place for place, _ in known], [word for _, word in known]
    np.add.at(sums, words, hidden[places])
    np.add.at(counts, words, 1)
    means: NDArray[np.float32] = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    return means


def _loaded(kind: Any, model: str, **options: Any) -> Any:
    try:
        return kind.from_pretrained(model, **options)
    except (OSError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise FileError(
            model,
            f"cannot be loaded as a model of transformers ({reason}); give a folder or a name on the hub",
        ) from None


def _libraries() -> tuple[Any, Any]:
    with needs_extra("BERT", "bert"):
        import torch
        import transformers
    return torch, transformers
