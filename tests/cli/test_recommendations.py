"""What our messages recommend works: each is brought about, and the command in it is run as it stands.

`messages` finds every text in the source that recommends a command, an option or a call. Each must be in one
of the tables below: `ROWS` and `HERE` (shown and run here), `ELSEWHERE` (run by another test), `NOT_RUN`.
"""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import omnitm
from omnitm import explorer
from omnitm.baselines.texts import texts_of
from omnitm.cli import COMMANDS, demo, main
from omnitm.corpus import DocumentIndex, as_index, build_index, index_documents
from omnitm.engines import Failure, ThreadsEngine
from omnitm.errors import CorpusError, FileError, ParameterError, SetAsideError, TrainingStopped
from omnitm.explain import Explainer
from omnitm.explain.rules import TrainedMachine
from omnitm.explorer.map_keeper import MapKeeper
from omnitm.files import system
from omnitm.machine import AutoencoderSettings
from omnitm.store import pack_model
from omnitm.training import train_model
from omnitm.training.shards import Shard
from omnitm.training.vocabulary import add_words
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from omnitm.engines import Engine

    World = dict[str, Path]

SOURCE = Path(omnitm.__file__).parent
TESTS = Path(__file__).parents[1]
SETTINGS = AutoencoderSettings(n_clauses=4, n_examples=20, accumulation=2)
OTHERS = (
    "--n-clauses --n-examples --quiet --quick --only --seeds --sets --questions --license"  # not recommended
)
QUICK = "--n-clauses 4 --n-examples 20 --quiet"


def nothing(_: World) -> None:
    """Most messages need no preparation."""


@dataclass(frozen=True)
class Row:
    """A message, how to bring it about, and what it recommends."""

    key: str
    """A part of the message that no other has."""
    shown_by: str
    """The command that shows it; {names} are of the world."""
    said: Sequence[str] = ()
    """Commands as they stand in the message; words in capitals are filled in before they are run."""
    instead: str = ""
    """The command with the recommended option, where the message names an option only."""
    added: str = ""
    """The recommended option alone, where the same command works with it."""
    prepare: Callable[[World], None] = nothing
    status: int = 2
    filled: dict[str, str] = field(default_factory=dict)


def change_words(world: World) -> None:
    (world["unfinished"] / "words.txt").write_text("road\n")


def edit_card(world: World) -> None:
    (world["model"] / "README.md").write_text("mine\n")


def damage_card(world: World) -> None:
    card = world["model"] / "README.md"
    card.write_text("\n".join(card.read_text().splitlines()[:-1]) + "\n")


def write_csv(world: World) -> None:
    world["csv"] = world["folder"] / "t.csv"
    world["csv"].write_text("id,body\n1,road car\n2,sea ship\n")


def write_latin(world: World) -> None:
    world["latin"] = world["folder"] / "latin.txt"
    world["latin"].write_bytes("café road\n".encode("latin-1"))


def write_wide(world: World) -> None:
    world["wide"] = world["folder"] / "wide.txt"
    world["wide"].write_bytes("road car\n".encode("utf-16-le"))


def index_without_text(world: World) -> None:
    index_documents(["road car wheel", "sea ship sail"] * 9, world["new"], order=False)


def several_words(world: World) -> None:
    world["several"] = Path("Road Car")


def index_without_order(world: World) -> None:
    build_index(world["text"], world["new"], order=False)


def write_long_documents(world: World) -> None:
    world["long"] = world["folder"] / "long.txt"
    world["long"].write_text(f"{'road car wheel ' * 40}\n{'sea ship sail ' * 40}\n" * 5)


def change_text(world: World) -> None:
    """Let the text of an index be another than when it was indexed."""
    world["other"] = world["folder"] / "other.txt"
    world["other"].write_text("road car\n" * 9)
    build_index(world["other"], world["new"])
    world["other"].write_text("sea ship sail\n" * 9)


def existing_files(world: World) -> None:
    world["npz"] = world["folder"] / "there.npz"
    world["npz"].write_text("something")


def word_with_a_space(world: World) -> None:
    index = DocumentIndex.from_documents([["new york", "road"], ["car", "sea"]] * 9)
    train_model(index, world["new"], settings=SETTINGS)


def shards(world: World) -> None:
    index = DocumentIndex.open(world["index"])
    train_model(index, world["new"], settings=SETTINGS, shard=Shard(1, 2))


def own_tokenizer(world: World) -> None:
    (world["folder"] / "cutter.py").write_text("def words(text):\n    return text.split()\n")
    command = ["index", str(world["text"]), "-o", str(world["new"]), "--tokenizer", "cutter:words", "--quiet"]
    assert main(command) == 0


def groups(world: World) -> None:
    world["groups"] = world["folder"] / "groups.txt"
    world["groups"].write_text("land: road, car, wheel\nwater: sea, ship, sail\n")


