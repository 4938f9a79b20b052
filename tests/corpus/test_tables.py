"""Tables are not read as documents: a column has to be chosen, and a column is a corpus."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp

from omnitm import OmniTMAE, OmniVectorizer, WordVectors
from omnitm.cli import main
from omnitm.corpus import DocumentIndex, as_index, build_index
from omnitm.errors import CorpusError, FileError, OmniTMError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TEXTS = ["A road and a car on it", "The sea has a ship on it"] * 3
TABLE: dict[str, list[Any]] = {"id": list(range(6)), "label": ["x", "y"] * 3, "text": TEXTS}
VOCABULARY = ["car", "road", "sea", "ship"]
WORDS = WordVectors(np.eye(4, dtype=np.float32), VOCABULARY, None)


class Column:
    """Values that can be gone over again, as a Series or a lazy column."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)


class PandasLike:
    """A frame as pandas has it: goes over its column names."""

    ndim, shape = 2, (6, 3)

    def __init__(self) -> None:
        self.columns = list(TABLE)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        return Column(TABLE[name])


class PolarsLike(PandasLike):
    """A frame as polars has it: goes over its columns."""

    ndim = property()  # polars has none

    def __iter__(self) -> Iterator[Any]:
        return (self[name] for name in self.columns)


class LazyLike:
    """A plan for a frame."""

    columns = property()

    def collect_schema(self) -> dict[str, str]:
        return {"id": "Int64", "text": "String"}

    def collect(self) -> PolarsLike:
        return PolarsLike()


class DatasetLike:
    """A data set as Hugging Face has it: goes over its rows."""

    def __init__(self) -> None:
        self.column_names = list(TABLE)
        self.features: Any = dict.fromkeys(TABLE, SimpleNamespace(dtype="string"))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return ({name: TABLE[name][row] for name in TABLE} for row in range(6))

    def __getitem__(self, name: str) -> Column:
        return Column(TABLE[name])


class ArrowLike(DatasetLike):
    """A table as Arrow has it: values come wrapped."""

    def __init__(self) -> None:
        super().__init__()
        self.features = None

    def __getitem__(self, name: str) -> Column:
        return Column([SimpleNamespace(as_py=lambda value=value: value) for value in TABLE[name]])


def real_pandas() -> Any:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed; a fake stands in for it")
    return pandas.DataFrame(TABLE)


def real_polars() -> Any:
    polars = pytest.importorskip("polars", reason="polars is not installed; a fake stands in for it")
    return polars.DataFrame(TABLE)


def real_dataset() -> Any:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed; a fake stands in for it")
    return datasets.Dataset.from_dict(TABLE)


def real_arrow() -> Any:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed; a fake stands in for it")
    return arrow.table(TABLE)


FRAMES: list[Callable[[], Any]] = [
    PandasLike,
    PolarsLike,
    DatasetLike,
    ArrowLike,
    lambda: dict(TABLE),
    lambda: np.array(list(zip(TABLE["id"], TEXTS, strict=True)), dtype=[("id", int), ("text", object)]),
    real_pandas,
    real_polars,
    real_dataset,
    real_arrow,
]


def takers() -> list[Callable[[Any], Any]]:
    """Everything that takes documents."""
    vectorizer = OmniVectorizer(WORDS).fit(TEXTS)
    return [
        lambda corpus: OmniTMAE(n_examples=10).fit(corpus),
        as_index,
        DocumentIndex.from_documents,
        OmniVectorizer(WORDS).fit,
        OmniVectorizer(WORDS, weighting="idf").fit,
        OmniVectorizer(WORDS).fit_transform,
        vectorizer.transform,
    ]


@pytest.mark.parametrize("make", FRAMES)
def test_tables_are_refused_and_their_columns_of_text_are_named(make: Callable[[], Any]) -> None:
    frame = make()
    for take in takers():
        with pytest.raises(CorpusError, match=r"is a table; choose a column: fit\(df\['text'\]\)") as caught:
            take(frame)
        assert str(caught.value).endswith(("Columns with text: 'text', 'label'.", "with text: 'text'."))


