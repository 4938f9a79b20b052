"""Word vectors under gensim's names, and vectors of documents made of them."""

from omnitm.vectors.word_vectors import WordVectors

__all__ = ["WordVectors"]