def data_sets(world: World) -> None:
    world["data"] = world["folder"] / "data"
    (world["data"] / "documents").mkdir(parents=True)
    lines = "".join(
        f'{{"text": "{t}", "label": "{k % 2}"}}\n' for k, t in enumerate(["road car", "sea sail"] * 6)
    )
    (world["data"] / "documents" / "20news.jsonl").write_text(lines)
    shutil.copy(world["pairs"], world["data"] / "MEN_dataset_natural_form_full")
    shutil.copy(world["questions"], world["data"] / "questions-words.txt")
    (world["data"] / "ap.tsv").write_text("land\troad\nland\tcar\nwater\tsea\nwater\tship\n")


def packed_beside_nothing(world: World) -> None:
    pack_model(world["lonely"], world["new"])


RESUME = "omnitm train CORPUS -o {unfinished} --resume"
ROWS = [
    # What lies at a path.
    Row("says what is in it", "index {model} -o {new}", ["omnitm info {model}"]),
    Row(" -o FILE packs it", "unpack {model} -o {new}", ["omnitm pack {model} -o FILE"]),
    Row(" -o MODEL makes a folder of it", "pack {packed} -o {new}", ["omnitm unpack {packed} -o MODEL"]),
    Row(" -o INDEX makes one of it", "cooccur {text} road", ["omnitm index {text} -o INDEX"]),
    Row("trains a model on it", "index {index} -o {new}", ["omnitm train {index} -o MODEL"]),
    Row(
        "make one of it",
        "unpack {text} -o {new}",
        ["omnitm train {text} -o MODEL", "omnitm pack MODEL -o FILE"],
    ),
    Row("trains one on it", "similar {text} road", ["omnitm train {text} -o MODEL"]),
    Row(
        "-o FILE makes one",
        "unpack {new} -o {new}",
        ["omnitm pack MODEL -o FILE"],
        filled={"MODEL": "{model}"},
    ),
    Row(
        "needs vectors that know where words stand",
        "similar {model} road --metric alike",
        ["omnitm index TEXT -o INDEX", "omnitm train INDEX -o MODEL"],
        filled={"TEXT": "{text}"},
    ),
    Row(" makes a model", "similar {new} road", ["omnitm train CORPUS -o {new}"]),
    Row("make one with: omnitm index TEXT", "cooccur {new} road", ["omnitm index TEXT -o {new}"]),
    # Models in training, and models that are there already.
    Row("this model is not finished:", "similar {unfinished} road", [RESUME]),
    Row(
        "; --force replaces it",
        f"train {{index}} -o {{model}} {QUICK}",
        instead=f"train {{index}} -o {{model}} --force {QUICK}",
    ),
    Row(" --resume continues it", "train {index} -o {unfinished}", [RESUME]),
    Row(" --resume continues it", "train {index} -o {adding}", ["omnitm train CORPUS -o {adding} --resume"]),
    Row(" --add adds words", "merge {model} -o {part}", ["omnitm train CORPUS -o {part} --add"]),
    Row(
        "; start again with --force",
        "train {index} -o {unfinished} --resume",
        instead=f"train {{index}} -o {{unfinished}} --force {QUICK}",
        prepare=change_words,
    ),
    Row(
        "finish that first:", "train {index} -o {adding} --add", ["omnitm train CORPUS -o {adding} --resume"]
    ),
    Row(
        "more words; continue with",
        "info {adding}",
        ["omnitm train ... --resume"],
        filled={"...": "{index} -o {adding}"},
        status=0,
    ),
    Row("Shards are missing:", "merge {new} -o {new2}", added="--allow-missing", prepare=shards),
    Row(
        "all but the vectors (checked when read, or by --verify)", "info {model}", added="--verify", status=0
    ),
    Row(
        "try: omnitm similar",
        "train {index} -o {new} --n-clauses 4 --n-examples 20",
        ["omnitm similar {new} harbour"],
        status=0,
    ),
    # Places of words, and passages.
    Row(
        "documents are long",
        "train {long} -o {new} --n-clauses 4 --n-examples 20",
        instead=f"train {{long}} -o {{new2}} --passage-reach 0 {QUICK}",
        prepare=write_long_documents,
        status=0,
    ),
    Row(
        "The corpus has no running text",
        f"train {{new}} -o {{new2}} --contexts both {QUICK}",
        ["omnitm index TEXT -o INDEX"],
        instead=f"train {{new}} -o {{new2}} --contexts topic {QUICK}",
        prepare=index_without_order,
    ),
    Row(
        "is about coordinates of topic",
        f"train {{index}} -o {{new}} --contexts place --keep-top 3 {QUICK}",
        instead=f"train {{index}} -o {{new}} --contexts place {QUICK}",
    ),
    # Files that are there already.
    Row("exists already; --force (force=True) replaces it", "pack {model} -o {packed}", added="--force"),
    Row(
        "exists already; --force (force=True) replaces it",
        "export {model} -o {npz} --format numpy",
        added="--force",
        prepare=existing_files,
    ),
    Row("overwrite it with --force (overwrite=True)", "index {text} -o {index}", added="--force --quiet"),
    Row("was edited by hand", "card {model} --license mit", added="--force", prepare=edit_card),
    Row(
        "say it again with `omnitm card",
        "pack {model} -o {new} --quiet",
        instead="card {model} --license mit --force",
        prepare=damage_card,
        status=0,
    ),
    # Exports.
    Row(
        "(--spaces _) writes",
        "export {new} -o {new2} --format word2vec",
        added="--spaces _",
        prepare=word_with_a_space,
    ),
    Row(
        "This format has no sparse form",
        "export {model} -o {new} --format word2vec --top 3",
        instead="export {model} -o {new} --format word2vec --reduce 8",
    ),
    Row(
        "This format has no sparse form",
        "export {model} -o {new} --format word2vec --top 3",
        instead="export {model} -o {new} --format word2vec --full",
    ),
    # Text and indexes.
    Row(
        "which column holds the text?",
        "index {csv} -o {new}",
        added="--column body --quiet",
        prepare=write_csv,
    ),
    Row(
        "; give the right --encoding",
        "index {latin} -o {new}",
        added="--encoding latin-1 --quiet",
        prepare=write_latin,
    ),
    Row(
        "; give the right --encoding",
        "index {latin} -o {new}",
        added="--errors replace --quiet",
        prepare=write_latin,
    ),
    Row(
        "this looks like a binary file",
        "index {wide} -o {new}",
        added="--encoding utf-16-le --quiet",
        prepare=write_wide,
    ),
    Row(
        "this looks like a binary file",
        "index {wide} -o {new}",
        added="--errors replace --quiet",
        prepare=write_wide,
    ),
    Row(
        "or --tokenizer module:function",
        "index {text} -o {new} --append",
        added="--tokenizer cutter:words --quiet",
        prepare=own_tokenizer,
    ),
    Row(
        "--append prepares text as the index was made",
        "index {text} -o {index} --append --max-words 3",
        instead="index {text} -o {index} --append --quiet",
    ),
    Row(
        "--vocabulary fixes the words",
        "index {text} -o {new} --vocabulary {index} --max-words 3",
        instead="index {text} -o {new} --vocabulary {index} --quiet",
    ),
    Row(
        "loosen the rules for the vocabulary",
        "index {text} -o {new} --min-count 999",
        ["omnitm index --help"],
    ),
    Row(
        "This index does not know its text; build it",
        "train {new} -o {new2} --model word2vec --quiet",
        ["omnitm index TEXT -o INDEX"],
        prepare=index_without_text,
    ),
    Row(
        "words here: ",
        "similar {model} {several}",
        instead="similar {model} {several} --together",
        prepare=several_words,
    ),
    # Options that go together, or do not.
    Row(
        "Sentences are compared with the text",
        "similar {lonely} zebra --metric similarity --sentence 'zebra road car'",
        added="--index {index}",
    ),
    Row("--minus needs --together.", "similar {model} road --minus car", added="--together"),
    Row("--clause and --plot go together", "explain {model} road --clause 0", added="--plot {new}.svg"),
    Row(
        "--add trains with the settings and seed",
        "train {index} -o {part} --add --seed 3",
        instead="train {index} -o {part} --add --quiet",
    ),
    Row(
        "--add and --shard don't go together",
        "train {index} -o {part} --add --shard 1/2",
        instead=f"train {{index}} -o {{new}} --shard 1/2 {QUICK}",
    ),
    Row(
        "--set is for models that are not Omni",
        "train {index} -o {new} --set window=3",
        instead=f"train {{index}} -o {{new}} {QUICK}",
    ),
    Row(
        "--model fast-omni is --algorithm fast",
        "train {index} -o {new} --model fast-omni --algorithm exact",
        instead=f"train {{index}} -o {{new}} --model fast-omni {QUICK}",
    ),
    # Explanations and measurements.
    Row(
        "`omnitm train --add` trains it",
        "similar {part} sea",
        instead="train {index} -o {part} --add --quiet",
    ),
    Row(
        "this needs the index that the model was trained from",
        "explain {lonely} road",
        added="--index {index}",
    ),
    Row(
        "this needs the index that the model was trained from",
        "explain {lonely} road",
        ["omnitm index TEXT -o {lonely_index}"],
    ),
    Row(
        "--nmf needs the index that",
        "evaluate interpretability {lonely} --index {index} --vocabulary 20 --words 20 --nmf 2",
        added="--trained-on {index}",
    ),
    Row(
        "use `omnitm evaluate analogies`",
        "evaluate similarity {model} --sets {google} --data {data}",
        instead="evaluate analogies {model} --questions {google} --data {data}",
        prepare=data_sets,
    ),
    Row(
        "use `omnitm evaluate categories`",
        "evaluate similarity {model} --sets AP --data {data}",
        instead="evaluate categories {model} --sets AP --data {data}",
        prepare=data_sets,
    ),
    Row(
        "use `omnitm evaluate similarity`",
        "evaluate analogies {model} --questions MEN --data {data}",
        instead="evaluate similarity {model} --sets MEN --data {data}",
        prepare=data_sets,
    ),
    Row(
        "; leave --metric out",
        "evaluate similarity {reals} --sets {pairs} --metric association",
        instead="evaluate similarity {reals} --sets {pairs}",
    ),
    Row(
        "give the index (--index) to get them",
        "evaluate similarity {lonely} --sets {pairs}",
        added="--index {index}",
        status=0,
    ),
    Row("list others in a file for --groups", "plot tsne {model}", added="--groups {groups}", prepare=groups),
    Row(
        "give --words, or other --sets",
        "evaluate ablation {index} -o {new} --sets {strange} --no-plot",
        instead="evaluate ablation {index} -o {new} --sets {pairs} --no-plot --quick --only n_clauses",
    ),
    Row(
        "--data needs the folder that holds the data sets",
        "evaluate similarity {model} --sets MEN --data {new}",
        instead="evaluate similarity {model} --sets MEN --data {data}",
        prepare=data_sets,
    ),
    Row(
        "and add --data DIR",
        "evaluate clustering {model} --sets 20-Newsgroups",
        added="--data {data} --seeds 1",
        prepare=data_sets,
    ),
]

