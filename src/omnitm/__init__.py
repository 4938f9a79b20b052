"""Word embeddings made of logic: Omni TM-AE, exact and fast."""

__version__ = "0.1.0"
