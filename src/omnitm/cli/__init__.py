"""The command line: a file per command, or per group of them, imported when the command is called.

A command's module has `EXAMPLE`, the end of its help; `fill`, which adds its options; and `run`. A module of
several commands has them by name: `EXAMPLES["tsne"]`, `fill_tsne` and `run_tsne`.
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from omnitm import __version__
from omnitm.errors import OmniTMError, OmniTMWarning, SetAsideError, nearest_spellings

# With what `omnitm --help` says of each command, so that help needs none of their imports.
COMMANDS = {
    "demo": "train on the documentation inside your own Python and look around (under a minute)",
    "index": "turn text into an index, which training reads",
    "train": "train word vectors on a text or an index",
    "merge": "make one model of several that have the same corpus and settings",
    "similar": "list the words that are most similar to a word",
    "themes": "show the themes of a model, of a word or of a text",
    "explain": "show the rules that were learned about a word, how often they hold, and documents",
    "why": "show why two words are similar: the features that make up the score, and documents",
    "group": "put the documents of an index into groups: years, sources, files",
    "compare": "show how the use of words differs between groups, with reasons and p-values",
    "senses": "tell the meanings of a word apart, each with its share of documents and its neighbours",
    "trace": "show how one literal (a word occurs, or does not) moved while a word was trained",
    "explore": "open a model as a web page on this machine",
    "evaluate": "measure how good word vectors are",
    "evaluate similarity": "measure how well similarities agree with what people say of word pairs",
    "evaluate analogies": "measure how many analogies (man is to king as woman is to ...) are solved",
    "evaluate categories": "measure how near words of one category are to each other",
    "evaluate classification": "measure how well documents are classified if similar words replace theirs",
    "evaluate clustering": "measure how well clusters of documents agree with their labels",
    "evaluate change": "measure how well changes of use are found between two corpora (SemEval-2020 Task 1)",
    "evaluate ablation": "measure what each setting of training does, one at a time",
    "evaluate interpretability": "measure how well people could read the dimensions of vectors",
    "plot": "draw a map of words, or a clause",
    "plot tsne": "draw a map of groups of words (t-SNE) and measure how well they separate",
    "plot clause": "draw the states of all literals of a clause",
    "reproduce": "measure the paper's tables and figures again",
    "info": "describe a model or an index",
    "card": "add corpus, licence or scores to the card of a model",
    "export": "write word vectors for another tool",
    "pack": "write a model as one small file, without loss",
    "unpack": "make a folder of a packed model again",
    "cooccur": "count the documents that two or more words share",
}
_GROUPS = {
    "evaluate": """\
  omnitm evaluate similarity news-model --data wordsim/
  omnitm evaluate analogies news-model --data wordsim/
  omnitm evaluate categories news-model --data data/
  omnitm evaluate clustering news-model --data data/
  omnitm evaluate change --data semeval2020_ulscd_eng
  omnitm evaluate ablation news-index -o ablation --data wordsim/ --quick
`omnitm evaluate similarity --help` and so on explain each measurement.""",
    "plot": """\
  omnitm plot tsne news-model -o map.png
  omnitm plot clause news-model happy -o clause.png
