"""Reads what a model wrote as JSON, whether or not it kept to the schema."""

from __future__ import annotations

import json
from typing import Any


def json_object(reply: str) -> dict[str, Any]:
    """The JSON object that a reply is, or that stands in it; empty where there is none."""
    begin, end = reply.find("{"), reply.rfind("}")
    try:
        value = json.loads(reply[begin : end + 1], strict=False) if begin >= 0 else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def one_text(value: object) -> str:
    """A text on one line; empty where the value is none."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """The texts of a list that are not empty."""
    return [text for item in value if (text := one_text(item))] if isinstance(value, list) else []
