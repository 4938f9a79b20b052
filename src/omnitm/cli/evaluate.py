"""`omnitm evaluate`: models against data sets and human judgement, in tables."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnitm.cli.options import add_data, add_fields, add_models, add_output_options, option
from omnitm.cli.reports import emit, make_console, working
from omnitm.errors import ParameterError
from omnitm.evaluation.datasets import CATEGORY_SETS, PAIR_SETS, PAPER_SETS, WordPairs, load_pairs, spelling
from omnitm.evaluation.labelled import CLUSTERING_SETS, load_documents
from omnitm.similarity.scorers import SCORERS

if TYPE_CHECKING:
    from omnitm.corpus import DocumentIndex
    from omnitm.vectors import WordVectors

EXAMPLES = {
    "similarity": """\
  omnitm evaluate similarity news-model --data wordsim/ --baseline paper
several models and metrics on the same pairs, as Markdown:
  omnitm evaluate similarity news-model other-model --metric default cosine --format markdown -o table.md
five seeds of a model as one row: mean, and interval over words and seeds
  omnitm evaluate similarity omni=seed-0 omni=seed-1 omni=seed-2 omni=seed-3 omni=seed-4 ppmi-model
pairs of your own, two words and a score per line:
  omnitm evaluate similarity news-model --sets pairs.tsv SimLex-999""",
    "analogies": """\
  omnitm evaluate analogies news-model --data wordsim/
  omnitm evaluate analogies news-model other-model --metric cosine --restrict 20000
questions of your own, four words per line, ': name' before a section:
  omnitm evaluate analogies news-model --questions mine.txt""",
    "categories": """\
  omnitm evaluate categories news-model --data data/
several models, each read its own way:
  omnitm evaluate categories news-model other-model --metric similarity other-model=cosine
categories of your own, a category and a word per line with a tab between:
  omnitm evaluate categories news-model --sets animals.tsv""",
    "classification": """\
  omnitm evaluate classification news-model --data data/ --baseline paper
a quick look, with some of the classifiers:
  omnitm evaluate classification news-model --data data/ --limit 2000 --classifiers LR NB TM
documents of your own, with the fields text, label (two of them) and split (train, test):
  omnitm evaluate classification news-model --set reviews.csv --keep figures/""",
    "clustering": """\
  omnitm evaluate clustering news-model --data data/ --baseline paper
several models, weightings and some of the sets:
  omnitm evaluate clustering news-model other-model --weighting mean idf --sets 20news agnews --seeds 5
documents of your own, a CSV, TSV or JSON Lines file with a text and a label per row:
  omnitm evaluate clustering news-model --sets tickets.csv --text-field body --label-field team""",
    "change": """\
  omnitm evaluate change --data semeval2020_ulscd_eng
