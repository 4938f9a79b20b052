"""The network of ELMo (Peters et al. 2018) in torch: letters, highways, two directions of LSTMs.

Imported only where torch is installed. Gates are in the order input, new, forget, output, as the published
weights have them; the forget gate's bias of 1, which TensorFlow adds itself, is added here as well.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from omnitm.errors import FileError, needs_extra

_BEGIN_SENTENCE, _END_SENTENCE, _BEGIN_WORD, _END_WORD, _PAD = 256, 257, 258, 259, 260
_N_CHARACTERS = 262  # 256 bytes, five signs, and 0 for no word at all
_ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


def character_ids(sentences: Sequence[Sequence[str]], length: int) -> torch.Tensor:
    """Sentences x (words + 2) x letters, with marks of beginning and end; 0 where a sentence has ended."""
    longest = max(map(len, sentences), default=0) + 2
    ids = np.zeros((len(sentences), longest, length), dtype=np.int64)
    for row, words in enumerate(sentences):
        signs = [[_BEGIN_SENTENCE], *(list(word.encode()[: length - 2]) for word in words), [_END_SENTENCE]]
        for place, letters in enumerate(signs):
            ids[row, place] = _PAD + 1
            ids[row, place, : len(letters) + 2] = [_BEGIN_WORD + 1, *(x + 1 for x in letters), _END_WORD + 1]
    return torch.from_numpy(ids)


class BiLM(nn.Module):  # type: ignore[misc]
    """A language model that reads in both directions.

    Parameters
    ----------
    options
        As in the published `options.json` files.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__()
        cnn, lstm = options["char_cnn"], options["lstm"]
        self.letters = int(cnn["max_characters_per_token"])
        self.activation = _ACTIVATIONS[cnn["activation"]]
        n_filters, size = sum(count for _, count in cnn["filters"]), int(lstm["projection_dim"])
        dimension = int(cnn["embedding"]["dim"])
        self.embedding = nn.Embedding(_N_CHARACTERS, dimension, padding_idx=0)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(dimension, count, width) for width, count in cnn["filters"]
        )
        self.carry = nn.ModuleList(nn.Linear(n_filters, n_filters) for _ in range(cnn["n_highway"]))
        self.transform = nn.ModuleList(nn.Linear(n_filters, n_filters) for _ in range(cnn["n_highway"]))
        self.projection = nn.Linear(n_filters, size)
        self.directions = nn.ModuleList(
            nn.ModuleList(_Cell(size, int(lstm["dim"]), lstm) for _ in range(lstm["n_layers"]))
            for _ in range(2)
        )
        self.skip = bool(lstm["use_skip_connections"])
        self.size = size

    def words(self, ids: torch.Tensor) -> torch.Tensor:
        """Turn letters into a vector per word, independent of its neighbours."""
        shape = ids.shape[:2]
        letters = self.embedding(ids.reshape(-1, ids.shape[2])).transpose(1, 2)
        found = [self.activation(convolution(letters).amax(dim=2)) for convolution in self.convolutions]
        x = torch.cat(found, dim=1)
        for carry, transform in zip(self.carry, self.transform, strict=True):
            gate = torch.sigmoid(carry(x))
            x = gate * torch.relu(transform(x)) + (1 - gate) * x
        return self.projection(x).reshape(*shape, -1)

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, list[list[torch.Tensor]]]:
        """Return the words' vectors, and each layer's in both directions, all in reading order."""
        words = self.words(ids)
        lengths = (ids[:, :, 0] > 0).sum(dim=1)
        layers: list[list[torch.Tensor]] = []
        for number, cells in enumerate(self.directions):
            x = words if number == 0 else _reversed(words, lengths)
            found = []
            for layer, cell in enumerate(cells):
                y = cell(x)
                x = y + x if self.skip and layer else y
                found.append(x if number == 0 else _reversed(x, lengths))
            layers.append(found)
        return words, layers

    def embed(self, sentences: Sequence[Sequence[str]]) -> list[torch.Tensor]:
        """Average the layers, both directions side by side: words x twice the projection."""
        words, (forward, backward) = self.forward(character_ids(sentences, self.letters))
        both = [torch.cat([words, words], dim=2)]
        both += [torch.cat(pair, dim=2) for pair in zip(forward, backward, strict=True)]
        mean = torch.stack(both).mean(dim=0)
        return [mean[row, 1 : 1 + len(sentence)] for row, sentence in enumerate(sentences)]


