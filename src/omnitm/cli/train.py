"""`omnitm train`: a corpus in, a model out."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.cli.index import MIN_COUNT_HELP, usual_min_count
from omnitm.cli.options import add_engine_options, option
from omnitm.engines import Engine, make_engine
from omnitm.errors import FileError, MissingExtraError, OmniTMError, ParameterError
from omnitm.machine import PAPER, AutoencoderSettings
from omnitm.parameters import check_integer
from omnitm.store.model_notes import INDEX

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex, VocabularyRules
    from omnitm.training.progress import Progress
    from omnitm.training.shards import Shard
    from omnitm.vectors import WordVectors

EXAMPLE = """\
  omnitm train news.txt -o news-model --top 2000
  omnitm similar news-model road
stopped? the same command with --resume trains the rest:
  omnitm train news.txt -o news-model --resume
more words later:
  omnitm train news.txt -o news-model --add --words more.txt
on several machines, each with its own part of the words:
  omnitm train news.idx -o part-3 --shard 3/16
  omnitm merge part-* -o news-model
another model of words on the same text:
  omnitm train news.txt -o news-w2v --model word2vec --set window=10"""

MODEL_NAMES = (
    "omni",
    "fast-omni",
    "word2vec",
    "fasttext",
    "glove",
    "ppmi",
    "svd",
    "tmae",
    "two-phase",
    "bert",
    "elmo",
)
_SETTING_HELP: dict[str, tuple[Any, str]] = {
    "n_clauses": (int, "clauses per word (the paper's c)"),
    "threshold": (int, "vote at which a machine stops learning (the paper's T)"),
    "specificity": (float, "a literal is forgotten with probability 1/X (the paper's s)"),
    "accumulation": (int, "documents or passages merged into one example"),
    "accumulation_growth": (int, "merge up to X times as many places of words that stand at more than 1,500"),
    "n_examples": (int, "examples per epoch"),
    "n_epochs": (int, "passes of --n-examples each"),
    "algorithm": (str, "how clauses learn: 'exact' as in the paper, or 'fast' as in FastOmniTMAE"),
    "state_bits": (int, "bits of a state, 4 to 8"),
    "output_balancing": (float, "share of examples made from documents that contain the word"),
    "max_included_literals": (
        lambda text: None if text == "none" else int(text),
        "a clause that includes more literals only forgets; 'none': no limit",
    ),
    "contexts": (
        str,
        "learn from 'topic' (documents with the word), 'place' (its neighbours in the text) or 'both'",
    ),
    "n_place_features": (int, "how many of the most frequent words to look for around a word"),
    "passage_reach": (int, "learn topics from X words before and after a word; 0: from whole documents"),
}

# What settings are by default, if that depends on the corpus.
_USUAL = {
    "contexts": "both if the index has the running text",
    "passage_reach": "25 if documents have more than 100 words on average, else 0",
}
_LARGE, _KEEP_TOP = 1_000_000_000, 1_000  # bytes; coordinates per word, see docs/sharing.md
_ONE_GO = "it is trained in one go"
_ONLY_OMNI = {
    **dict.fromkeys(("resume", "add", "engine", "address", "patience", "shard", "log"), _ONE_GO),
    "paper": "the paper's settings are its default",
    "keep_top": "its rows are stored whole",
}


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(
        parser,
        "[CORPUS]",
        "index made by `omnitm index`, or text with a document per line, which is indexed in "
        "MODEL/index; with --resume and --add it may be left out if the index is there",
    )
    option(parser, "-o --output MODEL", "folder to write the model to", required=True)
    option(
        parser,
        "--model",
        "kind of model to train (default: omni; docs/baselines.md has the others)",
        choices=MODEL_NAMES,
        default="omni",
    )
    words = parser.add_mutually_exclusive_group()
    option(words, "--words FILE", "train the words in this file, one per line")
    option(words, "--top N", "train the N words that occur in most documents (default: all)")
    option(parser, "--min-count N", f"if CORPUS is text: {MIN_COUNT_HELP}")
    existing = parser.add_mutually_exclusive_group()
    option(existing, "--resume", "continue a run that was stopped")
    option(existing, "--add", "train more words of a finished model (--words or --top)")
    option(existing, "--force", "replace an existing model")
    option(
        parser,
        "--keep-top K",
        "store only the K coordinates of each word that differ most from its baseline, which makes large "
        "models small (default: all)",
    )
    option(
        parser,
        "--license ID",
        "licence of the model, such as cc-by-4.0, for its card (`omnitm card` can add it later)",
    )
    option(
        parser,
        "--no-map",
        "don't prepare the map that `omnitm explore` opens on (a minute of CPU for 40,000 words)",
    )
    option(parser, "--quiet", "no progress bar, no summary")
    _add_running_options(parser)
    _add_settings(parser)


def _add_running_options(parser: argparse.ArgumentParser) -> None:
    """Add options that say where words are trained, which of them, and what is written down."""
    group = parser.add_argument_group("where to train (docs/engines.md)")
    add_engine_options(group)
    option(group, "--shard K/N", "train only the K-th of N parts of the words, for `omnitm merge`")
    option(group, "--log FILE", "append progress and failures to this file, as JSON lines")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to learn")
    option(group, "--paper", "use the paper's settings, and prepare text as the paper does")
    option(group, "--seed N", "seed of all random draws (default: 0)")
    option(
        group,
        "--set NAME=VALUE",
        "any other setting of a --model that is not omni; may be repeated",
        action="append",
        default=[],
    )
    defaults = AutoencoderSettings()
    for name, (kind, help_text) in _SETTING_HELP.items():
        usual = _USUAL.get(name, getattr(defaults, name))
        default = f"default: {usual}; paper: {PAPER[name]}"
        usage = f"--{name.replace('_', '-')} X"
        option(group, usage, f"{help_text} ({default})", dest=name, type=kind, default=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> None:
    """Train, and say what came out."""
    from omnitm.files.kinds import refuse_to_replace
    from omnitm.store.folder import check_free_for_use
    from omnitm.training.shards import Shard

    refuse_to_replace(arguments.output, "model")
    if arguments.model not in {"omni", "fast-omni"}:
        _run_baseline(arguments)
        return
    given = _settings(arguments)
    engine = make_engine(arguments.engine, arguments.threads, arguments.address, patience=arguments.patience)
    if arguments.add and (given or arguments.seed is not None or arguments.keep_top is not None):
        raise ParameterError(
            "--add trains with the settings and seed of the model; leave out other settings."
        )
    if arguments.add and arguments.shard:
        raise ParameterError("--add and --shard don't go together: train shards, merge them, then add words.")
    shard = None if arguments.shard is None else Shard.parse(arguments.shard)
    named = None if arguments.words is None else read_targets(arguments.words)
    if not (arguments.resume or arguments.add):
        check_free_for_use(arguments.output, force=arguments.force)
    _check_numbers(arguments)
    # A running cluster is connected to before anything is made, or replaced, for a model.
    with getattr(engine, "connection", contextlib.nullcontext)(), _removed_if_refused(arguments.output):
        _train_words(arguments, given, engine, shard, named)


def _check_numbers(arguments: argparse.Namespace) -> None:
    """Check what needs no corpus, so that none is indexed in vain."""
    if arguments.top is not None and arguments.top < 1:
        raise ParameterError(f"--top must be at least 1, a number of words. Got {arguments.top}.")
    if arguments.seed is not None:
        check_integer("OmniTMAE", "seed", arguments.seed, 0, 2**64 - 1)
    if arguments.keep_top is not None:
        check_integer("train_model", "keep_top", arguments.keep_top, 1)


@contextlib.contextmanager
def _removed_if_refused(output: Path) -> Iterator[None]:
    """Leave no new folder in which there is nothing but an index, if the corpus or the words are refused."""
    is_new = not output.exists()
    try:
        yield
    except OmniTMError:
        if is_new and output.is_dir() and {file.name for file in output.iterdir()} <= {INDEX}:
            shutil.rmtree(output)
        raise


def _train_words(
    arguments: argparse.Namespace,
    given: dict[str, Any],
    engine: Engine,
    shard: Shard | None,
    named: list[str] | None,
) -> None:
    from omnitm.files import available_cores
    from omnitm.training.vocabulary import add_words, train_model

    reuse = arguments.resume or arguments.add
    index = open_corpus(arguments, reuse=reuse, threads=arguments.threads or available_cores())
    started = time.monotonic()
    with listening(arguments) as progress:
        common: dict[str, Any] = {"engine": engine, "progress": progress}
        if arguments.add:
            vectors = add_words(index, arguments.output, _words_to_add(arguments, index, named), **common)
        else:
            words, settings = named or _top_words(arguments, index), _completed(given, index, arguments)
            if settings is not None and not arguments.quiet:
                _say_size(index, words, settings, arguments.keep_top, shard)
            vectors = train_model(
                index,
                arguments.output,
                words,
                settings=settings,
                seed=arguments.seed,
                resume=arguments.resume,
                force=arguments.force,
                keep_top=arguments.keep_top,
                shard=shard,
                **common,
            )
    _note_license(arguments)
    if shard is None:
        prepare_similarity(arguments.output, with_map=not arguments.no_map, quiet=arguments.quiet)
    if not arguments.quiet:
        _say_what_is_there(arguments.output, vectors, time.monotonic() - started)


def _run_baseline(arguments: argparse.Namespace) -> None:
    """Train a model that is not Omni; mistakes in its settings come before any work."""
    from omnitm.baselines import make_baseline
    from omnitm.store.folder import check_free_for_use
    from omnitm.vectors import WordVectors

    _check_only_for_omni(arguments)
    baseline = make_baseline(arguments.model, _baseline_settings(arguments))
    named = None if arguments.words is None else read_targets(arguments.words)
    output, quiet = arguments.output, arguments.quiet
    check_free_for_use(output, force=arguments.force)
    started = time.monotonic()
    index = open_corpus(arguments, reuse=False, threads=arguments.threads or 1)
    vectors = baseline.train(index, named or _top_words(arguments, index), progress=not quiet)
    vectors.save(output, force=arguments.force)
    _note_license(arguments)
    prepare_similarity(output, with_map=not arguments.no_map, quiet=quiet)
    if not quiet:
        _say_what_is_there(output, WordVectors.load(output), time.monotonic() - started)


def _check_only_for_omni(arguments: argparse.Namespace) -> None:
    """Refuse what only the Omni models, which are trained word by word, can do."""
    for name, reason in _ONLY_OMNI.items():
        if getattr(arguments, name) not in {None, False, "threads"}:
            option = "--" + name.replace("_", "-")
            raise ParameterError(f"{option} is for the Omni models, not for {arguments.model}: {reason}.")


def _baseline_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Collect what was given on the command line: options of the same names, --seed, --threads and --set."""
    given = {name: value for name, value in vars(arguments).items() if name in _SETTING_HELP}
    if arguments.seed is not None:
        given["seed"] = arguments.seed
    if arguments.threads is not None:
        given["n_jobs"] = arguments.threads
    return {**given, **dict(map(_named_value, arguments.set))}


