"""Measurements of word vectors."""