@pytest.mark.parametrize(
    "make", [PandasLike, PolarsLike, DatasetLike, real_pandas, real_polars, real_dataset]
)
def test_the_recommended_column_is_a_corpus(make: Callable[[], Any]) -> None:
    df = make()
    with pytest.raises(CorpusError) as caught:
        as_index(df)
    recommended = re.search(r"fit\((.*?)\)\.", str(caught.value))
    assert recommended is not None
    column = eval(recommended[1], {"df": df})  # noqa: S307 - our own message
    assert as_index(column).vocabulary == VOCABULARY
    assert OmniTMAE(n_examples=10).fit(column, TABLE["label"]).vocabulary_ == VOCABULARY
    assert OmniVectorizer(WORDS).fit_transform(column).shape == (6, 4)


def test_a_column_of_an_arrow_table_is_a_corpus() -> None:
    assert as_index(real_arrow()["text"]).vocabulary == VOCABULARY


def test_lazy_frames_tables_of_tables_and_arrays() -> None:
    with pytest.raises(
        CorpusError, match=r"still to be computed; choose a column: fit\(df.collect\(\)\['text'"
    ):
        as_index(LazyLike())
    with pytest.raises(CorpusError, match=r"table of tables; choose one of \['train'\]: df = df\['train'\]"):
        as_index({"train": DatasetLike()})
    with pytest.raises(CorpusError, match=r"a ndarray is a table; choose a column: fit\(df\[:, 1\]\)"):
        as_index(np.array([TABLE["label"], TEXTS], dtype=object).T)
    with pytest.raises(
        CorpusError, match=r"is a table without text \(its columns are 'road', 'car'\); if they"
    ):
        as_index({"road": [1, 0], "car": [0, 1]})


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"id": 1, "text": text} for text in TEXTS], r"fit\(\[record\['text'\] for record in records\]\)"),
        ([(text, 1) for text in TEXTS], r"fit\(\[record\[0\] for record in records\]\)"),
        ([("x", "a road") for _ in TEXTS], r"fit\(\[record\[1\] for record in records\]\)"),
        ([[text, "x"] for text in TEXTS], r"fit\(\[record\[0\] for record in records\]\)"),
        ([[text] for text in TEXTS], r"fit\(\[record\[0\] for record in records\]\)"),
        (["a road", {"text": "a road"}], r"Document 1 is a dictionary with 'text'; choose a field"),
    ],
)
def test_rows_of_a_table_are_refused(records: list[Any], message: str) -> None:
    for take in (as_index, OmniTMAE().fit, OmniVectorizer(WORDS).fit_transform):
        with pytest.raises(CorpusError, match=message):
            take(records)
    if isinstance(records[0], str):
        return
    with pytest.raises(CorpusError) as caught:
        as_index(records)
    recommended = re.search(r"fit\((.*)\)\.$", str(caught.value))
    assert recommended is not None
    assert "road" in as_index(eval(recommended[1], {"records": records})).vocabulary  # noqa: S307


def test_names_of_files_are_no_texts(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.txt", "b.txt")]
    for path in paths:
        path.write_text("road\ncar\n")
    for names in (paths, [str(path) for path in paths]):
        with pytest.raises(CorpusError, match=r"a\.txt' is the name of a file; give one name, fit\('FILE'\)"):
            OmniTMAE().fit(names)
    assert "car" in OmniTMAE(n_examples=10).fit(str(paths[0])).vocabulary_  # as recommended, and so is this
    assert main(["index", *map(str, paths), "-o", str(tmp_path / "index"), "--quiet"]) == 0
    assert "road" in as_index([str(paths[0]), "road"]).vocabulary  # a text may happen to be a file's name


def test_groups_of_a_frame_are_no_texts() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(CorpusError, match="Words must be str"):
        OmniTMAE().fit(pandas.DataFrame({"text": TEXTS, "label": range(len(TEXTS))}).groupby("label"))


def test_tokens_may_be_tuples_and_may_have_a_space() -> None:
    assert as_index([("road", "car"), ("sea", "ship")]).vocabulary == VOCABULARY
    assert as_index([["new york", "road"], ["road"]]).vocabulary == ["road", "new york"]


@pytest.mark.parametrize("kind", [int, bool, np.int8, float])
def test_matrices_need_a_vocabulary(kind: type) -> None:
    matrix: Any = np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 3).astype(kind)
    for corpus in (matrix, sp.csr_matrix(matrix), sp.coo_array(matrix)):
        with pytest.raises(
            CorpusError, match=r"needs the words of its columns.*fit\(matrix, vocabulary=words\)"
        ):
            OmniTMAE().fit(corpus)
        model = OmniTMAE(n_examples=10).fit(corpus, vocabulary=VOCABULARY)
        assert model.index_.document_frequencies.tolist() == [3, 3, 3, 3]
    with pytest.raises(CorpusError, match="a matrix needs its `vocabulary`"):
        OmniTMAE().fit(matrix.tolist())
    with pytest.raises(CorpusError, match="not an array of 2 dimensions"):
        OmniVectorizer(WORDS).fit(matrix)