def _named_value(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ParameterError(f"--set must be NAME=VALUE, such as --set window=10. Got {text!r}.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _note_license(arguments: argparse.Namespace) -> None:
    from omnitm.sharing.card import keep_card, kept_facts, updated_facts
    from omnitm.vectors import WordVectors

    if arguments.license is not None:
        vectors = WordVectors.load(arguments.output)
        keep_card(
            vectors, arguments.output, updated_facts(kept_facts(arguments.output), license=arguments.license)
        )


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that the user gave, checked before the corpus is read."""
    names = {field.name for field in fields(AutoencoderSettings)}
    given = {name: value for name, value in vars(arguments).items() if name in names}
    if arguments.set:
        raise ParameterError(
            "--set is for models that are not Omni; Omni's settings are options of their own."
        )
    if arguments.model == "fast-omni" and given.setdefault("algorithm", "fast") != "fast":
        raise ParameterError("--model fast-omni is --algorithm fast; leave out the one or the other.")
    if arguments.paper:
        given = {**PAPER, **given}
    AutoencoderSettings(**given)
    return given


def _completed(
    given: dict[str, Any], index: DocumentIndex, arguments: argparse.Namespace
) -> AutoencoderSettings | None:
    """Return all settings; None: those of the model that is continued."""
    from omnitm.store.manifest import SETTINGS
    from omnitm.store.record import omni_record, read_record
    from omnitm.training.vocabulary import default_settings

    if arguments.resume and (arguments.output / SETTINGS).exists():
        if not given:
            return None
        record = omni_record(read_record(arguments.output / SETTINGS), "be continued")
        chosen_from_text = ("contexts", "joiners", "n_joined_features", "passage_reach")
        given = {**{name: getattr(record.settings, name) for name in chosen_from_text}, **given}
    if "contexts" not in given and index.running is None and not arguments.quiet:
        print("the corpus has no word order: words are trained on topic only, not on place", file=sys.stderr)
    settings = default_settings(index, **given)
    if settings.passage_reach and "passage_reach" not in given and not arguments.quiet:
        print(
            f"documents are long: topics are learned from {settings.passage_reach} words before and after a "
            "word; --passage-reach 0 learns from whole documents",
            file=sys.stderr,
        )
    return settings


def _top_words(arguments: argparse.Namespace, index: DocumentIndex) -> list[str] | None:
    if arguments.top is None:
        return None
    if not 1 <= arguments.top <= index.n_words:
        limits = f"from 1 to {index.n_words}, the size of the vocabulary"
        raise ParameterError(f"--top must be {limits}. Got {arguments.top}.")
    top: int = arguments.top
    return index.frequent_first[:top]


def _words_to_add(arguments: argparse.Namespace, index: DocumentIndex, named: list[str] | None) -> list[str]:
    from omnitm.vectors import WordVectors

    if named is not None:
        return named
    trained = WordVectors.load(arguments.output)
    missing = [word for word in _top_words(arguments, index) or index.vocabulary if word not in trained]
    if not missing:
        raise ParameterError(f"{arguments.output} has all of these words already; there is nothing to add.")
    return missing


def read_targets(path: Path) -> list[str]:
    """Read one word per line; blank lines don't count."""
    from omnitm.files.kinds import refuse_other_kinds
    from omnitm.files.plain import read_text

    refuse_other_kinds(path, "text")
    lines = read_text(path, "expected one word per line").splitlines()
    words = [line.strip() for line in lines if line.strip()]
    if not words:
        raise FileError(path, "has no words; expected one word per line")
    return words


def prepare_similarity(model: Path, *, with_map: bool = False, quiet: bool) -> None:
    """Compute what the default similarity and the explorer need now, so that they answer at once."""
    from importlib.util import find_spec

    from omnitm.cli.explore import compute_map
    from omnitm.vectors import WordVectors

    vectors = WordVectors.load(model)
    if vectors.default_metric not in {"similarity", "alike"}:
        return
    if not quiet:
        print("preparing similarities", file=sys.stderr)
    _ = vectors.profiles
    if not with_map or vectors.default_metric != "similarity":
        return
    if find_spec("openTSNE") is None:
        problem = str(MissingExtraError("The map of the vocabulary", "explorer"))
    else:
        problem = compute_map(model, quiet=quiet)
    if problem and not quiet:  # the model is whole, and the explorer can make the map later
        print(f"no map for `omnitm explore`: {problem}", file=sys.stderr)


def _say_what_is_there(path: Path, vectors: WordVectors, seconds: float) -> None:
    from omnitm.files.kinds import shell_name

    print(
        f"{path}: {len(vectors):,} words x {vectors.vector_size:,} features ({seconds:.1f} s)",
        file=sys.stderr,
    )
    word = shell_name(type(vectors).load(path).telling_words(1)[0])  # with what is kept beside the model
    print(f"try: omnitm similar {shell_name(path)} {word}", file=sys.stderr)


@contextlib.contextmanager
def listening(arguments: argparse.Namespace) -> Iterator[Any]:
    """Yield what is told about progress: a bar, a log, both or neither."""
    from omnitm.training.progress import ProgressBar, ProgressLog

    listeners: list[Callable[[Progress], object]] = []

    def tell(state: Progress) -> None:
        for listener in listeners:
            listener(state)

    with contextlib.ExitStack() as stack:
        if not arguments.quiet:
            listeners.append(stack.enter_context(ProgressBar()))
        if arguments.log is not None:
            facts = {"model": str(arguments.output), "engine": arguments.engine}
            listeners.append(stack.enter_context(ProgressLog(arguments.log, facts)))
        yield tell


def open_corpus(arguments: argparse.Namespace, *, reuse: bool, threads: int) -> DocumentIndex:
    """Open the index that a model is trained from, or make one of text in the model's folder.

    Parameters
    ----------
    reuse
        Whether an index inside the model's folder stands for the text that it was made of.
    """
    from omnitm.corpus import DocumentIndex, VocabularyRules
    from omnitm.files.kinds import kind_of

    source, own, quiet = arguments.corpus, arguments.output / INDEX, arguments.quiet
    is_text = kind_of(source) != "index" if source is not None else False
    if arguments.min_count is not None and (not is_text or reuse):
        raise ParameterError(
            "--min-count is for text; an index has its words: omnitm index TEXT --min-count N"
        )
    if source is not None and not is_text:
        return DocumentIndex.open(source)
    if reuse and kind_of(own) == "index":
        if not quiet:
            print(f"using the index in {own}", file=sys.stderr)
        return DocumentIndex.open(own)
    if source is None:
        raise ParameterError(
            f"CORPUS is missing: {arguments.output} has no index of its own; give an index or text."
        )
    fewest = arguments.min_count or usual_min_count(source, paper=arguments.paper)
    rules = VocabularyRules(min_count=fewest)
    index = make_index(source, own, vocabulary=rules, threads=threads, quiet=quiet, paper=arguments.paper)
    rare = index.summary.dropped.get("too rare") if index.summary else None
    if rare is not None and rare.types and arguments.min_count is None and not quiet:
        left_out = f"{rare.types:,} words that occur fewer than {fewest} times are left out"
        print(f"{index.n_words:,} words; {left_out} (--min-count 1 keeps them)", file=sys.stderr)
    return index


def _say_size(
    index: DocumentIndex,
    words: list[str] | None,
    settings: AutoencoderSettings,
    keep_top: int | None,
    shard: Shard | None,
) -> None:
    """Say how large the model will be, and what would make a large one small."""
    from omnitm.sharing.export import readable
    from omnitm.training.vocabulary import row_bytes

    n_words = len(words) if words else index.n_words
    n_words = n_words if shard is None else -(-n_words // shard.total)
    size = n_words * row_bytes(index, settings, keep_top)
    less = n_words * row_bytes(index, settings, _KEEP_TOP)
    hint = ""
    if keep_top is None and size >= _LARGE and 2 * less <= size:
        hint = f"; with --keep-top {_KEEP_TOP} only {readable(less)}"
    print(f"training {n_words:,} words: the model will take {readable(size)}{hint}", file=sys.stderr)


def make_index(
    source: str | Path,
    output: Path,
    *,
    vocabulary: VocabularyRules | None = None,
    threads: int,
    quiet: bool,
    paper: bool = False,
) -> DocumentIndex:
    """Make an index in place of an older one of the same name; `paper`: text is prepared as in the paper."""
    from rich.console import Console

    from omnitm.corpus import DocumentIndex, Preparation, Resources, build_index

    resources, preparation = Resources(n_threads=threads), Preparation.paper() if paper else None
    with Console(stderr=True, quiet=quiet).status(f"indexing {source}"):
        build_index(
            source,
            output,
            preparation=preparation,
            vocabulary=vocabulary,
            resources=resources,
            overwrite=output.exists(),
        )
    return DocumentIndex.open(output)
