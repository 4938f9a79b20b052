"""What a word's machine has learned, as rules that people can read."""

from omnitm.explain.rules import Rule, trained_rules

__all__ = ["Rule", "trained_rules"]
