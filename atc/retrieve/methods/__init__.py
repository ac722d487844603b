"""The methods of search by name, and what opens an index and a search over it."""

from atc.retrieve.methods.method import AUTO, Method, Setup, UnknownMethod
from atc.retrieve.methods.opening import expanded, open_finder, open_index, spelled_out
from atc.retrieve.methods.table import METHODS, build, read

__all__ = [
    "AUTO",
    "METHODS",
    "Method",
    "Setup",
    "UnknownMethod",
    "build",
    "expanded",
    "open_finder",
    "open_index",
    "read",
    "spelled_out",
]
