"""Document expansion: a model writes queries that a tool can answer; they are kept, and indexed with the document."""

from atc.retrieve.expand.expander import QUERIES, expand_all, neighbours
from atc.retrieve.expand.keep import Expansions
from atc.retrieve.expand.kinds import KINDS

__all__ = ["KINDS", "QUERIES", "Expansions", "expand_all", "neighbours"]
