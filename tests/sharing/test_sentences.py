"""Sentences become vectors, and mteb can evaluate them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from omnitm.corpus import Preparation
from omnitm.errors import MissingExtraError, ParameterError
from omnitm.vectors import WordVectors
from omnitm.vectors.document_vectors import SentenceEncoder

SENTENCES = ["Roads and cars.", "the SEA", "nothing known", ""]


@pytest.fixture
def small() -> WordVectors:
    matrix = np.array([[3, 0], [0, 2], [1, 1]], dtype=np.float32)
    return WordVectors(matrix, ["roads", "sea", "cars"], None)


def test_the_mean_of_unit_vectors(small: WordVectors) -> None:
    encoded = small.encode(SENTENCES)
    mean = np.array([1 + 0.5**0.5, 0.5**0.5])
    assert_allclose(encoded[0], mean / np.linalg.norm(mean), rtol=1e-6)
    assert_array_equal(encoded[1:], [[0, 1], [0, 0], [0, 0]])
    assert encoded.dtype == np.float32
    assert_array_equal(small.encode(SENTENCES[0]), encoded[0])
    assert small.encode([]).shape == (0, 2)


def test_batches_as_mteb_gives_them(small: WordVectors) -> None:
    batches = [{"text": SENTENCES[:3]}, {"text": SENTENCES[3:]}]
    encoded = small.sentence_encoder.encode(batches, task_metadata=None, hf_split="test", hf_subset="default")
    assert_array_equal(encoded, small.encode(SENTENCES))


def test_similarities(small: WordVectors) -> None:
    encoder = small.sentence_encoder
    encoded = encoder.encode(["roads", "sea", "cars"])
    assert_allclose(encoder.similarity(encoded, encoded)[0], [1, 0, 0.5**0.5], rtol=1e-6)
    assert_allclose(encoder.similarity_pairwise(encoded, encoded[[1, 1, 1]]), [0, 1, 0.5**0.5], rtol=1e-6)


def test_integer_vectors_become_dense(vectors: WordVectors) -> None:
    encoder = vectors.sentence_encoder
    assert encoder.n_dimensions == 15
    few = WordVectors(vectors.matrix[:50], vectors.index_to_key[:50], vectors.feature_names)
    assert SentenceEncoder(few).n_dimensions == 50
    raw = SentenceEncoder(vectors, Preparation(digits="keep", stop_words=None))
    encoded = raw.encode(["w1 w2", "w3"])
    assert_allclose(np.linalg.norm(encoded, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("wrong", [[3], [["roads"]], [{"image": 1}], [{"text": [None]}]])
def test_what_is_no_sentence(small: WordVectors, wrong: list[Any]) -> None:
    with pytest.raises(ParameterError, match="'sentences' parameter must be text or texts"):
        small.encode(wrong)


def test_without_the_extra(small: WordVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mteb.models.model_meta", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'omnitm\[mteb\]'"):
        _ = small.sentence_encoder.mteb_model_meta


@pytest.mark.filterwarnings("default")
def test_mteb_evaluates_it(small: WordVectors) -> None:
    mteb = pytest.importorskip("mteb", reason="the extra 'mteb' is not installed: it needs torch")
    from datasets import Dataset, DatasetDict
    from mteb.abstasks.sts import AbsTaskSTS
    from mteb.abstasks.task_metadata import TaskMetadata

    pairs = {
        "sentence1": ["roads", "sea", "roads", "cars"],
        "sentence2": ["roads", "roads", "cars", "sea"],
        "score": [5.0, 0.0, 3.0, 2.0],
    }

    class Roads(AbsTaskSTS):  # type: ignore[misc]
        min_score, max_score = 0, 5
        metadata = TaskMetadata(
            name="Roads",
            description="four pairs",
            dataset={"path": "local", "revision": "1"},
            type="STS",
            eval_langs=["eng-Latn"],
            main_score="cosine_spearman",
        )

        def load_data(self, **_: Any) -> None:
            self.dataset = DatasetDict({"test": Dataset.from_dict(pairs)})
            self.data_loaded = True

    found = mteb.evaluate(small.sentence_encoder, Roads(), cache=None, show_progress_bar=False)
    assert found.task_results[0].get_score() == pytest.approx(0.9486832)  # cars are as far from both
    assert found.model_name == "omnitm/omni"
