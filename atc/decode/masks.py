"""Masks: one bit a token, in words of 32 bits, the lowest bit first; 1 where the token may come next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from atc.decode.errors import Undecodable
from atc.decode.vocabulary import Vocabulary

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise Undecodable(
        "token masks need 'numpy', which is not installed: pip install \"automatic-tool-chain[decode]\"."
    ) from error


Mask: TypeAlias = NDArray[np.uint32]


class MaskBuffer:
    """Room for one mask, written over and over. `words` is the mask; llguidance's covers 256 tokens more."""

    __slots__ = ("_cells", "_room", "address", "size_bytes", "words")

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._room = np.zeros((vocabulary.bytes_from + 256) // 32, dtype=np.uint32)
        self.address: int = self._room.ctypes.data
        self.size_bytes: int = self._room.nbytes
        self.words: Mask = self._room[: vocabulary.words]
        self._cells = memoryview(self._room.data)  # Python writes single words to it five times as fast

    def write(self, tokens: Iterable[int]) -> Mask:
        """The mask of just these tokens."""
        self.words.fill(0)
        return self.add(tokens)

    def add(self, tokens: Iterable[int]) -> Mask:
        """These tokens too."""
        cells = self._cells
        for token in tokens:
            cells[token >> 5] |= 1 << (token & 31)
        return self.words


def mask_of(tokens: Iterable[int], vocabulary: Vocabulary) -> Mask:
    """A mask of its own of these tokens; not to be written to."""
    mask = MaskBuffer(vocabulary).write(tokens).copy()
    mask.flags.writeable = False
    return mask


def is_in(token: int, mask: Mask) -> bool:
    """Whether `mask` allows `token`."""
    return bool(int(mask[token >> 5]) >> (token & 31) & 1)


def unpack(mask: Mask, size: int) -> NDArray[np.bool_]:
    """A mask as one truth value a token, `size` of them."""
    return np.unpackbits(mask.view(np.uint8), count=size, bitorder="little").view(np.bool_)
