"""The version of the distribution package. It must equal the version in pyproject.toml."""

from __future__ import annotations

__version__ = "0.1.0"
