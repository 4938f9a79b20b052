"""Change one thing at a time in the code of some rooms, and see whether a test of the same room fails.

    make mutants                                               # 60 mutants per room, with a fixed seed
    make mutants MUTANTS='--again --rooms explain'             # only those that survived the last run
    make mutants MUTANTS='--seed 2 --output /tmp/mutants'      # another draw, elsewhere

A mutant is one comparison, operator, number, flag or function (min, max, ...) changed into another. The tests
that run the changed line are run, shortest first, then all tests of their files, in a process that loads the
changed module in place of the real one; nothing is written into `src`. mutmut and cosmic-ray change copies of
a package, which an editable install with a native module does not import. Mutants are drawn by a hash of what
they change, so that other changes of the source leave most of the draw as it is. Survivors that no test could
tell from the original are named, with the reason, in `mutants_equivalent.txt`. Results go to
benchmarks/results/mutants.json and .md; a draw for which no test was written is kept in mutants-fresh.md.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import inspect
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
RESULTS, EQUIVALENT = ROOT / "benchmarks/results", ROOT / "benchmarks/mutants_equivalent.txt"
SEED, COUNT = 1, 60
SECONDS_TO_START, SECONDS_TO_TRACE = 20, 900  # of CPU, and more than it takes
#: The rooms whose code is changed, and the folders of the tests that are run.
ROOMS = {
    "evaluation": ("evaluation",),
    "explain": ("explain",),
    "similarity": ("similarity", "vectors"),
}
PICTURES = "plots.py"
NUMBERS = "::test_numbers_of_the_room"  # runs no line of the room, but looks at constants and defaults
SWAPS = [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot),
    (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr), (ast.And, ast.Or),
    (ast.USub, ast.UAdd)]  # fmt: skip
OPERATORS: dict[Any, Any] = {ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult}
OPERATORS.update([*SWAPS, *((second, first) for first, second in SWAPS)])
PAIRS = [("min", "max"), ("argmin", "argmax"), ("any", "all"), ("floor", "ceil"), ("minimum", "maximum")]
FUNCTIONS = dict([*PAIRS, *((second, first) for first, second in PAIRS)])
Mutant = dict[str, Any]  # key, path, number in its file, line, code, change; then its result


def changes(tree: ast.AST) -> Iterator[tuple[Any, str, Any]]:
    """Go through the changes of a file: node, field, new value.

    Annotations, decorators, texts, errors and what only type checkers read are left as they are.
    """
    for name, value in ast.iter_fields(tree):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or name in {"annotation", "returns", "decorator_list"}:
                continue
            is_typing = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            if is_typing or isinstance(child, ast.Raise | ast.JoinedStr):
                continue
            for field, new in changed_fields(child).items():
                yield child, field, new
            yield from changes(child)


def changed_fields(node: Any) -> dict[str, Any]:
    """Return the field of a node that is changed, and its new value; nothing for other nodes."""
    new: dict[str, Any] = {}
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        new["ops"] = [OPERATORS[type(node.ops[0])](), *node.ops[1:]]
    elif type(getattr(node, "op", None)) in OPERATORS:
        new["op"] = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        new["operand"] = ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        whole = not node.value if isinstance(node.value, bool) else node.value + 1
        new["value"] = whole if isinstance(node.value, int) else 1.5 * node.value or 1.0
    elif isinstance(getattr(node, "test", None), ast.Name | ast.Attribute):
        new["test"] = ast.UnaryOp(ast.Not(), node.test)
    for field in ("id", "attr"):
        if getattr(node, field, None) in FUNCTIONS:
            new[field] = FUNCTIONS[getattr(node, field)]
    return new


def mutants_of(path: Path) -> Iterator[Mutant]:
    """List all changes of a file."""
    source = path.read_text(encoding="utf-8")
    found, lines = list(changes(ast.parse(source))), source.splitlines()
    times: Counter[str] = Counter()
    for number, (node, field, new) in enumerate(found):
        before, old = shown(node), getattr(node, field)
        setattr(node, field, new)
        where = {"path": str(path.relative_to(ROOT)), "number": number, "line": node.lineno}
        what = {"code": lines[node.lineno - 1].strip(), "change": f"{before} -> {shown(node)}"}
        setattr(node, field, old)
        name = "\t".join([where["path"], *what.values()])
        times[name] += 1  # the same change may be made at several places of a line, or in equal lines
        yield {"key": f"{name}\t{times[name]}", **where, **what}


def drawn(room: str, count: int, seed: int) -> tuple[int, list[Mutant]]:
    """Count all mutants of a room and draw some of them."""
    files = sorted((ROOT / "src/omnitm" / room).rglob("*.py"))
    every = [mutant for path in files if path.name != PICTURES for mutant in mutants_of(path)]

    def lot(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant['key']}".encode()).digest()

    return len(every), sorted(every, key=lot)[:count]


def shown(node: Any) -> str:
    """Show the code of a node, of a statement only its condition."""
    text = f"if {ast.unparse(node.test)}" if isinstance(node, ast.If | ast.While) else ast.unparse(node)
    return " ".join(text.split())[:100]


class Changed(SourceFileLoader):
    """Finds and loads one module, with a change; to be asked before the real finders."""

    def __init__(self, mutant: Mutant) -> None:
        parts = Path(mutant["path"]).with_suffix("").parts[1:]
        super().__init__(".".join(parts).removesuffix(".__init__"), str(ROOT / mutant["path"]))
        self.number = mutant["number"]

    def find_spec(self, name: str, *_: object) -> Any:
        """Find the changed module and no other."""
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> Any:  # noqa: ARG002 - there is one
        """Compile the changed source."""
        tree = ast.parse(Path(self.path).read_text(encoding="utf-8"))
        node, field, new = next(islice(changes(tree), self.number, None))
        setattr(node, field, new)
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


def fixtures_of(path: Path) -> str:
    """Name what the fixtures of a file run."""
    return f"fixtures of {path}"


class Tracer:
    """Notes seconds of each test, and its lines of a room; what fixtures run counts for all of a file."""

    def __init__(self, room: str) -> None:
        self.folder = f"/src/omnitm/{room}/"
        self.seconds: dict[str, float] = {}  # of CPU, traced
        self.lines: dict[str, set[str]] = defaultdict(set)

    def traced(self, name: str, test: str) -> Iterator[None]:
        """Trace what is done under a name."""
        into, began = self.lines[name], time.process_time()

        def trace(frame: Any, *_: object) -> Any:
            path = frame.f_code.co_filename
            is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED  # modules and classes run on import
            if self.folder not in path or not is_function:
                return None
            into.add(f"src/omnitm/{path.split('/src/omnitm/')[1]}:{frame.f_lineno}")
            return trace

        sys.settrace(trace)
        yield
        sys.settrace(None)
        self.seconds[test] = self.seconds.get(test, 0) + time.process_time() - began

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Trace fixtures."""
        yield from self.traced(fixtures_of(item.path), item.nodeid)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Trace a test."""
        yield from self.traced(item.nodeid, item.nodeid)


def in_child(work: Callable[[], int], cpu_seconds: float) -> int:
    """Call a function in a silent copy of this process and return its status, not 0 if it took too long."""
    pid = os.fork()
    if not pid:
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
        signal.alarm(600 + int(10 * cpu_seconds))  # of waiting
        os._exit(work())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def run_tests(arguments: list[str], *plugins: object) -> int:
    """Run tests here."""
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis was imported before
    options = ["-q", "-x", "-p", "no:cacheprovider", *quiet, *arguments]
    return int(pytest.main(options, plugins=list(plugins)))


def traced(room: str) -> tuple[dict[str, float], dict[str, list[str]]]:
    """Run the tests of a room, file by file, and return seconds and lines of each."""
    seconds: dict[str, float] = {}
    lines: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(
            file for part in ROOMS[room] for file in (ROOT / "tests" / part).glob("test_*.py")
        ):
            found = Path(folder) / f"{file.stem}.json"

            def work(file: Path = file, found: Path = found) -> int:
                tracer = Tracer(room)
                status = run_tests([str(file)], tracer)
                by_name = {name: sorted(where) for name, where in tracer.lines.items()}
                found.write_text(json.dumps([tracer.seconds, by_name]), encoding="utf-8")
                return status

            if in_child(work, SECONDS_TO_TRACE):
                sys.exit(f"{file}: fails without any change")
            more_seconds, more_lines = json.loads(found.read_text(encoding="utf-8"))
            seconds.update(more_seconds)
            lines.update(more_lines)
    return seconds, lines


def tests_of(mutant: Mutant, seconds: dict[str, float], lines: dict[str, list[str]]) -> list[str]:
    """Name the tests that run a line, shortest first.

    Of a line that runs on import: all tests of the files in which a test runs any line of its file, because a
    test may look at what was made on import.
    """
    path, line = f"{mutant['path']}:", f"{mutant['path']}:{mutant['line']}"
    runs = {name for name, found in lines.items() if line in found}
    known = [test for test in seconds if test in runs or fixtures_of(ROOT / test.split("::")[0]) in runs]
    if not known:
        near = {name for name, found in lines.items() if any(one.startswith(path) for one in found)}
        files = {name.split("::")[0] for name in near}
        known = [test for test in seconds if test.split("::")[0] in files]
    known += [test for test in seconds if test.endswith(NUMBERS) and test not in known]
    return sorted(known, key=lambda test: seconds[test])


def outcome(mutant: Mutant, tests: list[str], seconds: dict[str, float]) -> str:
    """Run tests on a mutant: killed, also if they take too long; survived; or no test runs its line.

    Then all tests of the same files: what a line has made may be kept, and looked at by a later test.
    """
    if not tests:
        return "not run"
    files = {test.split("::")[0] for test in tests}
    for chosen in (tests, [test for test in seconds if test.split("::")[0] in files]):

        def work(chosen: list[str] = chosen) -> int:
            sys.meta_path.insert(0, Changed(mutant))
            return run_tests(chosen)

        if in_child(work, SECONDS_TO_START + sum(seconds[test] for test in chosen)):
            return "killed"
    return "survived"


def main() -> None:
    """Make mutants of each room, run its tests, and write results beside those of the other rooms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--count", type=int, default=COUNT, help="mutants per room")
    parser.add_argument("--again", action="store_true", help="only those that survived the last run")
    parser.add_argument("--seed", type=int, default=SEED, help="another draw")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
    arguments = parser.parse_args()
    kept = arguments.output / "mutants.json"
    facts = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    preload()
    for room in arguments.rooms:
        of, mutants = drawn(room, arguments.count, arguments.seed)
        before = facts.get(room, {"mutants": []})["mutants"] if arguments.again else []
        killed = {mutant["key"] for mutant in before if mutant["result"] == "killed"}
        seconds, lines = traced(room)
        for mutant in mutants:
            if mutant["key"] in killed:
                mutant["result"] = "killed"
        for mutant in mutants:
            if "result" in mutant:
                continue
            tests = tests_of(mutant, seconds, lines)
            mutant["result"] = outcome(mutant, tests, seconds)
            print(mutant["result"], mutant["path"], mutant["line"], mutant["change"], flush=True)
            done = [mutant for mutant in mutants if "result" in mutant]
            facts[room] = {"seed": arguments.seed, "of": of, "mutants": done}
            kept.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")  # for `--again`
        facts[room] = {"seed": arguments.seed, "of": of, "mutants": mutants}
        excuse(mutants)
    kept.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    kept.with_suffix(".md").write_text(report(facts), encoding="utf-8")