`omnitm plot tsne --help` and so on explain each picture.""",
}
_FILES = {  # of commands that share one
    **dict.fromkeys(("pack", "unpack"), "pack"),
    **dict.fromkeys(("index", "group"), "index"),
    **dict.fromkeys(("explain", "senses", "trace"), "explain"),
    **dict.fromkeys(("plot tsne", "plot clause"), "plot"),
    **{name: "evaluate" for name in COMMANDS if name.startswith("evaluate ") and "interpret" not in name},
}
# They multiply no large matrices; numpy's threads for that would cost a third of the time they take.
_WITHOUT_ALGEBRA = {"similar", "why", "explain", "trace", "info", "cooccur", "index", "pack", "unpack"}
_MISTAKE, _INCOMPLETE, _INTERRUPTED = 2, 3, 130
_PATIENCE = 5.0  # seconds from the first Ctrl-C to the next that counts


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit status."""
    if argv is None:
        _stop_once()
    try:
        arguments = make_parser().parse_args(argv)
    except KeyboardInterrupt:  # while the command is imported, which takes a moment
        print("omnitm: stopped", file=sys.stderr)
        return _INTERRUPTED
    if arguments.debug or arguments.verbose:
        _show_log(debug=arguments.debug)
    elif not getattr(arguments, "quiet", False):
        _show_long_work()
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", OmniTMWarning)
        try:
            arguments.run(arguments)
            sys.stdout.flush()
        except OmniTMError as error:
            if arguments.debug:
                raise
            print(f"omnitm: error: {error}", file=sys.stderr)
            return _INCOMPLETE if isinstance(error, SetAsideError) else _MISTAKE
        except KeyboardInterrupt as interrupt:
            print(f"omnitm: {str(interrupt) or 'stopped'}", file=sys.stderr)
            return _INTERRUPTED
        except BrokenPipeError:  # the reader, such as `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
    return 0


def _stop_once() -> None:
    """Let the first Ctrl-C stop the command, and ignore those that follow while its threads end.

    A second KeyboardInterrupt would leave threads in native code when Python ends, which aborts. If ending
    takes longer than seconds, one more Ctrl-C ends at once.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return

    def stop(*_: Any) -> None:
        start = time.monotonic()

        def end(*_: Any) -> None:
            if time.monotonic() - start > _PATIENCE:
                os._exit(_INTERRUPTED)

        signal.signal(signal.SIGINT, end)
        # The last thing that Python does is to let signals kill again.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, stop)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help whose first line says what must be given; what can be given is listed below it."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Add that line; with the prefix "" it becomes the name of a command."""
        if prefix != "":
            others = argparse.Action([], "options", nargs="?", metavar="options")
            actions = [action for action in actions if action.required or not action.option_strings]
            actions, groups = [*actions, others], ()
        super().add_usage(usage, actions, groups, prefix)


