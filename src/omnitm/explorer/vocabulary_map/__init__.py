"""A map of the vocabulary: a point per trained word, and for each point how far it can be trusted."""

from omnitm.explorer.vocabulary_map.keeper import MapKeeper
from omnitm.explorer.vocabulary_map.stored import VocabularyMap

__all__ = ["MapKeeper", "VocabularyMap"]
