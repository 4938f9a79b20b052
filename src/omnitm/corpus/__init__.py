"""From text to the document/word index that everything trains from."""

from omnitm.corpus.append import append_to_index
from omnitm.corpus.build import Progress, Resources, build_index, index_documents
from omnitm.corpus.convert import as_index
from omnitm.corpus.cooccurrence import Cooccurrence, cooccurrence, partners
from omnitm.corpus.index import DocumentIndex
from omnitm.corpus.preparation import Preparation
from omnitm.corpus.reading import Reading
from omnitm.corpus.running import RunningText
from omnitm.corpus.vocabulary import IndexSummary, VocabularyRules

__all__ = [
    "Cooccurrence",
    "DocumentIndex",
    "IndexSummary",
    "Preparation",
    "Progress",
    "Reading",
    "Resources",
    "RunningText",
    "VocabularyRules",
    "append_to_index",
    "as_index",
    "build_index",
    "cooccurrence",
    "index_documents",
    "partners",
]
