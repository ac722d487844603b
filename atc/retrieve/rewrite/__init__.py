"""Query expansion by a language model: HyDE, Q2D and Q2E over any ranker. (`d2q` expands documents.)"""

from atc.retrieve.rewrite.methods import METHODS, Method
from atc.retrieve.rewrite.rewriter import Rewriter

__all__ = ["METHODS", "Method", "Rewriter"]
