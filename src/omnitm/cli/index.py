"""`omnitm index` and `omnitm group`: text to the index that everything trains from, and its groups."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.cli.options import option
from omnitm.cli.reports import Bar, make_console, make_table
from omnitm.errors import OmniTMWarning, ParameterError
from omnitm.files.kinds import kind_of, refuse_other_kinds, shell_name
from omnitm.files.plain import read_text

if TYPE_CHECKING:
    from rich.table import Table

    from omnitm.corpus import DocumentIndex, Preparation, Progress, Reading, VocabularyRules
    from omnitm.corpus.groups import Grouping

EXAMPLES = {
    "index": """\
  omnitm index news.txt.xz -o news.index                     a line is a document
  omnitm index reviews/ --document file -o reviews.index     a file is a document
  omnitm index news.csv --column text --group date --group-by year -o news.index    for omnitm compare
  omnitm index posts.jsonl --column text --max-words 20000 -o posts.index
  zcat *.gz | omnitm index - -o all.index                    standard input
  omnitm index more.txt --append -o news.index               more documents, the same words""",
    "group": """\
  omnitm group news.index source                   by a field of the files that the index was made from
  omnitm group news.index date --group-by year     by year, decade or month of a date
  omnitm group news.index length --group-by 4      by numbers, in 4 equal parts
  omnitm group news.index file                     by file; also: folder
  omnitm group news.index side --from labels.txt   a file with a line per document
then: omnitm compare news.index climate --by source""",
}
_PREPARATION = (
    *("lowercase", "punctuation", "digits", "possessives"),
    *("character_set", "normalization", "token_pattern"),
)
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_USUAL_MIN_COUNT = 5  # as in word2vec: rarer words are most of a vocabulary and have too few examples
_A_WORD_PER_LINE = "expected one word per line"
_SHOWN_GROUPS = 20
_SMALL_TEXT = 100_000  # bytes; some 5,000 different words
MIN_COUNT_HELP = (
    f"leave out words that occur less often (default: {_USUAL_MIN_COUNT}; 1 with --paper, for standard input "
    f"and for less than {_SMALL_TEXT // 1000} kB of text)"
)


def fill_index(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm index`."""
    option(parser, "SOURCE...", "file, folder or pattern, or - for standard input", dest="sources")
    option(parser, "-o --output INDEX", "folder to write the index to", required=True)
    option(parser, "--force", "replace an existing index")
    option(parser, "--append", "add documents to an existing INDEX, prepared as its others")
    option(
        parser,
        "--no-order",
        "don't keep the order of words, from which places are learned (saves 8 to 9 bytes per word of text)",
        dest="order",
        action="store_false",
        default=None,
    )
    _add_reading(parser.add_argument_group("reading"))
    _add_preparation(parser.add_argument_group("preparation"))
    _add_vocabulary(parser.add_argument_group("vocabulary"))
    work = parser.add_argument_group("work")
    option(work, "--memory SIZE", "most memory, such as 500M or 2G (default: a quarter of all)", type=_size)
    option(work, "--threads N", "number of threads", default=os.cpu_count() or 1)
    option(work, "--quiet", "no progress bar, no summary")


def _add_reading(group: Any) -> None:
    option(group, "--document", "what a document is (default: line)", choices=("line", "paragraph", "file"))
    option(
        group,
        "--column NAME",
        "column or field with the text, in CSV, TSV, JSON Lines and Parquet (default: text)",
    )
    option(
        group,
        "--format",
        "format of the sources (default: by suffix)",
        choices=("auto", "text", "csv", "tsv", "jsonl", "parquet"),
    )
    option(
        group,
        "--group FIELD",
        "group documents by this column or field, or by 'file' or 'folder', for `omnitm compare`",
    )
    option(
        group,
        "--group-by UNIT",
        "with --group: cut values into year, decade, month, or a number of equal parts",
    )
    option(group, "--encoding NAME", "encoding of the text (default: utf-8)")
    option(
        group,
        "--errors",
        "stop at bytes that are no text (strict, the default), or replace them",
        choices=("strict", "replace"),
    )