def excuse(mutants: Iterable[Mutant]) -> None:
    """Mark survivors that are known to be equivalent."""
    reasons = dict(line.rsplit("\t", 1) for line in EQUIVALENT.read_text(encoding="utf-8").splitlines())
    for mutant in mutants:
        if mutant["result"] == "survived" and mutant["key"] in reasons:
            mutant.update(result="equivalent", reason=reasons[mutant["key"]])


def preload() -> None:
    """Import what tests import but mutants do not change, once for all of them."""
    for name in ("hypothesis", "matplotlib.figure", "pandas", "rich.table", "scipy.sparse", "scipy.stats",
        "sklearn.cluster", "sklearn.ensemble", "sklearn.manifold", "sklearn.neural_network",
        "omnitm._native"):  # fmt: skip
        importlib.import_module(name)


def report(facts: dict[str, Any]) -> str:
    """Write a table for people, and what survived."""
    lines = [
        "# Mutants",
        "",
        "One comparison, operator, number, flag or function is changed at a time: of all changes of a",
        "room some are drawn, by a seed. A change is killed if a test of its room fails (of",
        "similarity: or of vectors); only tests in files that run the changed line are run. Equivalent",
        "ones, which no test can notice, do not count.",
        f"`{PICTURES}` is left out: how a picture looks is no result. Written by `make mutants`.",
        "",
        "| room | seed | changes | drawn | killed | survived | not run | equivalent | of those that count |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    every = [mutant for part in facts.values() for mutant in part["mutants"]]
    total = {"seed": "", "of": sum(part["of"] for part in facts.values()), "mutants": every}
    for room, part in [*facts.items(), ("all", total)]:
        counts = Counter(mutant["result"] for mutant in part["mutants"])
        found = [counts[name] for name in ("killed", "survived", "not run", "equivalent")]
        cells = [str(part.get("seed", SEED)), f"{part['of']:,}", str(len(part["mutants"])), *map(str, found)]
        lines.append(f"| {room} | {' | '.join(cells)} | {found[0] / max(1, sum(found[:3])):.1%} |")
    for title, result in (("Survived", "survived"), ("Not run", "not run"), ("Equivalent", "equivalent")):
        rows = [mutant for mutant in every if mutant["result"] == result]
        lines += ["", f"## {title}", ""] if rows else []
        for mutant in sorted(rows, key=lambda mutant: (mutant["path"], mutant["line"])):
            reason = f": {mutant['reason']}" if "reason" in mutant else ""
            lines.append(f"- `{mutant['path']}:{mutant['line']}` `{mutant['change']}`{reason}")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
