from __future__ import annotations

import json
import logging
import re
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import omnitm
from omnitm.cli import COMMANDS, _stop_once, demo, main
from omnitm.corpus import DocumentIndex
from omnitm.errors import FileError, OmniTMWarning, TrainingStopped
from omnitm.vectors import WordVectors

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ["--n-examples", "40", "--n-clauses", "8", "--accumulation", "2", "--quiet"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    random = np.random.default_rng(1)
    topics = [["road", "car", "wheel", "driver"], ["sea", "ship", "harbour", "sailor"]]
    lines = [" ".join(random.choice(topics[i % 2], size=3, replace=False)) for i in range(200)]
    (tmp_path / "news.txt").write_text("\n".join(lines) + "\n")
    return tmp_path / "news.txt"


@pytest.fixture
def model(text: Path, tmp_path: Path) -> Path:
    assert main(["train", str(text), "-o", str(tmp_path / "model"), *QUICK]) == 0
    return tmp_path / "model"


def test_train_and_look(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", str(model), "road", "ship", "-n", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["word"] for row in found["road"]} == {"car", "wheel", "driver"}
    assert {row["word"] for row in found["ship"]} == {"sea", "harbour", "sailor"}
    assert main(["similar", str(model), "road", "--metric", "cosine"]) == 0
    table = capsys.readouterr().out.split()
    assert table[:3] == ["road", "word", "cosine"]
    assert table[3] in {"car", "wheel", "driver"}


def test_words_are_typed_as_people_do(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", str(model), "Road", "-n", "3", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["road"]
    assert main(["similar", str(model), "Road Car", "--together", "-n", "2", "--json"]) == 0
    assert {row["word"] for row in json.loads(capsys.readouterr().out)["road car"]} == {"wheel", "driver"}
    assert main(["why", str(model), "ROAD", "Car", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["word"], found["other"]) == ("road", "car")
    assert main(["trace", str(model), "Road", "Car", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["literal"] == "car"
    assert main(["explain", str(model), "Road", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["word"] == "road"
    for typed, message in (("Road Car", "two words here: road, car"), ("the", "a stop word of this index")):
        assert main(["similar", str(model), typed]) == 2
        assert message in capsys.readouterr().err


def test_text_is_indexed_inside_the_model(
    text: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert DocumentIndex.open(model / "index").n_documents == 200
    assert main(["train", "-o", str(model), "--resume"]) == 0
    assert f"using the index in {model / 'index'}" in capsys.readouterr().err
    assert main(["train", "-o", str(model.parent / "other"), *QUICK]) == 2
    assert "CORPUS is missing" in capsys.readouterr().err
    other = model.parent / "other"
    assert main(["train", str(model / "index"), "-o", str(other), *QUICK]) == 0
    assert not (other / "index").exists()
    assert np.array_equal(WordVectors.load(other).matrix, WordVectors.load(model).matrix)
    assert main(["train", str(text), "-o", str(model), "--force", "--top", "1", *QUICK]) == 0
    assert len(WordVectors.load(model)) == 1


def test_info_of_an_index(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(model / "index"), "--verify", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["documents"], facts["words"], facts["verified"]) == (200, 8, True)
    assert main(["info", str(model / "index")]) == 0
    assert "vocabulary" in capsys.readouterr().out


def test_similar_together(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["similar", str(model), "road", "ship", "--together", "--minus", "sea", "-n", "1", "--json"]
    assert main(command) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["road ship -sea"]
    assert main(["similar", str(model), "road", "--minus", "sea"]) == 2
    assert "--minus needs --together" in capsys.readouterr().err


def test_words_are_text_not_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from omnitm.cli.similar import print_neighbours

    vectors = WordVectors(np.zeros((1, 1), np.int16), ["x"], ["x"])
    print_neighbours({"[red]x": [("[bold]y[/bold]", 3.0)]}, vectors.scorer("association"), vectors, {})
    out = capsys.readouterr().out
    assert "[red]x" in out
    assert "[bold]y[/bold]" in out
    assert tmp_path.exists()


def test_top_add_resume_and_force(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    words = tmp_path / "words.txt"
    train = ["train", str(text), "-o"]
    assert main([*train, str(whole), *QUICK]) == 0
    assert main([*train, str(part), "--top", "2", *QUICK]) == 0
    words.write_text(
        "\n".join([w for w in WordVectors.load(whole).index_to_key if w not in WordVectors.load(part)][:2])
    )
    assert main([*train, str(part), "--add", "--words", str(words), "--quiet"]) == 0
    assert len(WordVectors.load(part)) == 4
    assert main([*train, str(part), "--add", "--quiet"]) == 0
    grown, complete = WordVectors.load(part), WordVectors.load(whole)
    assert sorted(grown.index_to_key) == sorted(complete.index_to_key)
    assert np.array_equal(grown[complete.index_to_key], complete.matrix)
    assert main([*train, str(part), "--resume", "--quiet"]) == 0
    capsys.readouterr()
    assert main([*train, str(part), "--add", "--quiet"]) == 2
    assert "has all of these words already" in capsys.readouterr().err
    assert main([*train, str(part), *QUICK]) == 2
    assert "already holds a model; --force replaces it" in capsys.readouterr().err
    assert main([*train, str(part), "--force", "--top", "1", *QUICK]) == 0
    assert len(WordVectors.load(part)) == 1


def test_the_summary_says_what_to_type_next(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", str(text), "-o", str(tmp_path / "m"), *QUICK[:-1]]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "8 words x 8 features" in captured.err
    assert f"try: omnitm similar {tmp_path / 'm'} " in captured.err


def test_settings_reach_the_model(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--paper",
        "--n-examples",
        "10",
        "--max-included-literals",
        "none",
        "--seed",
        "7",
        "--threads",
        "1",
    ]
    assert main(["train", str(text), "-o", str(tmp_path / "m"), "--quiet", *options]) == 0
    assert main(["info", str(tmp_path / "m"), "--json", "--verify"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["n_examples"] == 10
    assert facts["n_epochs"] == 4
    assert facts["max_included_literals"] is None
    assert facts["seed"] == 7
    assert facts["words"] == facts["features"] == 8
    assert facts["verified"] == "every byte"


def test_info_of_a_growing_model(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(model)]) == 0
    assert "n clauses" in capsys.readouterr().out
    (model / "journal").write_bytes(b"")
    assert main(["info", str(model), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["being added"].startswith("0 of 0 more words")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("train {text} -o {tmp}/m --n-clauses 0", "'n_clauses' parameter of OmniTMAE"),
        ("train {text} -o {tmp}/m --top 99", "--top must be from 1 to 8, the size of the vocabulary. Got 99"),
        ("train {text} -o {tmp}/m --threads 0", "'n_jobs' parameter"),
        ("train {text} -o {tmp}/m --words {tmp}/none.txt", "none.txt: cannot be read: No such file"),
        (
            "train {text} -o {tmp}/m --words {tmp}/empty.txt",
            "empty.txt: has no words; expected one word per line",
        ),
        ("train {text} -o {tmp}/m --words {tmp}/latin.txt", "latin.txt: is not UTF-8 at byte 1"),
        ("train {text} -o {tmp}/m --add --seed 3", "--add trains with the settings and seed of the model"),
        ("train {tmp}/nowhere.txt -o {tmp}/m", "nowhere.txt: "),
        ("similar {tmp}/m road", "does not exist"),
        ("info {tmp}/m", "does not exist"),
        ("info {tmp}", "is not a model"),
    ],
)
def test_mistakes_are_one_line(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "latin.txt").write_bytes(b"a\xe4\n")
    assert main(command.format(text=text, tmp=tmp_path).split()) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("omnitm: error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert not (tmp_path / "m" / "manifest.json").exists()
    assert not (tmp_path / "m" / "journal").exists()


ENGINES = "threads, processes, ray"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("trian {text}", "argument COMMAND: there is no 'trian'; did you mean train? (omnitm --help"),
        ("train {text}", "the following arguments are required: -o/--output (omnitm train --help"),
        ("train {text} -o {tmp}/m --n-examples x", "argument --n-examples: invalid int value: 'x' (omnitm"),
        ("train {text} -o {tmp}/m --paitence 3", "--paitence 3; did you mean --patience? (omnitm train"),
        ("train {text} -o {tmp}/m more", "unrecognized arguments: more (omnitm train --help shows all)"),
        ("train {text} -o {tmp}/m --engine steam", f"no 'steam'; choose from {ENGINES} (omnitm train"),
        ("evaluate similarity m --dataa x", "did you mean --data? (omnitm evaluate similarity --help"),
        ("evaluate clusterin m", "there is no 'clusterin'; did you mean clustering? (omnitm evaluate"),
        ("", "the following arguments are required: COMMAND (omnitm --help shows all)"),
    ],
)
def test_wrong_arguments_are_one_line(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(command.format(text=text, tmp=tmp_path).split())
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert said.startswith("omnitm: error: ")
    assert said.count("\n") == 1
    assert message in said
    recommended = re.search(r"\(omnitm(.*) --help shows all\)", said)
    assert recommended is not None
    with pytest.raises(SystemExit) as shown:
        main([*recommended[1].split(), "--help"])
    assert shown.value.code == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("train {tmp}/empty.txt -o {tmp}/m", "There is no"),
        ("train {text} -o {tmp}/m --min-count 1000", "No word is left"),
        ("train {text} -o {tmp}/m --top 0", "--top must be at least 1, a number of words. Got 0."),
        ("train {text} -o {tmp}/m --top 99", "--top must be from 1 to 8"),
        ("train {text} -o {tmp}/m --seed -1", "'seed' parameter"),
        ("train {text} -o {tmp}/m --keep-top 0", "'keep_top' parameter"),
        ("train {text} -o {tmp}/m --quiet --words {tmp}/strange.txt", "no word there is spelled like it"),
        ("unpack {text} -o {tmp}/m", "not a packed model"),
        ("merge {text} -o {tmp}/m", "not a model"),
        ("index {tmp}/empty.txt -o {tmp}/m --quiet", "There is no"),
        ("index {text} -o {tmp}/m --column text --format csv", "no column 'text'"),
    ],
)
def test_nothing_is_made_of_what_is_refused(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "strange.txt").write_text("zebra\n")
    before = sorted(tmp_path.rglob("*"))
    assert main(command.format(text=text, tmp=tmp_path).split()) == 2
    said = capsys.readouterr().err
    assert said.startswith("omnitm: error: ")
    assert said.count("\n") == 1
    assert message in said
    assert sorted(tmp_path.rglob("*")) == before


def test_a_monstrous_word_is_shortened(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", str(model), "y" * 100_000]) == 2
    assert f"error: '{'y' * 63}...' has no" in capsys.readouterr().err
    assert main(["why", str(model), "road", "z" * 100_000]) == 2
    assert len(capsys.readouterr().err) < 200


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    for command in (["--debug", "info", str(tmp_path)], ["info", str(tmp_path), "--debug"]):
        with pytest.raises(FileError, match="is not a model"):
            main(command)


def test_an_unknown_word_names_the_nearest(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", str(model), "raod"]) == 2
    assert "'raod' is not in the trained words; spelled like it: road" in capsys.readouterr().err


def test_ctrl_c_exits_130(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for interrupt, said in (
        (KeyboardInterrupt(), "stopped"),
        (TrainingStopped("repeat with --resume"), "--resume"),
    ):

        def stop(*_: object, interrupt: BaseException = interrupt, **__: object) -> None:
            raise interrupt

        monkeypatch.setattr(WordVectors, "load", stop)
        assert main(["similar", str(model), "road"]) == 130
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("times", [1, 4])
def test_ctrl_c_while_training_can_be_resumed(text: Path, tmp_path: Path, times: int) -> None:
    """Also if it is pressed again while threads end."""
    model = tmp_path / "m"
    command = [sys.executable, "-m", "omnitm.cli", "train", str(text), "-o", str(model)]
    command += ["--n-examples", str(2**30), "--log", str(tmp_path / "log")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not ((tmp_path / "log").exists() and '"progress"' in (tmp_path / "log").read_text()):
        assert process.poll() is None
        time.sleep(0.01)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    errors = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert errors.count("stopped") == 1
    assert f"the rest with: omnitm train CORPUS -o {model} --resume" in errors
    assert "Traceback" not in errors
    assert main(["similar", str(model), "road"]) == 2


def test_the_first_ctrl_c_stops_and_a_late_one_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, clock = list[int](), [0.0]
    monkeypatch.setattr("omnitm.cli.os._exit", ended.append)
    at_exit = list[tuple[object, ...]]()
    monkeypatch.setattr("omnitm.cli.atexit.register", lambda *given: at_exit.append(given))
    monkeypatch.setattr("omnitm.cli.time.monotonic", lambda: clock[0])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _stop_once()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        clock[0] = 4.9
        signal.raise_signal(signal.SIGINT)
        assert ended == []
        clock[0] = 5.1
        signal.raise_signal(signal.SIGINT)
        assert ended == [130]
        assert at_exit == [(signal.signal, signal.SIGINT, signal.SIG_IGN)]
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as under nohup
        _stop_once()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_warnings_are_one_line(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import warnings

    vectors = WordVectors.load(model)

    def load(_: object) -> WordVectors:
        warnings.warn("'x' is in no document", OmniTMWarning, stacklevel=2)
        return vectors

    monkeypatch.setattr(WordVectors, "load", load)
    assert main(["similar", str(model), "road", "--metric", "association"]) == 0
    assert capsys.readouterr().err == "omnitm: warning: 'x' is in no document\n"
    assert main(["similar", str(model), "road"]) == 0
    assert "omnitm: warning: Words are compared by 'association'" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), "--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert re.search(rf"examples?:\n  omnitm {command}", shown)
    usage, summary = shown.split("\n\n", 2)[:2]
    assert usage.startswith(f"usage: omnitm {command} ")
    assert usage.endswith("[options]"), "only what must be given comes before"
    assert usage.count("\n") <= 2
    assert re.fullmatch(r"[A-Z].*[^.?][.?]", summary)


def test_demo_runs_twice_and_its_suggestions_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    library = [
        "socket address port connection",
        "thread lock threads wait",
        "regular expression pattern match",
    ] * 40
    monkeypatch.setattr(demo, "python_paragraphs", lambda: library)
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "socket: " in out
    assert "because of  " in out
    before = (tmp_path / "omnitm-demo/model/vectors.i16").read_bytes()
    assert main(["demo"]) == 0
    assert "using the text in omnitm-demo/python-docs.txt" in capsys.readouterr().out
    assert (tmp_path / "omnitm-demo/model/vectors.i16").read_bytes() == before
    assert main(["similar", "omnitm-demo/model", "thread", "-n", "5"]) == 0
    assert main(["info", "omnitm-demo/model"]) == 0
    assert main(["train", "omnitm-demo/index", "-o", "paper-model", "--top", "2", "--paper", "--quiet"]) == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    assert main(["demo", "-o", "other"]) == 2
    assert "exists and is not a demo folder" in capsys.readouterr().err


def test_import_is_silent_and_loads_little() -> None:
    code = (
        "import sys; before = set(sys.modules); import omnitm; loaded = set(sys.modules) - before;"
        "heavy = {'numpy', 'sklearn', 'scipy', 'rich'} & loaded;"
        "assert not heavy and len(loaded) < 100, sorted(loaded)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_public_names() -> None:
    for name in omnitm.__all__:
        assert getattr(omnitm, name) is not None
    assert "OmniTMAE" in dir(omnitm)
    with pytest.raises(AttributeError, match="has no attribute 'Word2Vec'"):
        _ = omnitm.Word2Vec


def test_long_work_is_logged_if_asked_for(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("driving a car on the road\nfish swim in the sea\n" * 20)
    command = [sys.executable, "-m", "omnitm.cli", "train", "text.txt", "-o", "model", "--quiet"]
    quiet = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not quiet.stderr
    verbose = subprocess.run(
        [*command, "--force", "--verbose"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    said = verbose.stderr.splitlines()
    assert said[0] == "omnitm: indexing 1 files into model/index"
    assert any(line.startswith("omnitm: training 6 of 6 words with AutoencoderSettings(") for line in said)
    assert "omnitm: trained 6 words, 0 failed" in said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_all_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--completion", shell])
    assert end.value.code == 0
    script = capsys.readouterr().out
    assert all(name.split()[-1] in script for name in COMMANDS)
    assert "keep-top" in script
    if shell == "bash":
        asked = "COMP_WORDS=(omnitm train --keep); COMP_CWORD=2; _omnitm; echo ${COMPREPLY[@]}"
        found = subprocess.run(
            ["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=True
        )
        assert found.stdout == "--keep-top\n"
    with pytest.raises(SystemExit):
        main(["--completion", "dos"])


def test_checking_and_unpacking_say_so(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(model), "--verify"]) == 0
    assert f"reading every byte of {model}" in capsys.readouterr().err
    assert main(["info", str(model / "index"), "--verify"]) == 0
    assert "verified: every byte is as it was written" in capsys.readouterr().out
    assert main(["pack", str(model), "-o", str(tmp_path / "m.omnitm")]) == 0
    assert main(["unpack", str(tmp_path / "m.omnitm"), "-o", str(tmp_path / "again")]) == 0
    assert "8 words x 8 features, as they were packed" in capsys.readouterr().out


def test_licences_are_checked(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["card", str(model), "--license", "cc-by-40"]) == 2
    assert "did you mean cc-by-4.0" in capsys.readouterr().err
    assert main(["card", str(model), "--license", "my own"]) == 2
    assert "Got 'my own'." in capsys.readouterr().err
    assert main(["card", str(model), "--license", "CC-BY-4.0"]) == 0


def test_long_work_is_announced(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from omnitm.store import similarity_cache

    monkeypatch.setattr(similarity_cache, "_MANY", 7)
    (model / "similarity.bin").unlink(missing_ok=True)
    assert main(["similar", str(model), "road", "--metric", "related"]) == 0
    assert "preparing similarities of 8 words, once" in capsys.readouterr().err


def test_a_clock_runs_on_a_terminal_while_long_work_goes_on(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from omnitm.cli import info
    from omnitm.files import long_work

    ticked, model_facts = threading.Event(), info.model_facts

    def slowly(path: Path, *, verify: bool) -> Any:
        assert ticked.wait(60)
        return model_facts(path, verify=verify)

    def tick(record: logging.LogRecord) -> bool:
        if hasattr(record, "seconds"):
            ticked.set()
        return True

    monkeypatch.setattr(long_work, "_EVERY", 0.001)
    monkeypatch.setattr(info, "model_facts", slowly)
    for on_terminal in (True, False):
        ticked.clear()
        monkeypatch.setattr(sys.stderr, "isatty", lambda shown=on_terminal: shown)
        log = logging.getLogger("omnitm.long_work")
        log.addFilter(tick)
        assert main(["info", str(model), "--verify"]) == 0
        log.removeFilter(tick)
        said = capsys.readouterr().err
        assert ("\r\x1b[K        0 s" in said) == on_terminal
        assert said.endswith("\r\x1b[K" if on_terminal else f"reading every byte of {model}\n")


def test_an_interrupt_while_a_command_is_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("omnitm.cli.make_parser", interrupted)
    assert main(["similar", "model", "word"]) == 130
    assert capsys.readouterr().err == "omnitm: stopped\n"
