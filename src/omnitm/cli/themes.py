"""`omnitm themes`: what a model's words are about, as a few themes; of a word, or of a text."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from omnitm.cli.options import option
from omnitm.cli.reports import Bar, make_console, make_table, percent, print_json
from omnitm.errors import ParameterError

if TYPE_CHECKING:
    from omnitm.vectors.themes import Themes

EXAMPLE = """\
  omnitm themes news-model -k 200
  omnitm themes news-model --word bank
  omnitm themes news-model --text "The train was late at the station." --json
themes are found once and kept beside the model, in news-model/themes-200.bin"""
_WIDEST_BAR = 30
_NAMED = 5


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    option(parser, "MODEL", "folder of a trained model, or a packed model")
    option(parser, "-k N", "number of themes (default: 200, or a tenth of the words if that is less)")
    option(parser, "-n N", "number of themes to show (default: all; ten of a word or text)", dest="count")
    shown = parser.add_mutually_exclusive_group()
    option(shown, "--word WORD", "show the themes of this word")
    option(shown, "--text TEXT", "show the themes of this text")
    option(parser, "--json", "print JSON")
    option(parser, "--quiet", "no progress on standard error")


def run(arguments: argparse.Namespace) -> None:
    """Find or read the themes, and show what is asked for."""
    from omnitm.vectors import WordVectors

    if arguments.count is not None and arguments.count < 1:
        raise ParameterError(f"-n must be at least 1. Got {arguments.count} instead.")
    vectors = WordVectors.load(arguments.model)
    with Bar(quiet=arguments.quiet) as bar:
        themes = vectors.themes(arguments.k, progress=bar)
    count = arguments.count or 10
    if arguments.word is not None:
        word = vectors.known_word(arguments.word)
        _show_shares(arguments, themes, word, themes.of_word(word, count))
    elif arguments.text is not None:
        found = themes.of_text(arguments.text, count)
        if not found:
            raise ParameterError("--text has no word that the model knows.")
        _show_shares(arguments, themes, "text", found)
    else:
        _show_all(arguments, themes, arguments.count or len(themes))


def _show_all(arguments: argparse.Namespace, themes: Themes, count: int) -> None:
    shown = range(min(count, len(themes)))
    if arguments.json:
        print_json({"themes": [_described(themes, theme, float(themes.shares[theme])) for theme in shown]})
        return
    table = make_table(f"{len(themes)} themes", "theme", "best words", "share", numbers=("theme", "share"))
    for theme in shown:
        table.add_row(str(theme + 1), _best_words(themes, theme), percent(themes.shares[theme]))
    make_console().print(table)


def _show_shares(
    arguments: argparse.Namespace, themes: Themes, name: str, found: list[tuple[int, float]]
) -> None:
    if arguments.json:
        key = "word" if arguments.word is not None else "text"
        given = name if key == "word" else arguments.text
        print_json({key: given, "themes": [_described(themes, theme, share) for theme, share in found]})
        return
    table = make_table(name, "theme", "best words", "share", "", numbers=("theme", "share"))
    for theme, share in found:
        bar = "█" * max(1, round(share / found[0][1] * _WIDEST_BAR))
        table.add_row(str(theme + 1), _best_words(themes, theme), percent(share), bar)
    make_console().print(table)


def _best_words(themes: Themes, theme: int) -> str:
    return ", ".join(word for word, _ in themes.best_words(theme, _NAMED))


def _described(themes: Themes, theme: int, share: float) -> dict[str, Any]:
    words, features = themes.words(theme, 10), themes.features(theme, 10)
    return {
        "theme": theme + 1,  # as the page counts
        "name": themes.name(theme),
        "share": share,
        "words": [{"word": word, "weight": weight} for word, weight in words],
        "features": [{"feature": feature, "weight": weight} for feature, weight in features],
    }
