"""What a model has learned and why its words are similar: rules, shares, evidence, all as plain data."""

from omnitm.explain.document_rules import DocumentRule
from omnitm.explain.evidence import Document, Together
from omnitm.explain.explainer import Explainer
from omnitm.explain.matches import Match
from omnitm.explain.pairs import ClauseShare, Comparison, Contribution
from omnitm.explain.records import RecordList
from omnitm.explain.rules import Literal, Rule
from omnitm.explain.senses import Sense, Senses
from omnitm.explain.traces import Trace, TraceEvent
from omnitm.explain.words import ClauseStates, MeasuredRule, WordExplanation

__all__ = [
    "ClauseShare",
    "ClauseStates",
    "Comparison",
    "Contribution",
    "Document",
    "DocumentRule",
    "Explainer",
    "Literal",
    "Match",
    "MeasuredRule",
    "RecordList",
    "Rule",
    "Sense",
    "Senses",
    "Together",
    "Trace",
    "TraceEvent",
    "WordExplanation",
]
