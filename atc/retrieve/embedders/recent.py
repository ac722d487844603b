"""What was embedded last: a search that fuses several rankings asks for the same query's vector each time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from atc.retrieve.base import Floats

MOST = 256
"""Texts whose vectors are remembered."""


class Recent:
    """Remembers the rows that `embed` made of the last `most` different texts. Several threads may ask at once."""

    def __init__(self, embed: Callable[[Sequence[str]], Floats], *, most: int = MOST) -> None:
        self._embed, self._most = embed, most
        self._rows: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """A row for each text. Raises as `embed` does, and then remembers nothing of these."""
        with self._lock:
            rows = {text: self._rows[text] for text in texts if text in self._rows}
        new = [text for text in dict.fromkeys(texts) if text not in rows]
        if new:
            rows |= zip(new, self._embed(new), strict=True)
        with self._lock:
            for text in dict.fromkeys(texts):
                self._rows[text] = rows[text]
                self._rows.move_to_end(text)
            while len(self._rows) > self._most:
                self._rows.popitem(last=False)
        return [rows[text] for text in texts]
