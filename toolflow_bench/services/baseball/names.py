"""Names as people type them: without accents and punctuation, each word from its beginning."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Literal

from toolflow_bench.services.context import Context

Kind = Literal["player", "franchise", "school"]


def words(text: str) -> list[str]:
    """Lower-case words without accents: `Félix Peña` is `felix pena`; `O'Neill` is `oneill`."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return re.findall(r"[a-z0-9]+", re.sub(r"['’.]", "", plain.lower()))


def find(context: Context, kind: Kind, query: str) -> str:
    """Ids whose names have, for each word of `query`, a word that begins with it; as a JSON list for `json_each`."""
    sql = "SELECT id FROM words WHERE kind = ? AND word >= ? AND word < ?"
    found = [set(context.column(sql, kind, word, word + "~")) for word in words(query)]
    return json.dumps(sorted(set.intersection(*found)) if found else [])
