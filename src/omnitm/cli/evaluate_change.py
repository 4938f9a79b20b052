"""`omnitm evaluate change`: words whose use changed between two corpora, against what people said."""

from __future__ import annotations

import argparse

from omnitm.cli.options import add_output_options, option
from omnitm.cli.reports import emit

EXAMPLE = """\
  omnitm evaluate change --data semeval2020_ulscd_eng
the folder has the form of SemEval-2020 Task 1:
  corpus1/lemma/*.txt.gz  corpus2/lemma/*.txt.gz  targets.txt  truth/binary.txt  truth/graded.txt"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "--data DIR", "folder of the task", required=True)
    option(parser, "--permutations N", "shuffled groups per word", default=2000)
    option(parser, "--seed N", "of all draws", default=0)
    option(parser, "--threads N", "threads to compare in (default: one per core)")
    add_output_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare the words of the task, and print how well that agrees with people."""
    from omnitm.evaluation.change import ChangeTask, evaluate_change

    task = ChangeTask.read(arguments.data)
    report = evaluate_change(
        task,
        n_permutations=arguments.permutations,
        seed=arguments.seed,
        n_threads=arguments.threads,
        progress=not arguments.quiet,
    )
    emit(arguments, report)
    return 0
