"""CPU seconds that a newcomer waits for: compiling the native code, and the first answers of commands.

python benchmarks/costs.py --model omnitm-demo/model     # the model that `omnitm demo` makes
python benchmarks/costs.py --model omnitm-demo/model --update    # writes them into CONTRIBUTING.md

Commands are run several times and the smallest figure counts: user and system time of the whole process.
Other work on the machine makes all of them larger, `import numpy` too. "--version" is what it costs beyond
Python itself.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from house import write_figures

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "costs.json"
COMPILE = "CPU seconds to compile the native code"
NUMPY = "CPU seconds of Python and `import numpy`, to compare with"
VERSION, SIMILAR = "CPU seconds of `omnitm --version`", "CPU seconds of `omnitm similar`, small model"


def cpu_seconds(command: list[str], folder: Path = ROOT) -> float:
    """Run a command; return user and system time of it and of all that it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compile_seconds() -> float:
    """Configure and compile as `make demo` does, in a new folder."""
    with tempfile.TemporaryDirectory(prefix="omnitm-compile-") as folder:
        options = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}"]
        configured = cpu_seconds(["cmake", "-S", str(ROOT), "-B", folder, *options])
        return configured + cpu_seconds(["cmake", "--build", folder, "--target", "_native"])


def smallest(command: list[str], runs: int) -> float:
    return min(cpu_seconds(command) for _ in range(runs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="a small model, as `omnitm demo` makes it")
    parser.add_argument("--word", default="server")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--no-compile", action="store_true", help="keep the last figure of compiling")
    parser.add_argument("--update", action="store_true", help="write the figures into CONTRIBUTING.md")
    arguments = parser.parse_args()
    omnitm = [sys.executable, "-m", "omnitm.cli"]
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not arguments.no_compile:
        found[COMPILE] = round(compile_seconds(), 1)
    python = smallest([sys.executable, "-c", "pass"], arguments.runs)
    found[NUMPY] = round(smallest([sys.executable, "-c", "import numpy"], arguments.runs), 3)
    found[VERSION] = round(smallest([*omnitm, "--version"], arguments.runs) - python, 3)
    similar = [*omnitm, "similar", str(arguments.model.resolve()), arguments.word]
    found[SIMILAR] = round(smallest(similar, arguments.runs), 3)
    for name, seconds in found.items():
        print(f"{name:60} {seconds}")
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    if arguments.update:
        write_figures({name: f"{seconds:g}" for name, seconds in found.items()})


if __name__ == "__main__":
    main()
