"""How text becomes words: every step an option, recorded so that later text goes the same way."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any

from omnitm._native import CharacterRules
from omnitm.corpus import characters
from omnitm.errors import CorpusError, ParameterError
from omnitm.parameters import check_choice, check_flag

# Articles and determiners, pronouns, auxiliaries, contractions, prepositions, conjunctions and adverbs, from
# grammar, to cover the function words of NLTK's English list, which the paper uses. Contractions lose their
# apostrophe with the punctuation (don't is dont), so those that spell another word (we'll, she'd, I'll) are
# left out.
_FUNCTION_WORDS = """
    a an the this that these those each any all both few more most other some such own same no
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her
    hers herself it its itself they them their theirs themselves who whom which what
    am is are was were be been being have has had having do does did doing can will should
    ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
    needn't shan't shouldn't wasn't weren't won't wouldn't i'm i've you're you've you'll you'd he's
    she's it's it'll we're we've they're they've they'll they'd that's that'll should've s t d m o y ll
    re ve ma ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn
    weren won wouldn
    of at by for with about against between into through during before after above below to from up down
    in out on off over under
    and but if or because as until while than nor again further then once here there when where why how
    not only so too very just now
"""
ENGLISH = tuple(sorted(set(_FUNCTION_WORDS.split())))

# Of punctuation that splits: full stops between single letters vanish, and hyphens between letters stay.
_ABBREVIATING = re.compile(r"(?<![A-Za-z][A-Za-z])(?<=[A-Za-z])\.(?=[A-Za-z](?![A-Za-z]))")
COMMA_TOKEN, GAP_TOKEN = "\0,", "\0;"
"""What stands between words; no word has a NUL."""
_HYPHEN = re.compile(f"[{characters.HYPHENS}]")
LONGEST_WORD = 65535  # bytes of UTF-8, as in native/text.hpp
TREATMENTS = ("delete", "space", "keep")
PUNCTUATION_TREATMENTS = ("split", *TREATMENTS)
DIGIT_TREATMENTS = ("drop", *TREATMENTS)
POSSESSIVES = ("split", "join")
CHARACTER_SETS = ("unicode", "ascii")
NORMALIZATIONS = ("NFC", "NFD", "NFKC", "NFKD")


@dataclass(frozen=True)
class Preparation:
    r"""Steps from text to words; `Preparation.paper()` are the paper's.

    In this order: Unicode normalisation, lower-casing, then either the token pattern or the tokeniser or
    (default) splitting at punctuation and white space and deleting digits; then stop words are left out.

    Parameters
    ----------
    lowercase
        Lower-case as `str.lower` does, in every script.
    punctuation
        "split": it ends a word, but hyphens between letters stay (`well-known`), and apostrophes and full
        stops between single letters vanish (`don't` becomes `dont`, `U.S.` `us`); "delete" all of it, as the
        paper does (`good.It` becomes `goodit`), turn all of it into "space", or "keep" it.
    digits
        "drop": words that begin with a digit are left out (`19th`, `1990s`), and the digits of others are
        deleted (`mp3` becomes `mp`); "delete" all digits (`19th` becomes `th`), turn them into "space", or
        "keep" them.
    possessives
        "split": `germany's` becomes `germany` and `'s`, which is a stop word of English; "join": `germanys`.
        About apostrophes, ' and \u2019, that `punctuation` deletes.
    character_set
        What counts as such: "unicode" (`string.punctuation` and all categories P*; `str.isdigit`) or "ascii".
    normalization
        None, or a Unicode form: "NFC", "NFD", "NFKC", "NFKD".
    stop_words
        "english", None, or words of your own (prepared like text).
    token_pattern
        Regular expression whose matches are the words, in place of the rules for punctuation, digits and
        white space.
    tokenizer
        Function from text to a list of words, in place of the same rules.

    Examples
    --------
    >>> Preparation().words("Germany's Ångström isn't 0.1 nm, it's 1e-10 m!")
    ['germany', 'ångström', 'nm']
    >>> Preparation.paper().words("Germany's Ångström isn't 0.1 nm, it's 1e-10 m!")
    ['germanys', 'ångström', 'nm', 'e']
    >>> Preparation(stop_words=None, token_pattern=r"\w+-\w+|\w+").words("A well-known word")
    ['a', 'well-known', 'word']
    """

    lowercase: bool = True
    punctuation: str = "split"
    digits: str = "drop"
    possessives: str = "split"
    character_set: str = "unicode"
    normalization: str | None = None
    stop_words: str | Sequence[str] | None = "english"
    token_pattern: str | None = None
    tokenizer: Callable[[str], Iterable[str]] | None = None

    def __post_init__(self) -> None:
        check_flag("Preparation", "lowercase", self.lowercase)
        check_choice("Preparation", "punctuation", self.punctuation, PUNCTUATION_TREATMENTS)
        check_choice("Preparation", "digits", self.digits, DIGIT_TREATMENTS)
        check_choice("Preparation", "possessives", self.possessives, POSSESSIVES)
        check_choice("Preparation", "character_set", self.character_set, CHARACTER_SETS)
        if self.normalization is not None:
            check_choice("Preparation", "normalization", self.normalization, NORMALIZATIONS)
        _check_own_rules(self)
        object.__setattr__(self, "stop_words", _check_stop_words(self.stop_words))

    @classmethod
    def paper(cls) -> Preparation:
        """Return the paper's steps: punctuation and digits vanish, and what is left of a word stays."""
        return cls(punctuation="delete", digits="delete", possessives="join")

    @property
    def is_native(self) -> bool:
        """Whether the native code does all the work; a pattern or a tokeniser takes the slow path."""
        return self.token_pattern is None and self.tokenizer is None

    @property
    def is_incomplete(self) -> bool:
        """Whether the index was made with a tokeniser that has not been given again."""
        return isinstance(self.tokenizer, _MissingTokenizer)

    def tokens(self, text: str) -> list[str]:
        """Words of a text in their order, stop words included."""
        return [token for token in self.marked_tokens(text) if token not in (COMMA_TOKEN, GAP_TOKEN)]

    def marked_tokens(self, text: str) -> list[str]:
        """Words and the marks between them: the plain-Python twin of the native code.

        Between two words stands `COMMA_TOKEN` if nothing but commas does, and `GAP_TOKEN` if other
        punctuation that ends words or a number that is left out does.

        >>> " ".join(Preparation().marked_tokens("Red, green (and blue) in 1990: red!")).replace(chr(0), "")
        'red , green ; and blue ; in ; red'
        """
        text = self.normalized(text)
        if self.punctuation == "split" and self.is_native:
            text = _ABBREVIATING.sub("", text)
        if self.lowercase:
            text = text.lower()
        if self.tokenizer is not None:
            return checked_tokens(self.tokenizer(text))
        if self._pattern is not None:
            return checked_tokens(self._pattern.findall(text))
        if self.punctuation == "split":
            text = _HYPHEN.sub(self._hyphen, text)
        text = text.translate(self._marking_table)
        if self.punctuation == "split":
            text = text.replace(".", f" {GAP_TOKEN} ")
        pieces: Iterable[str] = text.split()
        if self.digits == "drop":
            # Digits were turned into marks, so that words which begin with one can be told from others.
            mark = characters.DIGIT_MARK
            before = "'" if self._splits_possessives else ""
            pieces = (GAP_TOKEN if p.lstrip(before).startswith(mark) else p.replace(mark, "") for p in pieces)
        if self._splits_possessives:
            pieces = (part for piece in pieces for part in _without_apostrophes(piece))
        return _marked_once(token for token in pieces if token and _is_short_enough(token))

    def _hyphen(self, found: re.Match[str]) -> str:
        """Keep a hyphen between two characters that stay; others end a word."""
        table, around = self.character_table, found.string[max(found.start() - 1, 0) : found.end() + 1]
        stays = len(around) == 3 and not any(c.isspace() or ord(c) in table for c in around[::2])
        return found[0] if stays or ord(found[0]) not in table else f" {GAP_TOKEN} "

    @cached_property
    def _marking_table(self) -> dict[int, str | None]:
        """The `character_table`, in which characters that end words become marks."""
        marks = characters.marks_between_words(self.character_table)
        table = self.character_table
        spaced = {code: f" \0{mark} " for code, mark in marks.items() if table[code] == " "}
        return {**table, **spaced}

    def words(self, text: str) -> list[str]:
        """Words of a text in their order, without stop words."""
        return [token for token in self.tokens(text) if token not in self.prepared_stop_words]

    def known_word(self, typed: str, known: Container[str]) -> str | None:
        """Return the known word that a text becomes (`Socket` is `socket`); None: none, or several.

        >>> Preparation().known_word("E-mail", ["email"])
        'email'
        """
        if self.is_incomplete:
            return None
        # Without stop words first: "the road" means road. Then with them, for an index that keeps them.
        for found in (self.words(typed), self.tokens(typed)):
            for word in (found[0], found[0].replace("-", "")) if len(found) == 1 else ():
                if word in known:
                    return word
        return None

    def is_stop_word(self, typed: str) -> bool:
        """Whether a text is one word, and a stop word: `The`."""
        tokens = [] if self.is_incomplete else self.tokens(typed)
        return len(tokens) == 1 and tokens[0] in self.prepared_stop_words

    def why_no_word(self, typed: str) -> str:
        """Say why a text cannot be one word of the index; empty if it can."""
        tokens = [] if self.is_incomplete else self.tokens(typed)
        words = [token for token in tokens if token not in self.prepared_stop_words]
        if len(words) > 1:
            count = "two" if len(words) == 2 else str(len(words))
            return (
                f"{typed!r} is {count} words here: {', '.join(words)}; ask for them together: "
                f"most_similar({words!r}) in Python, `omnitm similar ... --together` on the command line"
            )
        if tokens and not words:
            kind = "a stop word" if len(tokens) == 1 else "stop words"
            return f"{typed!r} is {kind} of this index: such words were left out of the text"
        if not typed.strip():
            return f"{typed!r} is empty, not a word"
        if not tokens and not self.is_incomplete:
            return f"{typed!r} has no letters that are kept: this index has no such word"
        return ""

    def normalized(self, text: str) -> str:
        """Apply the Unicode normal form, if one is wanted."""
        form: Any = self.normalization
        return text if form is None else unicodedata.normalize(form, text)

    @cached_property
    def prepared_stop_words(self) -> frozenset[str]:
        """Stop words as they look after preparation (`don't` is `dont`)."""
        if self.stop_words is None:
            return frozenset()
        chosen = ENGLISH if isinstance(self.stop_words, str) else self.stop_words
        return frozenset(token for word in chosen for token in self.tokens(word))

    @cached_property
    def character_table(self) -> dict[int, str | None]:
        """`str.translate` table of the punctuation and digits rules."""
        return characters.replacements(
            {"punctuation": self.punctuation, "digits": self.digits},
            self.character_set,
            splits_possessives=self._splits_possessives,
        )

    @property
    def _splits_possessives(self) -> bool:
        return self.possessives == "split" and self.punctuation in ("split", "delete")

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        return None if self.token_pattern is None else re.compile(self.token_pattern)

    def native_rules(self, *, refuse_nul: bool) -> CharacterRules:
        """Tables for the native tokeniser, which equals `tokens` when `is_native`."""
        return characters.native_rules(
            lowercase=self.lowercase, table=self.character_table, refuse_nul=refuse_nul
        )

    def to_json(self) -> dict[str, Any]:
        """All options as plain values; a tokeniser is recorded by name only."""
        options = asdict(replace(self, tokenizer=None))
        if isinstance(options["stop_words"], tuple):
            options["stop_words"] = list(options["stop_words"])
        if self.tokenizer is not None:
            module = getattr(self.tokenizer, "__module__", None) or "?"
            options["tokenizer"] = (
                f"{module}:{getattr(self.tokenizer, '__qualname__', type(self.tokenizer).__qualname__)}"
            )
        return options

    @classmethod
    def from_json(
        cls, options: Mapping[str, Any], tokenizer: Callable[[str], Iterable[str]] | None = None
    ) -> Preparation:
        """Options as recorded; code named in a file is never run, so a tokeniser has to be given again.

        Options that are not there were added later, and text was prepared as the paper does.
        """
        known = asdict(cls.paper()) | {
            field.name: options[field.name] for field in fields(cls) if field.name in options
        }
        name = known.pop("tokenizer", None)
        if name is not None and tokenizer is None:
            tokenizer = _MissingTokenizer(name)
        return cls(**known, tokenizer=tokenizer)


