"""BM25 over the words of tool documents."""

from atc.retrieve.lexical.lexical import Lexical

__all__ = ["Lexical"]
