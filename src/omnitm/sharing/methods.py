"""The methods of `WordVectors` that hand vectors on to other tools."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from omnitm.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from omnitm.sharing.card import CardFacts
    from omnitm.vectors.sentences import SentenceEncoder
    from omnitm.vectors.word_vectors import WordVectors


class Shareable:
    """What `WordVectors` can do for others; a part of that class, in a file of its own."""

    @cached_property
    def sentence_encoder(self) -> SentenceEncoder:
        """Makes vectors of sentences; `mteb.evaluate` takes it as a model."""
        from omnitm.vectors.sentences import SentenceEncoder

        return SentenceEncoder(cast("WordVectors", self))

    def encode(self, sentences: str | Iterable[str]) -> NDArray[np.float32]:
        """Encode sentences as the mean of their words' vectors; see `SentenceEncoder`."""
        return self.sentence_encoder.encode(sentences)

    def to_gensim(self, *, reduce: int | None = None, full: bool = False) -> Any:
        """Return gensim's `KeyedVectors`, as float32; compare them by cosine.

        Parameters
        ----------
        reduce
            This many dense dimensions (see `reduce`); None: all coordinates, or 300 dimensions where all
            would take more than 256 MB.
        full
            All coordinates, however many.
        """
        from omnitm.sharing.forms import choose_form
        from omnitm.sharing.word2vec import keyed_vectors

        vectors = cast("WordVectors", self)
        form = choose_form(vectors, reduce=reduce, full=full, can_be_sparse=False)
        matrix = np.asarray(form.numbers(vectors)[:], dtype=np.float32)
        return keyed_vectors(vectors.index_to_key, matrix)

    def save_word2vec_format(
        self,
        fname: str | Path,
        *,
        binary: bool = False,
        reduce: int | None = None,
        full: bool = False,
        spaces: str | None = None,
    ) -> None:
        """Write a file in the format of word2vec, which gensim and many others read.

        Parameters
        ----------
        binary
            Numbers as 4 bytes each, instead of text.
        reduce, full
            As in `to_gensim`.
        spaces
            What to write for white space in words, which the format cannot hold; None: refuse such words.
        """
        from omnitm.sharing.export import plan_export, write_export

        vectors, kind = cast("WordVectors", self), "word2vec-binary" if binary else "word2vec"
        plan = plan_export(vectors, kind, reduce=reduce, full=full)
        write_export(vectors, fname, plan, spaces=spaces, force=True)

    def to_arrow(self, *, reduce: int | None = None, top: int | None = None, full: bool = False) -> Any:
        """Return an Arrow table: `word` and `vector`, or `coordinates` and `values` for `top`.

        What is given by default is described in `export`.
        """
        from omnitm.sharing.export import table_content
        from omnitm.sharing.forms import choose_form
        from omnitm.sharing.tables import arrow_table

        vectors = cast("WordVectors", self)
        itemsize = vectors.matrix.dtype.itemsize
        form = choose_form(vectors, reduce=reduce, top=top, full=full, itemsize=itemsize)
        return arrow_table(table_content(vectors, form))

    def export(
        self,
        path: str | Path,
        format: str,  # noqa: A002 - the option is called so everywhere
        *,
        reduce: int | None = None,
        top: int | None = None,
        full: bool = False,
        spaces: str | None = None,
        force: bool = False,
    ) -> None:
        """Write the vectors as another tool reads them.

        By default all coordinates if they take at most 256 MB as float32; else the 256 strongest named
        coordinates of each word (`sparsify`), or 300 dense dimensions (`reduce`) if the format is never
        sparse or the coordinates have no names.

        Parameters
        ----------
        format
            "word2vec", "word2vec-binary", "numpy", "safetensors", "arrow" or "parquet".
        reduce, top, full
            At most one: so many dense dimensions, so many coordinates per word, or all of them.
        spaces
            For the formats of word2vec: what to write for white space in words.
        force
            Replace an existing file.
        """
        from omnitm.sharing.export import plan_export, write_export

        vectors = cast("WordVectors", self)
        plan = plan_export(vectors, format, reduce=reduce, top=top, full=full)
        write_export(vectors, path, plan, spaces=spaces, force=force)

    def save(
        self,
        path: str | Path,
        *,
        force: bool = False,
        corpus: str | None = None,
        license: str | None = None,  # noqa: A002 - model hubs call it so
        language: str | None = None,
        scores: Mapping[str, float] | None = None,
    ) -> None:
        """Write a model folder, with a model card (README.md).

        Parameters
        ----------
        force
            Replace an existing model.
        corpus, license, language, scores
            What the card says, as in `save_pretrained`.
        """
        from omnitm.sharing.kept_card import keep_card
        from omnitm.store import write_model

        vectors = cast("WordVectors", self)
        if vectors.training is None:
            raise ParameterError("Vectors of unknown origin cannot be saved as a model: 'training' is None.")
        facts = vectors.card_facts(corpus=corpus, license=license, language=language, scores=scores)
        write_model(
            path,
            vectors.matrix,
            vectors.index_to_key,
            vectors.feature_names,
            vectors.training,
            is_named=vectors.has_named_features,
            force=force,
        )
        keep_card(vectors, Path(path), facts)

    def save_pretrained(
        self,
        save_directory: str | Path,
        *,
        name: str | None = None,
        corpus: str | None = None,
        license: str | None = None,  # noqa: A002 - model hubs call it so
        language: str | None = None,
        scores: Mapping[str, float] | None = None,
    ) -> None:
        """Write a folder for others: the packed model, and a model card with what is said here.

        What is not said here is taken from the card of the model's own folder.

        Parameters
        ----------
        name
            Heading of the card; None: the folder's name.
        corpus
            What the model was trained on, in a sentence.
        license, language
            Identifiers as model hubs use them: "mit", "en".
        scores
            Results of evaluations: name and number.
        """
        from omnitm.sharing.pretrained import save_pretrained

        vectors = cast("WordVectors", self)
        facts = vectors.card_facts(corpus=corpus, license=license, language=language, scores=scores)
        save_pretrained(vectors, save_directory, facts, name=name)

    def card_facts(self, **given: Any) -> CardFacts:
        """Return what is said about the model: what is given, else what its card says.

        Parameters
        ----------
        given
            corpus, license, language and scores, as in `save_pretrained`.
        """
        from omnitm.sharing.kept_card import kept_facts, updated_facts

        return updated_facts(kept_facts(cast("WordVectors", self).path), **given)

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path,
        *,
        revision: str | None = None,
        cache_dir: str | Path | None = None,
        local_files_only: bool = False,
        token: str | None = None,
    ) -> WordVectors:
        """Open a model that `save_pretrained` or `push_to_hub` wrote; from a path nothing is fetched.

        Parameters
        ----------
        name
            A folder or file, or OWNER/NAME on the Hugging Face hub (needs `omnitm[hub]`).
        revision
            Branch, tag or commit on the hub.
        cache_dir
            Where files from the hub are kept; None: the hub's own cache.
        local_files_only
            Only look into the cache.
        """
        from omnitm.sharing.pretrained import find_pretrained

        path = find_pretrained(
            name, revision=revision, cache_dir=cache_dir, local_files_only=local_files_only, token=token
        )
        return cast("type[WordVectors]", cls).load(path)

    def push_to_hub(
        self,
        repo_id: str,
        *,
        private: bool = False,
        token: str | None = None,
        revision: str | None = None,
        commit_message: str = "Add an omnitm model",
        corpus: str | None = None,
        license: str | None = None,  # noqa: A002 - model hubs call it so
        language: str | None = None,
        scores: Mapping[str, float] | None = None,
    ) -> str:
        """Upload the packed model and its card to the Hugging Face hub; return the address of the commit.

        Parameters
        ----------
        repo_id
            OWNER/NAME; made if it is not there.
        private
            Whether a new repository is private.
        token
            Access token; None: that of `hf auth login`.
        revision, commit_message
            Branch to commit to, and what to say.
        corpus, license, language, scores
            As in `save_pretrained`.
        """
        from omnitm.sharing.pretrained import push_to_hub

        vectors = cast("WordVectors", self)
        return push_to_hub(
            vectors,
            repo_id,
            vectors.card_facts(corpus=corpus, license=license, language=language, scores=scores),
            private=private,
            token=token,
            revision=revision,
            commit_message=commit_message,
        )
