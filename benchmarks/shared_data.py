"""Paths of the data in `../shared`, the folder beside a checkout.

The data is too large for the repository, or we may not publish it.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.local import ROOT

SHARED = ROOT.parent / "shared"
FOLDERS = {
    "bfcl": "data/bfcl",
    "redteam": "redteam",
    "restbench": "data/restbench",
    "snippets": "snippets",
}
"""Maps the name of a data set to its folder below `SHARED`."""


def folder(name: str) -> Path:
    """Return the path of a data set's folder. The folder may be missing."""
    return SHARED / FOLDERS[name]
