"""The text that baselines read: off the running text, or prepared once more, with the same result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnitm.baselines import texts as module
from omnitm.baselines.texts import tokens_of
from omnitm.corpus import DocumentIndex, VocabularyRules, build_index

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("function_words", [False, True])
def test_running_text_and_prepared_text_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function_words: bool
) -> None:
    monkeypatch.setattr(module, "_DOCUMENTS_AT_ONCE", 7)
    lines = ["the road to the sea", "", "a car and a road", "rare of words", "the the"] * 9
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n")
    rules = VocabularyRules(max_words=3)
    found = []
    for name, order in (("with", True), ("without", False)):
        path = build_index(tmp_path / "text.txt", tmp_path / name, vocabulary=rules, order=order)
        with tokens_of(DocumentIndex.open(path), function_words=function_words) as tokens:
            found.append((tokens.ids.tolist(), tokens.offsets.tolist(), list(tokens.names)))
            assert tokens.n_documents == len(lines)
    assert found[0] == found[1]
    assert ("the" in found[0][2]) == function_words


def test_the_running_text_needs_no_source(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("road car\nsea\n")
    index = DocumentIndex.open(build_index(text, tmp_path / "index"))
    text.unlink()
    with tokens_of(index) as tokens:
        assert [tokens.names[k] for k in tokens.ids] == ["road", "car", "sea"]
        np.testing.assert_array_equal(tokens.counts, [1, 1, 1])
    with tokens_of(DocumentIndex.from_documents(["the"], vocabulary=VocabularyRules(keep=["the"]))) as tokens:
        assert tokens.ids.tolist() == [0]