def _add_preparation(group: Any) -> None:
    option(group, "--no-lowercase", "keep capitals", dest="lowercase", action="store_false", default=None)
    option(
        group,
        "--punctuation",
        "split (default): it ends a word, but not in don't, well-known, U.S., where it vanishes; or all of "
        "it is deleted, turned into a space or kept",
        choices=("split", "delete", "space", "keep"),
    )
    option(
        group,
        "--digits",
        "what to do with digits; drop (default): delete them, and words that begin with one, such as 19th",
        choices=("drop", "delete", "space", "keep"),
    )
    option(
        group,
        "--possessives",
        "germany's becomes germany and 's (split, the default), or germanys (join)",
        choices=("split", "join"),
    )
    option(
        group,
        "--paper",
        "prepare as the paper does: --punctuation, --digits delete, --possessives join",
        default=None,
    )
    option(
        group,
        "--character-set",
        "whose punctuation and digits (default: unicode)",
        choices=("unicode", "ascii"),
    )
    option(
        group,
        "--normalize",
        "Unicode form (default: as it is)",
        dest="normalization",
        choices=("NFC", "NFD", "NFKC", "NFKD"),
    )
    option(
        group,
        "--stop-words FILE",
        "stop words: english (default), none, or a file with one per line",
        type=str,
    )
    option(group, "--token-pattern REGEX", "take what matches as words (slower)")
    option(group, "--tokenizer MODULE:FUNCTION", "take what a Python function returns as words (slower)")


def _add_vocabulary(group: Any) -> None:
    option(
        group,
        "--max-words N",
        "keep the N most frequent words, or all (default: 40000)",
        type=_count_or_all,
    )
    option(group, "--min-count N", MIN_COUNT_HELP)
    option(
        group,
        "--min-documents N",
        "fewest documents of a word: a number, or a share such as 0.001",
        type=_number,
    )
    option(
        group,
        "--max-documents N",
        "most documents of a word: a number, or a share such as 0.5",
        type=_number,
    )
    option(group, "--keep FILE", "keep the words in this file whatever their counts")
    option(group, "--vocabulary FILE", "keep exactly the words of this file or index")


def run_index(arguments: argparse.Namespace) -> None:
    """Build or extend an index, and say what is in it."""
    try:
        grouping = _build(arguments)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            "stopped; nothing was left behind, run the same command to begin again"
        ) from None
    if not arguments.quiet:
        make_console().print(describe_index(arguments.output))
        if grouping is not None:
            print_groups(grouping)


def _build(arguments: argparse.Namespace) -> Grouping | None:
    """Make the index, or add to it; return the groups that were asked for."""
    from omnitm.corpus import Resources, append_to_index, build_index
    from omnitm.corpus.groups import group_index, keep_grouping

    reading = _reading(arguments)
    grouping = None if arguments.append else _grouping(arguments, reading)
    started = time.monotonic()
    with Bar(quiet=arguments.quiet) as bar:

        def report(news: Progress) -> None:
            amount = f"{news.done / 1e6:,.0f} MB" if news.stage == "reading" else f"{news.done:,} documents"
            speed = news.n_documents / max(time.monotonic() - started, 1e-9)
            bar(news.stage, news.done, news.total or None, f"{amount}, {speed:,.0f} documents/s")

        resources = Resources(arguments.memory, arguments.threads, report)
        if arguments.append:
            _refuse_with_append(arguments)
            _warn_of_groups(arguments.output)
            tokenizer = None if arguments.tokenizer is None else load_tokenizer(arguments.tokenizer)
            append_to_index(
                arguments.output, arguments.sources, reading=reading, resources=resources, tokenizer=tokenizer
            )
            return None
        build_index(
            arguments.sources,
            arguments.output,
            preparation=_preparation(arguments),
            vocabulary=_vocabulary(arguments),
            reading=reading,
            resources=resources,
            overwrite=arguments.force,
            order=arguments.order is not False,
        )
    if arguments.group is not None:
        grouping = grouping or group_index(arguments.output, arguments.group, arguments.group_by)
        keep_grouping(arguments.output, grouping)
    return grouping


def _grouping(arguments: argparse.Namespace, reading: Reading) -> Grouping | None:
    """Read the groups before the build, so that it does not begin in vain; files are known after it."""
    from omnitm.corpus.groups import FILE, FOLDER, group_sources
    from omnitm.corpus.reading import find_sources

    if arguments.group_by is not None and arguments.group is None:
        raise ParameterError("--group-by needs --group FIELD.")
    if arguments.group is None or arguments.group in {FILE, FOLDER}:
        return None
    return group_sources(find_sources(arguments.sources), reading, arguments.group, arguments.group_by)


