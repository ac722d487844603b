"""Data in `../shared`, the folder beside a checkout.

It is too large for the repository, or we may not publish it.
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
    """Return the folder of a data set. The folder may be missing."""
    return SHARED / FOLDERS[name]