class CommandParser(argparse.ArgumentParser):
    """The parser of a command; it gets its options when the command is called.

    Parameters
    ----------
    command
        One of `COMMANDS`; empty: the parser of all of them.
    """

    def __init__(self, *, command: str = "", **options: Any) -> None:
        super().__init__(formatter_class=_Help, **options)
        self._command = command
        self._is_filled = False

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> Any:
        """Parse, after adding the options."""
        self.fill()
        return super().parse_known_args(None if args is None else list(args), namespace)

    def fill(self) -> None:
        """Add the options, once."""
        if not self._is_filled:
            self._is_filled = True
            self._fill()

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all arguments; the command that was given unknown ones reports them."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            found.parser.refuse(unknown)
        return found

    def refuse(self, unknown: list[str]) -> NoReturn:
        """Say which arguments are unknown, and which option may be meant."""
        names = [name for name, _ in self.described_options()]
        typed = [word for word in unknown if word.startswith("--")]
        near = [name for word in typed for name in nearest_spellings(word, names, 1)]
        meant = f"; did you mean {near[0]}?" if near else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong with the arguments; --help shows the rest."""
        wrong = re.fullmatch(r"(argument .*): invalid choice: '(.*)' \(choose from (.*)\)", message)
        if wrong is not None:
            choices = [choice.strip("'\"") for choice in wrong[3].split(", ")]
            near = nearest_spellings(wrong[2], choices, 1)
            choose = f"did you mean {near[0]}?" if near else f"choose from {', '.join(choices)}"
            message = f"{wrong[1]}: there is no {wrong[2]!r}; {choose}"
        self.exit(_MISTAKE, f"omnitm: error: {message} ({self.prog} --help shows all)\n")

    def described_options(self) -> list[tuple[str, str]]:
        """All names of options and what they do."""
        return [(name, action.help or "") for action in self._actions for name in action.option_strings]

    def _fill(self) -> None:
        for names, text in (
            (("-v", "--verbose"), "say on standard error what is done"),
            (("--debug",), "the same in detail, and the traceback of an error"),
        ):
            default = argparse.SUPPRESS if self._command else False  # given before the command or after it
            self.add_argument(*names, action="store_true", default=default, help=text)
        if not self._command or self._command in _GROUPS:
            self._add_commands()
            example = _GROUPS.get(self._command)
        else:
            example = self._fill_command()
        if self._command:
            self.epilog = f"example:\n{example}"

    def _fill_command(self) -> str:
        """Import the command, add its options, and return the example of its help."""
        file, name = _FILES.get(self._command), self._command.replace(" ", "_")
        if self._command in _WITHOUT_ALGEBRA and "numpy" not in sys.modules:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        module = importlib.import_module(f"omnitm.cli.{file or name}")
        if file is None:
            fill, run, example = module.fill, module.run, module.EXAMPLE
        else:
            kind = self._command.split()[-1]
            fill, run = getattr(module, f"fill_{kind}"), getattr(module, f"run_{kind}")
            example = module.EXAMPLES[kind]
        fill(self)
        self.set_defaults(run=run, parser=self)
        return str(example)

    def _add_commands(self) -> None:
        """Add the commands of this group: those with one more word in their names."""
        metavar = "KIND" if self._command else "COMMAND"
        commands = self.add_subparsers(metavar=metavar, required=True, parser_class=CommandParser)
        for name, summary in COMMANDS.items():
            group, _, last = name.rpartition(" ")
            if group == self._command:
                description = f"{summary[0].upper()}{summary[1:]}" + ("" if summary.endswith("?") else ".")
                commands.add_parser(last, help=summary, description=description, command=name)


def make_parser() -> CommandParser:
    """Build the parser of all commands."""
    parser = CommandParser(
        prog="omnitm",
        description="Word embeddings made of logic: train them, look at them, explain them.",
        epilog="`omnitm COMMAND --help` explains a command by an example. New here? Try `omnitm demo`.",
    )
    parser.add_argument("--version", action="version", version=f"omnitm {__version__}")
    parser.add_argument(
        "--completion",
        metavar="SHELL",
        choices=("bash", "zsh", "fish"),
        action=_PrintCompletion,
        help='print a script that completes commands: eval "$(omnitm --completion bash)"; also zsh, fish',
    )
    return parser


class _PrintCompletion(argparse.Action):
    """Print a shell's script, and end, as --version does."""

    def __call__(self, parser: argparse.ArgumentParser, _: Any, values: Any, option: Any = None) -> None:
        del option
        from omnitm.cli.completion import script

        options = {}
        for name in COMMANDS:
            command = CommandParser(command=name, prog=f"omnitm {name}")
            command.fill()
            options[name] = command.described_options()
        print(script(values, COMMANDS, options), end="")
        parser.exit()


def _show_log(*, debug: bool) -> None:
    import logging

    logging.basicConfig(format="omnitm: %(message)s")
    logging.getLogger("omnitm").setLevel(logging.DEBUG if debug else logging.INFO)


def _show_long_work() -> None:
    """Say on standard error what takes long and happens only once, such as preparing similarities."""
    import logging

    from omnitm.files.long_work import LONG_WORK

    class Printer(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not hasattr(record, "seconds"):
                print(f"omnitm: {record.getMessage()}", file=sys.stderr)
            elif sys.stderr.isatty():  # a clock on a line of its own
                clock = "" if record.seconds is None else f"        {record.seconds} s"
                print(f"\r\x1b[K{clock}", end="", file=sys.stderr, flush=True)

    log = logging.getLogger(LONG_WORK)
    if not log.handlers:
        log.addHandler(Printer())
        log.setLevel(logging.DEBUG)


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **_: Any) -> None:
    if issubclass(category, OmniTMWarning):
        print(f"omnitm: warning: {message}", file=sys.stderr)
    else:
        filename, line_number = place[:2]
        sys.stderr.write(warnings.formatwarning(message, category, filename, line_number))