class _MissingTokenizer:
    """Stands for a tokeniser that is known by name only."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__module__, _, self.__qualname__ = name.partition(":")

    def __call__(self, text: str) -> list[str]:  # noqa: ARG002  # it cannot do anything with it
        raise CorpusError(
            f"The index was made with the tokeniser {self.name!r}, which an index cannot hold; give it "
            "again: DocumentIndex.open(path, tokenizer=...) or --tokenizer module:function."
        )


def checked_tokens(tokens: Iterable[Any]) -> list[str]:
    """Tokens that can be words; white space alone and words of more than 65,535 bytes are left out."""
    if isinstance(tokens, (str, bytes)):
        raise CorpusError(f"A tokeniser must return a list of words, not {type(tokens).__name__}.")
    checked = []
    for token in tokens:
        if not isinstance(token, str):
            raise CorpusError(
                f"Words must be str. Got {token!r} instead; a token pattern may have at most one group, "
                "a document is a text or a list of words, and a matrix needs its `vocabulary`."
            )
        if token.strip() and _is_short_enough(token):
            if "\n" in token or "\0" in token:
                raise CorpusError(
                    f"A word cannot contain a line break or NUL. Got {token!r}; split it or leave it out."
                )
            checked.append(token)
    return checked


def _marked_once(tokens: Iterable[str]) -> list[str]:
    """Leave one mark between two words, and none before the first or after the last."""
    found: list[str] = []
    waiting = ""
    for token in tokens:
        if token in (COMMA_TOKEN, GAP_TOKEN):
            waiting = token if waiting in ("", token) else GAP_TOKEN
            continue
        found += [waiting, token] if waiting and found else [token]
        waiting = ""
    return found


def _without_apostrophes(piece: str) -> tuple[str, ...]:
    """Split off a last 's, and delete other apostrophes."""
    piece = piece.strip("'")
    if len(piece) > 2 and piece[-2] == "'" and piece[-1] in "sS":
        return piece[:-2].replace("'", ""), "'s"
    return (piece.replace("'", ""),)


