"""Figures of the source code: files, lines, small files that one other file imports, cycles, comments.

python benchmarks/house.py --list      # figures, and the small files
python benchmarks/house.py --update    # writes them into CONTRIBUTING.md
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import shutil
import subprocess
import tokenize
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SRC = Path(__file__).parents[1] / "src"
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
_PLAIN = {"omnitm.__version__"}  # of the package itself, and no import of anything
_SMALL = 60  # lines; a smaller file with one importer usually belongs into it
_DIRECTIVE = re.compile(r"#\s*(noqa|type:|fmt:|pragma|ruff:)")


def modules(src: Path = SRC) -> dict[str, Path]:
    """Find all modules: dotted name -> file."""
    found = {}
    for path in sorted(src.rglob("*.py")):
        parts = path.relative_to(src).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """List what a file imports of the package, wherever: at the top, in a function, for types only.

    A name that is not a module stands for the module that has it.
    """
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{path}:{node.lineno}: relative import; write the full name")
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else str(node.module) for name in names - _PLAIN}
    return {name for name in found if name.split(".")[0] == "omnitm"}


def graph(known: dict[str, Path]) -> dict[str, set[str]]:
    """Map every module to the modules that it imports; the package's own `__init__` is nobody's neighbour."""
    return {
        name: {target for target in imports(path, known) if target in known and target != "omnitm"}
        for name, path in known.items()
        if name != "omnitm"
    }


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """Find one import cycle, as the modules along it; empty if there is none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def comment_lines(path: Path) -> int:
    """Count lines with a comment that is written for people."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return sum(token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string) for token in tokens)


def kinds_of_lines(path: Path) -> Counter[str]:
    """Count lines that are code, docstrings, imports, or comments and blank."""
    text = path.read_text(encoding="utf-8")
    kinds = [
        "comment or blank" if not line.strip() or line.strip()[0] == "#" else "code"
        for line in text.splitlines()
    ]
    for node in ast.walk(ast.parse(text)):
        kind = ""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            kind = "import"
        elif (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            kind = "docstring"  # also one below an attribute
        if kind and isinstance(node, ast.stmt):
            last = node.end_lineno or node.lineno
            kinds[node.lineno - 1 : last] = [kind] * (last - node.lineno + 1)
    return Counter(kinds)


def figures(src: Path = SRC) -> dict[str, str]:
    """Measure the source code."""
    known = modules(src)
    n_lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in known.items()}
    edges = graph(known)
    importers = Counter(target for targets in edges.values() for target in targets)
    small = [name for name in known if n_lines[name] < _SMALL and importers[name] == 1]
    total, comments = sum(n_lines.values()), sum(comment_lines(path) for path in known.values())
    found = {
        "files": f"{len(known)}",
        "lines of Python in `src`": f"{total:,}",
        f"files under {_SMALL} lines with one importer": f"{len(small)}",
        "lines with a comment": f"{100 * comments / total:.1f} %",
    }
    # A tool of the authors' machines that lists similar places; not needed for anything else.
    if shutil.which("duplicates"):
        command = ["duplicates", "--repo", str(src), "--most", "200", "--seconds", "120"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows = [line for line in said.splitlines() if re.match(r"D\d+ ", line)]
        found["pairs of places with six equal lines"] = f"{sum(' shape' not in row for row in rows)}"
    return found


def update(src: Path = SRC) -> None:
    """Write the figures into the last column of the table in CONTRIBUTING.md, and the sentence below it."""
    write_figures(figures(src))
    lines: Counter[str] = Counter()
    for path in modules(src).values():
        lines += kinds_of_lines(path)
    parts = f"the others are docstrings ({lines['docstring']:,}), imports ({lines['import']:,})"
    sentence = f"Of the lines {lines['code']:,} are code; {parts}, comments and blank."
    text = CONTRIBUTING.read_text(encoding="utf-8")
    text = re.sub(r"^Of the lines .*$", sentence, text, flags=re.MULTILINE)
    CONTRIBUTING.write_text(text, encoding="utf-8")


def write_figures(found: dict[str, str]) -> None:
    """Write figures into the last column of the table in CONTRIBUTING.md, each into the row of its name."""
    text = CONTRIBUTING.read_text(encoding="utf-8")
    for name, value in found.items():
        row = re.compile(rf"^(\| {re.escape(name)} \|.*\|)[^|]*\|$", re.MULTILINE)
        text = row.sub(lambda match, value=value: f"{match[1]} {value} |", text)  # type: ignore[misc]
    CONTRIBUTING.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--src", type=Path, default=SRC)
    parser.add_argument("--list", action="store_true", help="name the small files with one importer")
    parser.add_argument("--update", action="store_true", help="write the figures into CONTRIBUTING.md")
    arguments = parser.parse_args()
    if arguments.update:
        update(arguments.src)
    for name, value in figures(arguments.src).items():
        print(f"{name:60} {value}")
    if arguments.list:
        known = modules(arguments.src)
        edges = graph(known)
        for name, path in known.items():
            users = [user for user, targets in edges.items() if name in targets]
            size = len(path.read_text(encoding="utf-8").splitlines())
            if size < _SMALL and len(users) == 1:
                print(f"  {name} ({size} lines) <- {users[0]}")


if __name__ == "__main__":
    main()
