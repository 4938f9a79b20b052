"""Training a vocabulary, the store on disk, and word vectors."""

from omnitm.embedding.training import train_model, train_vectors
from omnitm.embedding.word_vectors import WordVectors

__all__ = ["WordVectors", "train_model", "train_vectors"]