def _warn_of_groups(path: Path) -> None:
    from omnitm.corpus.groups import read_groupings

    kept = read_groupings(path)
    if kept:
        commands = "; ".join(f"omnitm group {shell_name(path)} {name}" for name in kept)
        warnings.warn(
            f"groups of {path} don't know the new documents: {commands}", OmniTMWarning, stacklevel=2
        )


def describe_index(path: str | os.PathLike[str]) -> Table:
    """Table of what is in an index: documents, words, what was dropped and why, how text was prepared."""
    from omnitm.corpus import DocumentIndex

    index = DocumentIndex.open(path)
    table = make_table(f"index {path}", "", "number", "", numbers=("number",))
    table.show_header = False
    for name, count, fact in _facts(index):
        table.add_row(name, count, fact)
    return table


def _facts(index: DocumentIndex) -> Iterator[tuple[str, str, str]]:
    summary = index.summary
    assert summary is not None  # noqa: S101  # every index on disk has one
    yield (
        "documents",
        f"{index.n_documents:,}",
        f"{summary.n_empty_documents:,} without a word of the vocabulary",
    )
    yield "words in the text", f"{summary.all_words.tokens:,}", f"{summary.all_words.types:,} different ones"
    kept = f"{summary.coverage:.1%} of the text, {summary.coverage_without_stop_words:.1%} without stop words"
    yield "vocabulary", f"{index.n_words:,}", f"{summary.kept.tokens:,} occurrences: {kept}"
    for reason, tally in summary.dropped.items():
        if tally.tokens:
            yield f"dropped: {reason}", f"{tally.types:,}", f"{tally.tokens:,} occurrences"
    if summary.absent:
        some = ", ".join(summary.absent[:5]) + (", ..." if len(summary.absent) > 5 else "")
        yield "wanted but absent", f"{len(summary.absent):,}", some
    yield (
        "document/word pairs",
        f"{summary.n_pairs:,}",
        f"{summary.n_pairs / max(1, index.n_documents):.1f} per document",
    )
    running = index.running
    words = "not kept" if running is None else f"{len(running.names):,} different ones"
    yield "running text", f"{running.n_running_words:,}" if running is not None else "", words
    size = sum(file.stat().st_size for file in Path(index.path or ".").iterdir())
    yield "on disk", f"{size / 1e6:,.1f} MB", ""
    yield "preparation", "", _options(index.preparation_or_default)


def _options(preparation: Preparation) -> str:
    options = preparation.to_json()
    if isinstance(options["stop_words"], list):
        options["stop_words"] = f"{len(options['stop_words'])} of your own"
    return ", ".join(f"{name}={value}" for name, value in options.items() if value is not None)