def _is_short_enough(token: str) -> bool:
    # No character takes more than four bytes, so most tokens need not be encoded.
    return len(token) * 4 <= LONGEST_WORD or len(token.encode("utf-8", "surrogatepass")) <= LONGEST_WORD


def _check_own_rules(preparation: Preparation) -> None:
    pattern, tokenizer = preparation.token_pattern, preparation.tokenizer
    if pattern is None and tokenizer is None:
        return
    if pattern is not None and tokenizer is not None:
        raise ParameterError("Give either 'token_pattern' or 'tokenizer' to Preparation, not both.")
    if preparation.punctuation not in ("split", "delete") or preparation.digits not in ("drop", "delete"):
        raise ParameterError(
            "'token_pattern' and 'tokenizer' take the place of 'punctuation' and 'digits'; leave those out."
        )
    if tokenizer is not None and not callable(tokenizer):
        raise ParameterError(
            f"The 'tokenizer' parameter of Preparation must be callable. Got {tokenizer!r} instead."
        )
    if pattern is not None:
        try:
            re.compile(pattern)
        except (re.error, TypeError) as error:
            raise ParameterError(
                f"The 'token_pattern' parameter {pattern!r} is not a regular expression: {error}."
            ) from None


def _check_stop_words(stop_words: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    if stop_words is None or stop_words == "english":
        return stop_words
    if isinstance(stop_words, str) or not all(isinstance(word, str) for word in stop_words):
        raise ParameterError(
            "The 'stop_words' parameter of Preparation must be 'english', None or a list of words. "
            f"Got {stop_words!r} instead."
        )
    return tuple(dict.fromkeys(stop_words))


# How words are looked up where nobody knows how the text was prepared: capitals are taken for small letters.
LOWER_CASE_ONLY = Preparation(punctuation="keep", digits="keep", stop_words=None)
