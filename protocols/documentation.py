"""Addresses of documentation pages for messages and help texts."""

from __future__ import annotations

SITE = "https://atc.example/docs/"
"""Address of the published documentation, equal to `[project.urls]` in pyproject.toml (tested).

It is not read from the installed metadata: importing `importlib.metadata` would make `atc --help`
slower.
"""


def docs_page(name: str) -> str:
    """Return the address of a documentation page.

    For example, `docs_page("reference/configuration#credentials")`.
    """
    page, mark, heading = name.partition("#")
    return f"{SITE}{page}.html{mark}{heading}"
