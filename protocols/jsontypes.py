"""Names for JSON values in annotations. `Any` beneath: recursive aliases cost more casts than they find faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""None, bool, int, float, str, list of Json or dict of str to Json."""

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object; read-only by convention."""
