"""Names as people type them: without accents and punctuation."""

from __future__ import annotations

import re
import unicodedata


def words(text: str) -> list[str]:
    """Lower-case words without accents: `Félix Peña` is `felix pena`; `O'Neill` is `oneill`."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return re.findall(r"[a-z0-9]+", re.sub(r"['’.]", "", plain.lower()))