TABLES = "corpus/test_tables.py"
RARE = "cli/test_train_models.py::test_rare_words_of_a_large_text_are_left_out"
LARGE = "cli/test_train_models.py::test_a_large_model_is_announced_with_a_way_to_make_it_small"
EXPORTED = "explorer/test_browser.py::test_an_exported_page_works_on_any_web_server"
SERVED = "cli/test_explore.py::test_the_page_is_served_until_an_interrupt"
COMPARED = "cli/test_compare.py::test_a_run_that_was_stopped"
COUNTED = "cli/test_explaining.py::test_what_is_not_shown_of_rules_is_counted"
ELSEWHERE = {
    "for the same words as one before (--json has all)": COUNTED,
    "; --per-document finds rules about these": COUNTED,
    "--help shows all": "cli/test_commands.py::test_wrong_arguments_are_one_line",
    "choose a column: fit({})": "corpus/test_tables.py::test_the_recommended_column_is_a_corpus",
    "still to be computed; choose a column": f"{TABLES}::test_lazy_frames_tables_of_tables_and_arrays",
    "is the name of a file; give one name": "corpus/test_tables.py::test_names_of_files_are_no_texts",
    "choose a field: fit(": "corpus/test_tables.py::test_rows_of_a_table_are_refused",
    "choose the text: fit(": "corpus/test_tables.py::test_rows_of_a_table_are_refused",
    "if they are words, give fit(": f"{TABLES}::test_lazy_frames_tables_of_tables_and_arrays",
    "A matrix needs the words of its columns": "corpus/test_tables.py::test_matrices_need_a_vocabulary",
    "--sentence needs --metric similarity": "explain/test_infer.py::test_sentences_on_the_command_line",
    "--sentence TEXT learns it": "explain/test_infer.py::test_similar_guesses_from_letters_if_asked",
    "has one group only, ": "comparison/test_words.py::test_bad_input",
    "is no comparison; make one:": "explorer/test_groups.py::test_words_compared_before_are_shown",
    "are in no groups; make some": "explorer/test_groups.py::test_documents_in_no_groups",
    "; choose others with --groups A B, or make larger": "comparison/test_words.py::test_trajectory",
    "groups in no order (": "comparison/test_words.py::test_one_group_against_all_others",
    "which are too many groups; group dates": "corpus/test_groups.py::test_dates",
    "is plain text and has no field": "corpus/test_groups.py::test_files_and_folders",
    "does not hold groups; remove it": "corpus/test_groups.py::test_groups_leave_the_index_as_it_is",
    "The index has no groups ": "corpus/test_groups.py::test_labels_from_a_file",
    "--resume and --force are for a run with -o FILE": COMPARED,
    "--engine is for many words: give -o FILE": COMPARED,
    "the rest with the same command and --resume": COMPARED,
    "go on with --resume, or begin again with --force": COMPARED,
    "words to train are given by name": "corpus/test_tables.py::test_the_second_argument_is_for_labels",
    "choose another with --port, or --port 0": SERVED,
    "(--min-count 1 keeps them)": RARE,
    "--min-count is for text; an index has its words": RARE,
    "; with --keep-top {} only {}": LARGE,
    "choose one above 1023 with --port": SERVED,
    "choose another for --export": "explorer/test_export.py::test_a_folder_with_something_in_it_is_refused",
    "python -m http.server --directory {}": EXPORTED,
    "CountVectorizer(binary=True)": "machine/test_classifier.py::test_texts_are_not_a_matrix",
}
HERE = {
    "omnitm merge {} -o OTHER --allow-missing",
    "train_model(..., resume=True)",
    "finished rows are kept, continue with --resume",
    "; --keep-top 1000 stores {} kB per word instead",
    "there is no file or index called",
    "make an index with: omnitm index TEXT",
    "The index has a vocabulary of its own",
    "models that read sentences need it",
    "is not a report of `omnitm evaluate similarity",
    "choose another with `omnitm demo -o FOLDER`",
    "pip install 'omnitm[{}]'",
    "this Python seems to come without its sources",
    "give it with --index INDEX.",
    "has no clause with a positive weight",
    "has no place for a map",
    "name another folder with -o, or add --quick",
    "omnitm similar {} server list -n 5",
    "omnitm similar {} server --metric alike",
    "omnitm why {} server client",
    "omnitm senses {} {}",
    "omnitm themes {}",
    "omnitm explain {} socket",
    "omnitm cooccur {} socket port",
    "omnitm train YOUR.txt -o your-model",
    "omnitm explore {}",
    "OmniTMAE has no partial_fit",
}
NOT_RUN = {
    "`vectors[words].mean(axis=0)`": "it names what stands for a method of gensim",
    "`omnitm evaluate similarity`": "it names the command that stands for a method of gensim",
    "`omnitm evaluate analogies`": "it names the command that stands for a method of gensim",
    "hf auth login": "it logs in to a server",
    "add --download to fetch it": "it needs the network",
    "it is not among --models": "it says why something is missing from a report",
    "no map for `omnitm explore`: ": "it says why something is missing",
    "$ pip install omnitm": "it installs this package from a server",
    "--text has no word that the model knows.": "it says what is wrong with a value",
    "--words is for --export": "it says which option is missing",
    "--group-by needs --group FIELD.": "it says which option is missing",
    " needs one word, without --together.": "it says which options do not go together",
    "; --sentence is for words that it does not have": "it says what an option is for; explain/test_infer.py",
    "A running text holds at most": "it takes four billion words; corpus/test_running.py shows it",
}
PARTS = {  # of messages that are in a table as a whole
    "here: no --data, and {} is not set",
    "omnitm train CORPUS -o {}",
    "omnitm train CORPUS -o {} --resume",
    "omnitm group {} {}",
    "{} {} NAME --from FILE",
    "trained words, only in the vocabulary (`add_words` or `omnitm train --add` trains it)",
}