class _Cell(nn.Module):  # type: ignore[misc]
    """An LSTM whose state is projected, and clipped as in the published models."""

    def __init__(self, size: int, dimension: int, options: dict[str, Any]) -> None:
        super().__init__()
        self.gates = nn.Linear(2 * size, 4 * dimension)
        self.project = nn.Linear(dimension, size, bias=False)
        self.cell_clip, self.proj_clip = float(options["cell_clip"]), float(options["proj_clip"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = x.new_zeros(len(x), self.project.in_features)
        out, outs = x.new_zeros(len(x), x.shape[2]), []
        for step in range(x.shape[1]):
            i, j, f, o = self.gates(torch.cat([x[:, step], out], dim=1)).chunk(4, dim=1)
            state = torch.sigmoid(f + 1) * state + torch.sigmoid(i) * torch.tanh(j)
            state = state.clamp(-self.cell_clip, self.cell_clip)
            out = self.project(torch.sigmoid(o) * torch.tanh(state)).clamp(-self.proj_clip, self.proj_clip)
            outs.append(out)
        return torch.stack(outs, dim=1)


def _reversed(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Turn each sentence round; what is behind its end stays."""
    places = torch.arange(x.shape[1]).repeat(len(x), 1)
    turned = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    return x.gather(1, turned[:, :, None].expand_as(x))


def published_model(options_path: Path, weights_path: Path) -> BiLM:
    """Load a published model: `options.json` and `weights.hdf5`."""
    with needs_extra("Reading published ELMo weights", "elmo"):
        import h5py
    try:
        model = BiLM(json.loads(options_path.read_text()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(options_path, f"are no options of ELMo ({error!r})") from None
    try:
        with h5py.File(weights_path, "r") as file, torch.no_grad():
            _fill(model, file)
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise FileError(weights_path, f"are no weights of an ELMo with these options ({error})") from None
    model.eval()
    return model


def _fill(model: BiLM, file: Any) -> None:
    def put(parameter: torch.Tensor, values: Any) -> None:
        parameter.copy_(torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)))

    model.embedding.weight[0] = 0
    put(model.embedding.weight[1:], file["char_embed"][...])
    for k, convolution in enumerate(model.convolutions):
        put(convolution.weight, file["CNN"][f"W_cnn_{k}"][...].squeeze(0).transpose(2, 1, 0))
        put(convolution.bias, file["CNN"][f"b_cnn_{k}"][...])
    for k, (carry, transform) in enumerate(zip(model.carry, model.transform, strict=True)):
        for layer, kind in ((carry, "carry"), (transform, "transform")):
            put(layer.weight, file[f"CNN_high_{k}"][f"W_{kind}"][...].T)
            put(layer.bias, file[f"CNN_high_{k}"][f"b_{kind}"][...])
    put(model.projection.weight, file["CNN_proj"]["W_proj"][...].T)
    put(model.projection.bias, file["CNN_proj"]["b_proj"][...])
    for number, cells in enumerate(model.directions):
        for layer, cell in enumerate(cells):
            stored = file[f"RNN_{number}"]["RNN"]["MultiRNNCell"][f"Cell{layer}"]["LSTMCell"]
            put(cell.gates.weight, stored["W_0"][...].T)
            put(cell.gates.bias, stored["B"][...])
            put(cell.project.weight, stored["W_P_0"][...].T)
