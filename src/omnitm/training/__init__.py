"""A vocabulary trained into a store: the estimator, words added later, shards."""

from omnitm.training.vocabulary import train_model, train_vectors

__all__ = ["train_model", "train_vectors"]
