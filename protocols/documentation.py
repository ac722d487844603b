"""Addresses of documentation pages, as messages and help texts name them."""

from __future__ import annotations

SITE = "https://atc.example/docs/"
"""Where the documentation is published. `[project.urls]` in pyproject.toml has the same address; a test compares them.
It is not read from the installed metadata: importing `importlib.metadata` would make `atc --help` slower."""


def docs_page(name: str) -> str:
    """Return the address of a page: `docs_page("reference/configuration#credentials")`."""
    page, mark, heading = name.partition("#")
    return f"{SITE}{page}.html{mark}{heading}"