@pytest.fixture(scope="module")
def first_world(tmp_path_factory: pytest.TempPathFactory, stop_after: Callable[[int], Engine]) -> Path:
    """Make one of each kind, in a folder whose name has to be quoted."""
    folder = tmp_path_factory.mktemp("world") / "two words"
    folder.mkdir()
    text = folder / "text"
    land = ["road", "car", "wheel", "driver", "lane", *(f"land{letter}" for letter in "abcdefgh")]
    water = ["sea", "ship", "sail", "wave", "harbour", *(f"water{letter}" for letter in "abcdefgh")]
    words = land + water
    lines = [" ".join((land, water)[k % 2][(k // 2 + j) % 13] for j in range(5)) for k in range(120)]
    text.write_text("".join(f"{line}\n" for line in lines))
    index = DocumentIndex.open(build_index(text, folder / "corpus"))
    train_model(index, folder / "model", settings=SETTINGS)
    train_model(index, folder / "part", ["road", "car"], settings=SETTINGS)
    train_model(DocumentIndex.from_documents(lines), folder / "lonely", settings=SETTINGS)
    pack_model(folder / "model", folder / "packed")
    with pytest.raises(TrainingStopped):
        train_model(index, folder / "unfinished", words, settings=SETTINGS, keep_top=2, engine=stop_after(3))
    train_model(index, folder / "adding", ["road"], settings=SETTINGS)
    with pytest.raises(TrainingStopped):
        add_words(index, folder / "adding", ["sea", "ship"], engine=stop_after(1))
    WordVectors.load(folder / "model").reduce(4).save(folder / "reals")
    (folder / "pairs").write_text("road\tcar\t9\nsea\tship\t8\nroad\tsea\t1\nwheel\tsail\t2\n")
    (folder / "strange").write_text("abc\tdef\t9\nghi\tjkl\t8\n")
    (folder / "questions").write_text(": a\nroad car sea ship\n")
    return folder


@pytest.fixture
def world(first_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    folder = tmp_path / "two words"
    shutil.copytree(first_world, folder)
    monkeypatch.delenv("OMNITM_DATA", raising=False)
    monkeypatch.chdir(folder)
    named = {path.name: path for path in folder.iterdir()}
    named |= {name: folder / f"{name} thing" for name in ("new", "new2")}
    named |= {"index": folder / "corpus", "lonely_index": folder / "lonely" / "index"}
    return {**named, "folder": folder, "google": Path("Google analogies")}


def filled(text: str, world: World, others: dict[str, str]) -> list[str]:
    """Turn what a message says into the words of a command: placeholders get a meaning."""
    meanings = {
        "CORPUS": world["index"],
        "TEXT": world["text"],
        "YOUR.txt": world["text"],
        "MODEL": world["folder"] / "a model",
        "INDEX": world["folder"] / "an index",
        "FILE": world["folder"] / "a file",
        "OTHER": world["folder"] / "other",
    }
    chosen: dict[str, list[str]] = {name: [str(path)] for name, path in meanings.items()}
    chosen |= {name: [part.format(**world) for part in value.split()] for name, value in others.items()}
    return [word for part in shlex.split(text) for word in chosen.get(part, [part])]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_what_is_recommended_works(
    row: Row, world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    row.prepare(world)
    capsys.readouterr()
    assert main([part.format(**world) for part in row.shown_by.split()]) == row.status
    shown = "".join(capsys.readouterr())
    assert row.key in shown
    quoted = {name: shlex.quote(str(path)) for name, path in world.items()}
    for said in row.said:
        command = said.format(**quoted)
        assert command in shown
        run_command(filled(command, world, row.filled)[1:])
    instead = row.instead or (f"{row.shown_by} {row.added}" if row.added else "")
    if instead:
        before, now = (set(re.findall(r"--[a-z-]+", text)) for text in (row.shown_by, instead))
        assert all(option in shown or option in OTHERS for option in now - before)
        run_command([part.format(**world) for part in instead.split()])


def run_command(arguments: list[str]) -> None:
    if arguments[0] in {"train", "index"} and "--help" not in arguments and "--quiet" not in arguments:
        arguments = [*arguments, "--quiet"]
    if arguments[-1] == "--help":
        with pytest.raises(SystemExit, match="0"):
            main(arguments)
    else:
        assert main(arguments) == 0, arguments


def test_words_set_aside_can_be_tried_again_or_left_out(world: World) -> None:
    class FailsOnce:
        def train(self, index: Any, settings: Any, jobs: Any, write: Any, report: Any) -> None:
            ThreadsEngine(1).train(index, settings, jobs[:-1], write, lambda *_: None)
            report(len(jobs) - 1, [Failure((jobs[-1],), "it fell over", is_final=True)])

    index = DocumentIndex.open(world["index"])
    for keep_top in (None, 2):
        options: dict[str, Any] = {"settings": SETTINGS, "keep_top": keep_top, "force": True}
        with pytest.raises(SetAsideError) as caught:
            train_model(index, world["new"], ["road", "sea", "ship"], engine=FailsOnce(), **options)
        commands = re.findall(r"with: (omnitm .*?)(?:;|$)", str(caught.value))
        assert len(commands) == 2
        for command in reversed(commands):  # without the word first, as long as it is missing
            run_command([*filled(command, world, {})[1:], *(["--force"] if "merge" in command else [])])
        whole = train_model(index, world["new2"], ["road", "sea", "ship"], **options)
        assert (WordVectors.load(world["folder"] / "other").matrix[:] == whole.matrix[:2]).all()
        assert (WordVectors.load(world["new"]).matrix[:] == whole.matrix[:]).all()


def test_stopped_training_goes_on(world: World, stop_after: Callable[[int], Engine]) -> None:
    index = DocumentIndex.open(world["index"])
    for call in ("command", "python"):
        with pytest.raises(TrainingStopped) as caught:
            train_model(
                index, world["new"], ["road", "sea"], settings=SETTINGS, engine=stop_after(1), force=True
            )
        said = re.search(
            r"the rest with: (omnitm .*) \(in Python: train_model\(..., resume=True\)\)", str(caught.value)
        )
        assert said is not None
        if call == "command":
            run_command(filled(said[1], world, {})[1:])
        else:
            train_model(index, world["new"], resume=True)
        assert WordVectors.load(world["new"]).index_to_key == ["road", "sea"]


def test_a_full_disk(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(system, "write_at", lambda *_: 0)
        assert main(["train", str(world["index"]), "-o", str(world["new"]), *QUICK.split()]) == 2
    assert "finished rows are kept, continue with --resume" in capsys.readouterr().err
    run_command(["train", str(world["index"]), "-o", str(world["new"]), "--resume"])


def test_too_little_room_for_all_numbers(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [
        f"{a}{b}{c}" for a in "bcdfghklmn" for b in "aeiouy" for c in "prstvwxzbcdfghklmnqj" for _ in "abc"
    ]
    wide = world["folder"] / "wide.txt"
    wide.write_text("".join(f"{word}{'xyz'[k % 3]}\n" for k, word in enumerate(names)) + "road car\n" * 9)
    words = world["folder"] / "chosen.txt"
    words.write_text("road\ncar\n")
    assert main(["index", str(wide), "-o", str(world["new"]), "--quiet"]) == 0
    n_words = DocumentIndex.open(world["new"]).n_words
    assert 2 * n_words > 6008  # bytes of a row
    free = type("usage", (), {"free": 2 * 6008})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: free)
    train = ["train", str(world["new"]), "-o", str(world["new2"]), "--words", str(words), *QUICK.split()]
    train += ["--contexts", "topic"]
    assert main(train) == 2
    assert "--keep-top 1000 stores 6 kB per word instead" in capsys.readouterr().err
    run_command([*train, "--keep-top", "1000", "--force"])


def test_too_little_room_to_reproduce(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    n_bytes = 2 * DocumentIndex.open(world["index"]).n_words ** 2  # of a model; in full there are two
    free = type("usage", (), {"free": int(1.5 * n_bytes)})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: free)
    command = ["reproduce", "paper", "--corpus", str(world["index"]), "-o", str(world["new"])]
    command += ["--models", "omni", "--only", "clause", "--word", "road", "--quiet"]
    assert main(command) == 2
    assert "make room, name another folder with -o, or add --quick" in capsys.readouterr().err
    run_command([*command, "--quick"])


def test_corpora_that_are_none(world: World) -> None:
    for corpus in ("a road and a car", world["folder"] / "nowhere"):
        with pytest.raises((CorpusError, FileError), match="omnitm index TEXT -o INDEX"):
            as_index(corpus)
    with pytest.raises(CorpusError) as caught:
        as_index(world["index"], ["road", "sea"])
    said = re.search(r"\((omnitm .*)\)", str(caught.value))
    assert said is not None
    (world["folder"] / "a file").write_text("road\nsea\n")
    run_command(filled(said[1], world, {})[1:])
    assert as_index(world["folder"] / "an index", ["road", "sea"]).n_words == 2


def test_indexes_whose_text_is_gone(world: World) -> None:
    change_text(world)
    with pytest.raises(CorpusError, match="models that read sentences need it: build the index") as caught:
        texts_of(DocumentIndex.open(world["new"]), [0])
    said = re.search(r"omnitm index TEXT -o INDEX", str(caught.value))
    assert said is not None
    run_command(filled(said[0], world, {})[1:])
    assert texts_of(DocumentIndex.open(world["folder"] / "an index"), [0])


def test_tokenisers_and_explainers_are_opened_as_recommended(world: World) -> None:
    own_tokenizer(world)
    with pytest.raises(CorpusError, match=r"DocumentIndex.open\(path, tokenizer=...\)"):
        DocumentIndex.open(world["new"]).preparation_or_default.tokens("a road")
    opened = DocumentIndex.open(world["new"], tokenizer=str.split)
    assert opened.preparation_or_default.tokens("a road") == ["a", "road"]
    with pytest.raises(FileError, match=r"Explainer.open\(path, index=...\)"):
        Explainer.open(world["lonely"]).rules("road")
    assert Explainer.open(world["lonely"], index=world["index"]).rules("road") is not None


def test_scores_for_a_card(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["card", str(world["model"]), "--scores", str(world["text"])]) == 2
    said = re.search(r"`(omnitm evaluate similarity --format json)`", capsys.readouterr().err)
    assert said is not None
    scores = str(world["folder"] / "scores")
    sets = ["--sets", str(world["pairs"]), "-o", scores]
    run_command([*shlex.split(said[1])[1:], str(world["model"]), *sets])
    run_command(["card", str(world["model"]), "--scores", scores])


def test_the_demo(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    terms = [f"{a}term{b} {b}word{a}" for a in "abcdefgh" for b in "ijklmno"]
    library = [f"server client socket port list block {term}" for term in terms]
    monkeypatch.setattr(demo, "python_paragraphs", lambda: library)
    assert main(["demo", "-o", str(world["folder"])]) == 2
    assert "choose another with `omnitm demo -o FOLDER`" in capsys.readouterr().err
    run_command(["demo", "-o", str(world["folder"] / "a demo")])
    said = re.findall(r"^  (omnitm .*?)(?:   ?[a-z].*)?$", capsys.readouterr().out, flags=re.MULTILINE)
    assert len(said) == 9
    monkeypatch.setattr(explorer, "serve", lambda *_, **__: None)
    for command in said:
        run_command(filled(command, world, {})[1:])


def test_more_documents_for_an_estimator(world: World) -> None:
    with pytest.raises(AttributeError, match="has no partial_fit") as caught:
        _ = omnitm.OmniTMAE().partial_fit
    said = re.search(r"`(omnitm index .*?)`", str(caught.value))
    assert said is not None
    before = DocumentIndex.open(world["index"]).n_documents
    run_command(filled(said[1], world, {"MORE.txt": "{text}", "INDEX": "{index}"})[1:])
    assert DocumentIndex.open(world["index"]).n_documents > before


def test_a_python_without_its_sources(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_FEWEST", 10**9)
    (world["folder"] / "empty").mkdir()
    with pytest.raises(CorpusError, match="this Python seems to come without its sources") as caught:
        demo.python_paragraphs(world["folder"] / "empty")
    said = re.search(r"omnitm train YOUR.txt -o MODEL", str(caught.value))
    assert said is not None
    run_command(filled(said[0], world, {})[1:])


def test_explorers_without_an_index_or_a_folder(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(explorer, "serve", lambda *_, **__: None)
    explore = ["explore", str(world["lonely"]), "--no-browser"]
    run_command(explore)
    assert "The index is not there" in capsys.readouterr().out
    run_command([*explore, "--index", str(world["index"])])
    assert "The index is not there" not in capsys.readouterr().out
    with pytest.raises(ParameterError, match="save it, or `omnitm unpack` it, then explore its folder"):
        MapKeeper(Explainer.open(world["packed"])).start()
    run_command(["unpack", str(world["packed"]), "-o", str(world["new"])])
    assert MapKeeper(Explainer.open(world["new"])).state()["can_compute"] is True


def test_words_without_a_positive_clause(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = ["plot", "clause", str(world["model"]), "road", "-o", str(world["folder"] / "clause.svg")]
    with monkeypatch.context() as patched:
        patched.setattr(TrainedMachine, "positive_clauses", property(lambda _: []))
        assert main(plot) == 2
        assert "has no clause with a positive weight; name one with --clause" in capsys.readouterr().err
        run_command([*plot, "--clause", "0"])


def test_extras_exist() -> None:
    declared = (TESTS.parent / "pyproject.toml").read_text()
    calls = [
        node
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"MissingExtraError", "needs_extra"}
    ]
    extras = {str(node.args[1].value) for node in calls if isinstance(node.args[1], ast.Constant)}
    assert len(calls) >= len(extras) > 3
    for extra in extras:
        assert re.search(rf"^{extra} = \[", declared, flags=re.MULTILINE), extra


RECOMMENDS = re.compile(
    rf"omnitm (?:{'|'.join(name for name in COMMANDS if ' ' not in name)})(?: \S|`)"
    r"|pip install|(?<![\w-])--[a-z]{2}|\bfit\(|\b[A-Za-z_.]+\([^()]*\b[a-z_]+=|hf auth"
)
NAMES_A_VALUE = re.compile(r"--[a-z-]+ (?:must|\{\}:)")
PARSERS = {"option", "add_argument", "add_parser", "command_parser", "add_argument_group", "CommandParser"}


def messages() -> dict[str, str]:
    """Find every text that recommends something, with {} for values, and where it is."""
    return {
        text: f"{file.relative_to(SOURCE)}:{line}"
        for file in sorted(SOURCE.rglob("*.py"))
        for text, line in texts_in(ast.parse(file.read_text()))
        if RECOMMENDS.search(text) and not NAMES_A_VALUE.search(text) and " " in text.strip()
    }


def texts_in(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Texts of a tree, but those of docstrings, of parsers' options and of the examples in their help."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in PARSERS:
        return
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if re.search(r"EXAMPLE|HELP|COMMANDS|GROUPS", ast.unparse(targets[0])):
            return
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values), node.lineno
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value, node.lineno
    else:
        for child in ast.iter_child_nodes(node):
            yield from texts_in(child)


def test_every_recommendation_is_run() -> None:
    shown_here = {row.key for row in ROWS} | HERE
    known = [*shown_here, *ELSEWHERE, *NOT_RUN]
    found = messages()
    assert set(found) >= PARTS
    unknown = [
        f"{place}: {text}"
        for text, place in found.items()
        if text not in PARTS and not any(key in text for key in known)
    ]
    assert not unknown, "add a row that shows the message and runs what it recommends:\n" + "\n".join(unknown)
    stale = [key for key in known if not any(key in text for text in found)]
    assert not stale, stale
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert f"def {name}(" in (TESTS / file).read_text(), place
