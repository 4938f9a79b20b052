"""From text to the document/word index that everything trains from."""

from omnitm.corpus.index import DocumentIndex

__all__ = ["DocumentIndex"]