def _chosen(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Options that the user gave; the rest keep their defaults."""
    return {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}


def _reading(arguments: argparse.Namespace) -> Reading:
    from omnitm.corpus import Reading

    return Reading(**_chosen(arguments, "document", "column", "format", "encoding", "errors"))


def _preparation(arguments: argparse.Namespace) -> Preparation:
    from omnitm.corpus import Preparation

    options = _chosen(arguments, *_PREPARATION)
    if arguments.stop_words is not None and arguments.stop_words != "english":
        options["stop_words"] = (
            None if arguments.stop_words == "none" else read_words(Path(arguments.stop_words))
        )
    if arguments.tokenizer is not None:
        options["tokenizer"] = load_tokenizer(arguments.tokenizer)
    return replace(Preparation.paper() if arguments.paper else Preparation(), **options)


def _vocabulary(arguments: argparse.Namespace) -> VocabularyRules:
    from omnitm.corpus import VocabularyRules

    options = _chosen(arguments, "min_count", "min_documents", "max_documents")
    if arguments.max_words is not None:
        options["max_words"] = None if arguments.max_words == 0 else arguments.max_words
    if arguments.keep is not None:
        options["keep"] = read_words(arguments.keep)
    if arguments.vocabulary is not None:
        if options or arguments.max_words is not None:
            raise ParameterError(
                "--vocabulary fixes the words; leave out the other options of the vocabulary."
            )
        refuse_other_kinds(arguments.vocabulary, "index", "text")
        is_index = kind_of(arguments.vocabulary) == "index"
        options["fixed"] = read_words(
            arguments.vocabulary / "vocabulary.txt" if is_index else arguments.vocabulary
        )
    elif not {"min_count", "min_documents"} & set(options):
        options["min_count"] = usual_min_count(arguments.sources, paper=bool(arguments.paper))
    return VocabularyRules(**options)


def usual_min_count(sources: list[str] | str, *, paper: bool) -> int:
    """Return how often a word must occur if nothing else is asked for, by the size of the files."""
    from omnitm.corpus.reading import find_sources

    files = [] if paper else find_sources(sources)
    size = sum(file.stat().st_size for file in files if file.is_file())
    return _USUAL_MIN_COUNT if size >= _SMALL_TEXT else 1


def _refuse_with_append(arguments: argparse.Namespace) -> None:
    names: tuple[str, ...] = (*_PREPARATION, "paper", "stop_words", "group", "group_by")
    names += ("max_words", "min_count", "min_documents", "max_documents", "keep", "vocabulary")
    given = _chosen(arguments, *names) | ({"no_order": True} if arguments.order is False else {})
    if given or arguments.force:
        listed = ", ".join("--" + name.replace("_", "-") for name in (given or {"force": True}))
        raise ParameterError(f"--append prepares text as the index was made; leave out {listed}.")


def read_words(file: Path) -> list[str]:
    """Words of a file, one per line, blank lines and repeats left out."""
    refuse_other_kinds(file, "text")
    lines = read_text(file, _A_WORD_PER_LINE).split("\n")
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def load_tokenizer(name: str) -> Callable[[str], Iterable[str]]:
    """Python function that a user named on the command line."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ParameterError(f"--tokenizer must look like module:function. Got {name!r} instead.")
    sys.path.insert(0, os.getcwd())  # noqa: PTH109  # like `python -m`
    try:
        function = getattr(importlib.import_module(module), attribute, None)
    except ImportError as error:
        raise ParameterError(f"--tokenizer {name}: {error}.") from error
    finally:
        sys.path.pop(0)
    if not callable(function):
        raise ParameterError(f"--tokenizer {name}: {module} has no function {attribute!r}.")
    return function  # type: ignore[no-any-return]  # callable is all that can be known


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if match is None:
        raise argparse.ArgumentTypeError(f"a size looks like 500M or 2G, not {text!r}")
    return int(float(match[1]) * UNITS[match[2]])


def _number(text: str) -> float:
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"a number of documents, or a share such as 0.5, not {text!r}"
        ) from None


def _count_or_all(text: str) -> int:
    if text == "all":
        return 0
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a number of words, or all, not {text!r}")
    return int(text)


def fill_group(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm group`."""
    option(parser, "INDEX", "folder of an index")
    option(
        parser,
        "FIELD",
        "column or field of its sources, or 'file' or 'folder'; with --from: a name of your own",
    )
    option(parser, "--group-by UNIT", "cut values into year, decade, month, or a number of equal parts")
    option(parser, "--from FILE", "read the groups from this file, a line per document", dest="labels")


def run_group(arguments: argparse.Namespace) -> None:
    """Make the groups, keep them, and list them."""
    from omnitm.corpus.groups import Grouping, group_index, keep_grouping

    if arguments.labels is None:
        grouping = group_index(arguments.index, arguments.field, arguments.group_by)
    else:
        labels = read_labels(arguments.labels)
        grouping = Grouping.of(labels, arguments.field, arguments.group_by)
    keep_grouping(arguments.index, grouping)
    print_groups(grouping)


def read_labels(file: Path) -> list[str]:
    """Read a label per line; an empty line is a document without a group."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(f"--from {file}: cannot be read as lines of UTF-8: {reason}.") from None
    return text.removesuffix("\n").split("\n")


def print_groups(grouping: Grouping) -> None:
    """List the groups with their sizes."""
    import numpy as np

    n_groups = len(grouping.labels)
    counts = np.bincount(grouping.numbers.clip(max=n_groups), minlength=n_groups + 1)
    title = f"{grouping.name}: {n_groups:,} group{'s' if n_groups > 1 else ''}"
    table = make_table(title, "group", "documents", numbers=("documents",))
    for label, count in list(zip(grouping.labels, counts.tolist(), strict=False))[:_SHOWN_GROUPS]:
        table.add_row(repr(label)[1:-1], f"{count:,}")
    if n_groups > _SHOWN_GROUPS:
        table.add_row(
            f"and {n_groups - _SHOWN_GROUPS:,} more", f"{int(counts[_SHOWN_GROUPS:n_groups].sum()):,}"
        )
    if counts[n_groups]:
        table.add_row("in none", f"{int(counts[n_groups]):,}")
    make_console().print(table)
