"""`omnitm similar`: the neighbours of words."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from omnitm.cli.options import option
from omnitm.cli.reports import make_console, make_table, print_json
from omnitm.errors import ParameterError, UnknownWordError

if TYPE_CHECKING:
    from omnitm.explain.infer import InferredWord
    from omnitm.similarity.scorers import Scorer
    from omnitm.vectors import WordVectors

Neighbours = list[tuple[str, float]]

EXAMPLE = """\
  omnitm similar news-model road car
  omnitm similar news-model road -n 20 --metric cosine --json
one list for several words together, away from others:
  omnitm similar news-model king woman --together --minus man"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "MODEL", "folder of a trained model, or a packed model")
    option(parser, "WORD...", "words to look up", dest="words")
    option(
        parser,
        "-n N",
        "number of neighbours; in lists, scores of rare words are lowered (`omnitm why` has those of pairs)",
        dest="count",
        default=10,
    )
    option(
        parser,
        "--metric METRIC",
        "what similar means. related: words that share topics; alike: words that can stand in its place; "
        "similarity: both (default from 100 trained words on); association: words that occur with it "
        "(default below); cosine: words with similar vectors (default where coordinates are not words)",
    )
    option(parser, "--forms", "list all forms of a word (king, kings) instead of one; analogies always do")
    option(parser, "--together", "make one list for all words together")
    option(parser, "--minus WORD...", "with --together: look away from these words")
    option(parser, "--sense K", "neighbours of the K-th sense of the word (see `omnitm senses`)")
    option(
        parser,
        "--index INDEX",
        "index that the model was trained from, if it was moved; words that were not trained need it",
    )
    option(
        parser,
        "--sentence TEXT...",
        "sentences with a word that the model's text does not have, to learn it from",
        default=[],
    )
    option(parser, "--letters", "guess an unknown word from words that are spelled alike")
    option(parser, "--json", "print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Look the words up and print their neighbours."""
    from omnitm.vectors import WordVectors

    _check_options(arguments)
    vectors = WordVectors.load(arguments.model)
    scorer = vectors.scorer(arguments.metric)
    queries: list[tuple[list[str], list[str]]]
    inferred: dict[str, InferredWord] = {}
    if arguments.together:
        queries = [(_known_words(vectors, arguments.words), _known_words(vectors, arguments.minus or ()))]
    else:
        if hasattr(scorer, "percentiles"):
            inferred = _inferred(vectors, arguments)
        if arguments.sentence and scorer.name not in {"similarity", "related"}:
            raise ParameterError(f"--sentence needs --metric similarity or related, not {scorer.name}.")
        find = partial(_known_word, vectors, can_infer=hasattr(scorer, "percentiles"))
        queries = [([w if w in inferred else find(w)], []) for w in arguments.words]
    found = {}
    for plus, minus in queries:
        name = " ".join([*plus, *(f"-{word}" for word in minus)])
        options = {"topn": arguments.count, "metric": arguments.metric, "forms": arguments.forms or None}
        asked: list[Any] = list(plus)
        left_out: set[str] = set()  # a sense is near to the word itself
        if arguments.sense is not None:
            from omnitm.explain import Explainer

            explainer = Explainer.open(arguments.model, arguments.index)
            asked = [explainer.sense_vector(plus[0], arguments.sense)]
            left_out = {plus[0], *(() if arguments.forms else vectors.forms(plus[0]))}
            options["topn"] += len(left_out)
        if name in inferred and arguments.sense is None:
            found[name] = inferred[name].most_similar(vectors, **options)
        else:
            nearest = cast("Neighbours", vectors.most_similar(asked, minus, **options))
            found[name] = [pair for pair in nearest if pair[0] not in left_out][: arguments.count]
    if arguments.json:
        rows: dict[str, Any] = {
            name: [{"word": word, "score": score} for word, score in pairs] for name, pairs in found.items()
        }
        if inferred:
            rows["not trained"] = {word: known.how for word, known in inferred.items()}
        print_json(rows)
        return
    notes = {}
    if (
        not (arguments.forms or arguments.together)
        and vectors.has_profiles
        and hasattr(scorer, "percentiles")
    ):
        known = [word for (word,), _ in queries if word not in inferred]
        notes = {word: _forms_note(forms) for word in known if (forms := vectors.forms(word))}
    notes |= {word: f": not in the model; {known.how}" for word, known in inferred.items()}
    print_neighbours(found, scorer, vectors, notes, of_pairs=not arguments.minus)


def _forms_note(forms: Sequence[str]) -> str:
    """Say which forms of a word are not listed, as they count with it.

    >>> _forms_note(["kings"]), _forms_note(["kings", "kingship"])
    (', 1 form: kings', ', 2 forms: kings, kingship')
    """
    return f", {len(forms)} form{'s' * (len(forms) > 1)}: {', '.join(forms)}"


def _check_options(arguments: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if arguments.minus and not arguments.together:
        raise ParameterError("--minus needs --together.")
    for name, value in (("--sense", arguments.sense), ("--sentence", arguments.sentence or None)):
        if value is not None and (len(arguments.words) != 1 or arguments.together):
            raise ParameterError(f"{name} needs one word, without --together.")


def _inferred(vectors: WordVectors, arguments: argparse.Namespace) -> dict[str, InferredWord]:
    """Train or compose the words that the model does not have; what cannot be is left to the error."""
    words, sentences = arguments.words, arguments.sentence
    unknown = [w for w in words if w not in vectors and not vectors.preparation.known_word(w, vectors)]
    if not unknown:
        if sentences:
            raise ParameterError(
                f"The model has {words[0]!r}; --sentence is for words that it does not have."
            )
        return {}
    from omnitm.explain.infer import infer_word

    found = {}
    for word in unknown:
        with contextlib.suppress(UnknownWordError):
            found[word] = infer_word(
                vectors, word, arguments.index, sentences=sentences, from_letters=arguments.letters
            )
    return found


def _known_word(vectors: WordVectors, word: str, *, can_infer: bool) -> str:
    """Return the word that is meant; if it is none of the text, say how it can be found all the same."""
    try:
        return vectors.known_word(word)
    except UnknownWordError as error:
        if not can_infer or vectors.preparation.why_no_word(word):
            raise
        ways = "--sentence TEXT learns it from a sentence with it, --letters guesses it from its spelling"
        raise UnknownWordError(word, (), reason=f"{error}; {ways}") from None


def _known_words(vectors: WordVectors, typed: Iterable[str]) -> list[str]:
    """Return the words that are meant; what is several words, such as "New York", counts as all of them."""
    found = []
    for text in typed:
        is_known = text in vectors or vectors.preparation.is_incomplete
        several = [] if is_known else vectors.preparation.words(text)
        found += [vectors.known_word(word) for word in (several if len(several) > 1 else [text])]
    return found


def print_neighbours(
    found: dict[str, Neighbours],
    scorer: Scorer,
    vectors: WordVectors,
    notes: dict[str, str],
    *,
    of_pairs: bool = True,
) -> None:
    """Print a table per query: scores and, if they are of pairs, how many random pairs are less near."""
    import numpy as np
    from rich.text import Text

    from omnitm.similarity.combined import Combined

    console = make_console()
    # Products of shares are below 1.
    digits = scorer.digits if of_pairs or not isinstance(scorer, Combined) else 3
    for name, pairs in found.items():
        numbers = [scorer.name]
        nearer: list[list[str]] = [[]] * len(pairs)
        if isinstance(scorer, Combined) and of_pairs:
            numbers.append("nearer than")
            shares = scorer.percentiles(vectors, np.asarray([score for _, score in pairs])).tolist()
            nearer = [[f"{share:.2f} %" if share < 99.995 else "> 99.99 %"] for share in shares]
        console.print(Text.assemble((name, "bold"), (notes.get(name, ""), "dim")), soft_wrap=True)
        table = make_table("", "word", *numbers, numbers=numbers)
        for (word, score), share in zip(pairs, nearer, strict=True):
            table.add_row(word, f"{score:.{digits}f}", *share)
        console.print(table)
