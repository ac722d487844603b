"""The optional packages of retrieval."""

from __future__ import annotations

from importlib.util import find_spec

from atc.retrieve.base import RetrievalUnavailable


def missing(*packages: str) -> list[str]:
    """Those of `packages` (names as they are imported) that are not installed."""
    return [package for package in packages if find_spec(package) is None]


def require(what: str, *packages: str) -> None:
    """See that all of `packages` are installed, for `what` (the subject of the sentence) needs them.

    Raises:
        RetrievalUnavailable: one is not.
    """
    if lacking := missing(*packages):
        named = " and ".join(map(repr, lacking))
        raise RetrievalUnavailable(
            f"{what} needs {named}; install it with pip install 'automatic-tool-chain[retrieval]'."
        )