def test_a_path_is_a_corpus_as_on_the_command_line(tmp_path: Path) -> None:
    news = tmp_path / "news.txt"
    news.write_text("".join(f"{text}\n" for text in TEXTS))
    index = build_index(news, tmp_path / "news.index")
    built = DocumentIndex.open(index)
    for corpus in (str(news), news, str(index), index, str(tmp_path / "*.txt")):
        found = as_index(corpus)
        assert found.vocabulary == built.vocabulary
        assert np.array_equal(found.document_words, built.document_words)
    assert as_index(news, ["sea", "road"]).vocabulary == ["sea", "road"]
    model = OmniTMAE(n_examples=10).fit(str(news), words=["road"], model_dir=tmp_path / "m")
    assert model.index_.path == tmp_path / "m" / "index"
    again = OmniTMAE(n_examples=10).fit(str(news), words=["road"], model_dir=tmp_path / "m", resume=True)
    assert np.array_equal(again.word_vectors_.matrix, model.word_vectors_.matrix)
    before = (tmp_path / "m" / "index" / "manifest.json").read_bytes()
    with pytest.raises(FileError, match="already holds a model"):
        OmniTMAE().fit(str(index), model_dir=tmp_path / "m")
    (tmp_path / "other.txt").write_text("wind and rain\n")
    with pytest.raises(FileError, match="already holds a model"):
        OmniTMAE().fit(str(tmp_path / "other.txt"), model_dir=tmp_path / "m")
    assert (tmp_path / "m" / "index" / "manifest.json").read_bytes() == before
    with pytest.raises(FileError, match="m: is a model, not text"):
        OmniTMAE().fit(tmp_path / "m")


def test_paths_that_lead_nowhere_and_tables_on_disk(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"nowhere: no such file or index; make an index with: omnitm index"):
        as_index(tmp_path / "nowhere")
    with pytest.raises(CorpusError, match="no file or index called 'a road and a car'; give a list of texts"):
        OmniTMAE().fit("a road and a car")
    with pytest.raises(CorpusError, match=r"no file or index called 'What is a road\?'"):
        OmniTMAE().fit("What is a road?")
    with pytest.raises(FileError, match="the pattern matches no file"):
        OmniTMAE().fit(str(tmp_path / "*.txt"))
    (tmp_path / "t.csv").write_text("id,body\n1,a road\n")
    with pytest.raises(FileError, match=r"which column holds the text.*Reading\(column=NAME\).*'id', 'body'"):
        OmniTMAE().fit(tmp_path / "t.csv")


def test_the_second_argument_is_for_labels() -> None:
    labels = ["x", "y"] * 3
    for y in (labels, np.array(labels), [0, 1] * 3, None):
        assert OmniTMAE(n_examples=10).fit(TEXTS, y).vocabulary_ == VOCABULARY
    for words in (["road", "car"], "road", iter(["road"])):
        with pytest.raises(OmniTMError, match=r"given by name: fit\(corpus, words=\[...\]\)"):
            OmniTMAE(n_examples=10).fit(TEXTS, words)
    with pytest.raises(TypeError, match="positional"):
        OmniTMAE().fit(TEXTS, None, ["road"])  # type: ignore[call-arg]