the folder has the form of SemEval-2020 Task 1:
  corpus1/lemma/*.txt.gz  corpus2/lemma/*.txt.gz  targets.txt  truth/binary.txt  truth/graded.txt""",
    "ablation": """\
  omnitm evaluate ablation news-index -o ablation --data wordsim/ --quick
stopped? the same command goes on with the configurations that are missing;
only some factors, on words of your own:
  omnitm evaluate ablation news-index -o ablation --only n_clauses read-out --words words.txt""",
}


def fill_similarity(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm evaluate similarity`."""
    add_models(parser, "; several folders of one NAME are seeds of one model")
    option(
        parser,
        "--sets SET...",
        f"published sets ({'; '.join(PAIR_SETS)}) or files of pairs (default: the paper's five)",
        default=list(PAPER_SETS),
    )
    option(
        parser,
        "--metric",
        "how words are compared; 'default': as the model does, 'all': by every metric that it has",
        dest="metrics",
        nargs="+",
        choices=("default", "all", *SCORERS),
        default=["default"],
    )
    option(parser, "--baseline", "add the rows of the paper's Table 1", choices=("paper",))
    add_data(parser, download=True)
    option(parser, "--index INDEX", "index of the corpus, to add results by word frequency")
    option(parser, "--reduce N...", "add rows for vectors reduced to N dimensions")
    option(parser, "--sparsify K...", "add rows for vectors of K coordinates per word")
    bootstrap = parser.add_argument_group("confidence intervals")
    option(bootstrap, "--resamples N", "bootstrap resamples", default=1000)
    option(bootstrap, "--seed N", "seed of the resamples", default=0)
    add_output_options(parser)


def run_similarity(arguments: argparse.Namespace) -> None:
    """Score all models and print one table."""
    from omnitm.evaluation.similarity import evaluate_similarity
    from omnitm.paper.published import published_rows

    models = with_compact_forms(open_trainings(arguments.models), arguments.reduce, arguments.sparsify)
    metrics = [*SCORERS] if "all" in arguments.metrics else arguments.metrics
    with working(arguments, "reading") as status:
        report = evaluate_similarity(
            models,
            arguments.sets,
            metrics=metrics,
            data=arguments.data,
            frequencies=word_frequencies(arguments),
            n_resamples=arguments.resamples,
            seed=arguments.seed,
            download=arguments.download,
            on_row=lambda text: status.update(f"scoring {text}"),
        )
    if arguments.baseline:
        report = replace(report, rows=(*published_rows(), *report.rows))
    emit(arguments, report)


def open_models(sources: list[str]) -> dict[str, WordVectors]:
    """Open models by folder, each under the name given before `=` or that of its folder."""
    models = open_trainings(sources)
    for name, trainings in models.items():
        if len(trainings) > 1:
            raise ParameterError(f"Two models are called {name!r}; give them names: NAME=FOLDER")
    return {name: trainings[0] for name, trainings in models.items()}


def open_trainings(sources: list[str]) -> dict[str, list[WordVectors]]:
    """Open models by folder; folders that are given the same name are trainings of one model."""
    from omnitm.vectors import WordVectors

    models: dict[str, list[WordVectors]] = {}
    for source in sources:
        name, given, folder = source.partition("=")
        if not given or Path(source).exists():
            name, folder = Path(source).resolve().name, source
            if name in models:
                raise ParameterError(f"Two models are called {name!r}; give them names: NAME={source}")
        models.setdefault(name, []).append(WordVectors.load(folder))
    return models


def with_compact_forms(
    models: Mapping[str, list[WordVectors]], sizes: list[int] | None, counts: list[int] | None
) -> dict[str, list[Any]]:
    """Add reduced and sparse forms of every training of a model with named features."""
    every: dict[str, list[Any]] = dict(models)
    for name, trainings in models.items():
        if trainings[0].has_named_features:
            for size in sizes or ():
                every[f"{name}, {size} dimensions"] = [one.reduce(size) for one in trainings]
            for count in counts or ():
                every[f"{name}, {count} coordinates"] = [one.sparsify(count) for one in trainings]
    return every


def word_frequencies(arguments: argparse.Namespace) -> dict[str, int] | None:
    """Read document frequencies from the index given, or from one inside a model's folder."""
    from omnitm.corpus import DocumentIndex
    from omnitm.files.kinds import kind_of

    inside = (Path(source.rpartition("=")[2]) / "index" for source in arguments.models)
    path = arguments.index or next((folder for folder in inside if kind_of(folder) == "index"), None)
    if path is None:
        return None
    index = DocumentIndex.open(path)
    return dict(zip(index.vocabulary, index.document_frequencies.tolist(), strict=True))


def fill_analogies(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm evaluate analogies`."""
    add_models(parser)
    option(parser, "--questions SET", "file of questions (default: Google's)", default="Google analogies")
    option(parser, "--metric", "how words are compared (default: the model's own)", choices=tuple(SCORERS))
    option(parser, "--restrict N", "look for answers among the first N words of each model only")
    add_data(parser, "sets", download=True)
    add_output_options(parser)


def run_analogies(arguments: argparse.Namespace) -> None:
    """Answer the questions with every model."""
    from omnitm.evaluation.analogies import AnalogyComparison, evaluate_analogies, load_questions

    questions = load_questions(arguments.questions, arguments.data, download=arguments.download)
    with working(arguments, "reading") as status:
        reports = [
            evaluate_analogies(
                vectors,
                questions,
                name=name,
                metric=arguments.metric,
                restrict_vocab=arguments.restrict,
                on_section=status.update,
            )
            for name, vectors in open_models(arguments.models).items()
        ]
    emit(arguments, AnalogyComparison(tuple(reports)))


def fill_categories(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm evaluate categories`."""
    add_models(parser)
    option(
        parser,
        "--sets SET...",
        f"published sets ({', '.join(CATEGORY_SETS)}) or files (default: all of these)",
        default=list(CATEGORY_SETS),
    )
    option(
        parser,
        "--metric METRIC...",
        "how words are compared, for all models or NAME=METRIC (default: each model's own)",
        default=[],
    )
    option(parser, "--words N", "use at most N words of a set, the same for all models; 0: all", default=1000)
    add_data(parser)
    option(parser, "--resamples N", "bootstrap resamples for intervals", default=1000)
    add_output_options(parser)


def run_categories(arguments: argparse.Namespace) -> None:
    """Measure all models on all sets and print a table per set."""
    from omnitm.evaluation.categories import evaluate_categories

    models = open_models(arguments.models)
    metrics = metrics_by_model(arguments.metric, list(models))
    with working(arguments, "reading") as status:
        report = evaluate_categories(
            models,
            arguments.sets,
            metrics=metrics,
            most_words=arguments.words or None,
            n_resamples=arguments.resamples,
            data=arguments.data,
            on_row=status.update,
        )
    emit(arguments, report)


def metrics_by_model(given: Sequence[str], models: Sequence[str]) -> dict[str, str]:
    """Read METRIC for all models and NAME=METRIC for one, which goes before."""
    found: dict[str, str] = {}
    for text in given:
        name, named, metric = text.rpartition("=")
        if named and name not in models:
            raise ParameterError(f"--metric {text}: there is no model {name!r}, only {', '.join(models)}.")
        found |= {name: metric} if named else {model: text for model in models if model not in found}
    return found


def fill_classification(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm evaluate classification`."""
    from omnitm.evaluation.classification import CLASSIFIERS, READINGS

    add_models(parser)
    option(parser, "--set SET", "documents to classify: IMDb, or a file", default="IMDb")
    add_data(parser, "documents/")
    add_fields(parser)
    option(
        parser,
        "--classifiers",
        "which classifiers to train (default: all)",
        nargs="+",
        choices=CLASSIFIERS,
        default=list(CLASSIFIERS),
    )
    option(
        parser,
        "--reading",
        "what a word of a negative document becomes: one of the least similar of its 400 most similar "
        "words (text, the default), or of all words (notebook)",
        choices=READINGS,
        default="text",
    )
    option(parser, "--share X", "share of words to replace", default=0.05)
    option(parser, "--draws N", "repeat so often with other words, and take means", default=1)
    option(parser, "--metric", "how words are compared (default: the model's own)", choices=SCORERS)
    option(parser, "--reduce N...", "add rows for vectors reduced to N dimensions")
    option(parser, "--limit N", "use only N documents to train and N to test, drawn at random")
    option(parser, "--keep DIR", "keep figures in this folder, so that a stopped run goes on")
    option(parser, "--threads N", "number of threads of RF and TM", default=1)
    option(parser, "--baseline", "add the rows of the paper's Table 2", choices=("paper",))
    add_output_options(parser)


def run_classification(arguments: argparse.Namespace) -> None:
    """Measure all sources and print the table."""
    from omnitm.evaluation.classification import Perturbation, evaluate_classification
    from omnitm.paper.published import published_classification

    perturbation = Perturbation(share=arguments.share, reading=arguments.reading)
    opened = {name: [vectors] for name, vectors in open_models(arguments.models).items()}
    models = {name: found[0] for name, found in with_compact_forms(opened, arguments.reduce, None).items()}
    with working(arguments, "reading documents") as status:
        documents = load_documents(
            arguments.set, arguments.data, text_field=arguments.text_field, label_field=arguments.label_field
        )
        report = evaluate_classification(
            models,
            documents,
            classifiers=arguments.classifiers,
            perturbation=perturbation,
            n_draws=arguments.draws,
            metric=arguments.metric,
            limit=arguments.limit,
            folder=arguments.keep,
            n_jobs=arguments.threads,
            on_step=status.update,
        )
    if arguments.baseline:
        report = replace(report, rows=(*published_classification(arguments.classifiers), *report.rows))
    emit(arguments, report)


def fill_clustering(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm evaluate clustering`."""
    from omnitm.evaluation.clustering import WEIGHTINGS

    add_models(parser)
    sets = f"{', '.join(CLUSTERING_SETS)}, or files (default: all)"
    option(parser, "--sets SET...", sets, default=list(CLUSTERING_SETS))
    add_data(parser, "documents/")
    add_fields(parser)
    option(parser, "--limit N", "use at most N documents of each set, drawn at random")
    option(
        parser,
        "--weighting",
        "how much a word counts: alike (mean), by the length of its vector (length, the default), or "
        "more if it is rare in the set (idf); raw: the mean of vectors as they are, as in the paper",
        dest="weightings",
        nargs="+",
        choices=WEIGHTINGS,
        default=["length"],
    )
    option(parser, "--seeds N", "runs of K-means per figure", default=3)
    option(parser, "--components N", "numbers per document vector, at most", default=300)
    option(
        parser,
        "--axes N",
        "main axes of a set's documents to cluster (default: 30; 0: the vectors themselves)",
        default=30,
    )
    option(parser, "--baseline", "add the rows of the paper's Table 3", choices=("paper",))
    add_output_options(parser)


def run_clustering(arguments: argparse.Namespace) -> None:
    """Cluster all sets with all models and print the tables."""
    from omnitm.evaluation.clustering import evaluate_clustering
    from omnitm.paper.published import published_clusterings

    if arguments.seeds < 1:
        raise ParameterError(f"--seeds must be at least 1. Got {arguments.seeds} instead.")
    fields = {"text_field": arguments.text_field, "label_field": arguments.label_field}
    with working(arguments, "reading documents") as status:
        report = evaluate_clustering(
            open_models(arguments.models),
            [load_documents(source, arguments.data, **fields) for source in arguments.sets],
            weightings=arguments.weightings,
            seeds=range(arguments.seeds),
            n_components=arguments.components,
            n_axes=arguments.axes or None,
            limit=arguments.limit,
            on_row=status.update,
        )
    if arguments.baseline:
        report = replace(report, rows=(*published_clusterings(), *report.rows))
    emit(arguments, report)


def fill_change(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm evaluate change`."""
    option(parser, "--data DIR", "folder of the task, in the form below", required=True)
    option(parser, "--permutations N", "how often the groups are shuffled to tell chance", default=2000)
    option(parser, "--seed N", "seed of all random draws", default=0)
    option(parser, "--threads N", "number of threads (default: one per core)")
    add_output_options(parser)


def run_change(arguments: argparse.Namespace) -> None:
    """Compare the words of the task, and print how well that agrees with people."""
    from omnitm.evaluation.change import ChangeTask, evaluate_change

    report = evaluate_change(
        ChangeTask.read(arguments.data),
        n_permutations=arguments.permutations,
        seed=arguments.seed,
        n_threads=arguments.threads,
        progress=not arguments.quiet,
    )
    emit(arguments, report)


_QUICK_WORDS = 300


def fill_ablation(parser: argparse.ArgumentParser) -> None:
    """Add the options of `omnitm evaluate ablation`."""
    option(parser, "INDEX", "index of a corpus, made by `omnitm index`")
    option(parser, "-o --output DIR", "folder for results", required=True)
    option(parser, "--words FILE", "words to train, one per line (default: all words of the sets)")
    option(parser, "--sets SET...", "sets of pairs (default: the paper's five)", default=list(PAPER_SETS))
    add_data(parser, download=True)
    option(
        parser,
        "--only FACTOR...",
        "change only these settings, or 'read-out' (how vectors are made of states)",
    )
    option(parser, "--quick", f"try fewer values, with at most {_QUICK_WORDS} words")
    option(parser, "--no-plot", "draw no plot, which needs matplotlib")
    option(parser, "--threads N", "number of threads (default: one per core)")
    option(parser, "--quiet", "no progress, no table")


def run_ablation(arguments: argparse.Namespace) -> None:
    """Measure what is missing, then write table and plot."""
    from omnitm.corpus import DocumentIndex
    from omnitm.engines import ThreadsEngine
    from omnitm.evaluation.ablation import READ_OUT, Ablation, ablation_table, check_factors, plot_ablation
    from omnitm.evaluation.word_maps import figure_class
    from omnitm.files.kinds import refuse_to_replace

    refuse_to_replace(arguments.output, "folder")
    if not arguments.no_plot:
        figure_class()
    factors = check_factors(arguments.only, quick=arguments.quick)
    index = DocumentIndex.open(arguments.index)
    pairs = [load_pairs(source, arguments.data, download=arguments.download) for source in arguments.sets]
    words = _words_to_train(arguments, index, pairs)
    ablation = Ablation(
        index,
        words,
        tuple(pairs),
        arguments.output / "configurations",
        n_jobs=ThreadsEngine(arguments.threads).n_jobs,
    )
    with working(arguments, "reading") as status:
        results = ablation.run(
            factors,
            read_outs=arguments.only is None or READ_OUT in arguments.only,
            on_configuration=lambda text: status.update(f"{text} ({len(words):,} words)"),
        )
    table = ablation_table(results)
    (arguments.output / "ablation.md").write_text(table.to_markdown(), encoding="utf-8")
    content = {
        "version": 1,
        "kind": "omnitm ablation",
        "words": len(words),
        "results": [*map(asdict, results)],
    }
    (arguments.output / "ablation.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    if not arguments.no_plot:
        plot_ablation(results, arguments.output / "ablation.png")
    if not arguments.quiet:
        table.show(make_console())


def _words_to_train(
    arguments: argparse.Namespace, index: DocumentIndex, pairs: Sequence[WordPairs]
) -> tuple[str, ...]:
    from omnitm.cli.train import read_targets

    if arguments.words is not None:
        return tuple(read_targets(arguments.words))
    known = set(index.vocabulary)
    forms = (spelling(word, known.__contains__) for part in pairs for word in part.first + part.second)
    words = sorted({form for form in forms if form is not None}, key=index.word_id)
    if not words:
        raise ParameterError("No word of the pairs is in the index; give --words, or other --sets.")
    if arguments.quick and len(words) > _QUICK_WORDS:
        words = words[:_QUICK_WORDS]  # the most frequent ones, so that many pairs are whole
    return tuple(words)
