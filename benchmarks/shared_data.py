"""Data in `../shared`, beside a checkout.

It is too large for the repository, or not ours to publish.
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
"""Name of a data set → its folder in `SHARED`."""


def folder(name: str) -> Path:
    """Return the folder of a data set, which may be missing."""
    return SHARED / FOLDERS[name]
