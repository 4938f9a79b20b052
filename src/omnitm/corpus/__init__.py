"""From text to the document/word index that everything trains from."""

from omnitm.corpus.build import Progress, Resources, build_index, index_documents
from omnitm.corpus.convert import as_index
from omnitm.corpus.index import DocumentIndex
from omnitm.corpus.preparation import Preparation
from omnitm.corpus.reading import Reading
from omnitm.corpus.vocabulary import IndexSummary, VocabularyRules

__all__ = [
    "DocumentIndex",
    "IndexSummary",
    "Preparation",
    "Progress",
    "Reading",
    "Resources",
    "VocabularyRules",
    "as_index",
    "build_index",
    "index_documents",
]
