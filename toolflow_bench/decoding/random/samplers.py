"""What stands for a model: choosers of the next token among those allowed, random and adversarial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.intp]
Weights = npt.NDArray[np.float32]

TEMPERATURES = (0.1, 0.3, 0.7, 1.0, 1.5, 5.0)
_SPREAD = 3.0
"""Standard deviation of random logits, about that of a small model's."""
_STRONG = 30.0
"""What an adversarial sampler adds to the logits of tokens it likes: more than chance ever does."""
_STORE = 1 << 18
_CONTEXTS = 61
"""How many different logits a call has, by the token before: few, so that cycles are short."""


class Sampler(Protocol):
    """Chooses the tokens of one call."""

    def __call__(self, allowed: Ids, /) -> int:
        """One of the ids in `allowed`, which are in order and at least one."""


Traits = Mapping[str, Weights]
"""Trait → weight of each token."""


def traits(tokens: Sequence[bytes], ends: Sequence[int]) -> Traits:
    """What adversarial samplers prefer or avoid: float32, one weight a token. `ends` are the ids that end a text."""
    found = {name: np.fromiter(map(rate, tokens), np.float32, len(tokens)) for name, rate in _RATES.items()}
    final = np.zeros(len(tokens), np.float32)
    final[list(ends)] = 1
    for name, weight in (("never ending", -3.0), ("ending early", 3.0)):
        found[name] = found[name] + weight * final
    return found


def _has(characters: bytes) -> Callable[[bytes], float]:
    marks = frozenset(characters)
    return lambda token: float(bool(marks & set(token)))


def _whole(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


_CLOSING = _has(b"\"'}]),\n`")
_RATES: Mapping[str, Callable[[bytes], float]] = {
    "longest": lambda token: float(len(token)),
    "shortest": lambda token: -float(len(token)),
    # Closing characters are avoided, the end more so.
    "never ending": lambda token: -_CLOSING(token),
    "ending early": _CLOSING,
    "quotes": _has(b"\"'`"),
    "backslashes": _has(b"\\"),
    "opening": lambda token: _has(b"[{(")(token) - _CLOSING(token),
    "digits": lambda token: _has(b"0123456789.eE+-")(token) - _has(b",\n \"'")(token),
    "blanks": _has(b" \t\r\n"),
    "partial": lambda token: float(not _whole(token)),
    "foreign": lambda token: float(any(byte > 127 for byte in token) and _whole(token)),
    "controls": lambda token: float(any(byte < 32 or byte == 127 for byte in token)),
    "slow": lambda token: -float(len(token)) - 100 * _CLOSING(token),
}


class Crowd:
    """A vocabulary's traits and a store of noise, from which samplers are made: `make(name, *seeds)`.

    Noise is Gumbel's, so that the largest of logits plus noise is a draw from their softmax. It is drawn once, and read
    from a random place at each token.
    """

    def __init__(self, tokens: Sequence[bytes], ends: Sequence[int]) -> None:
        self.size = len(tokens)
        self._traits = traits(tokens, ends)
        self._noise = np.random.default_rng(0).gumbel(size=_STORE + self.size).astype(np.float32)

    def make(self, name: str, *seeds: int) -> Sampler:
        """The sampler of this name, one of `SAMPLERS`, for one call."""
        rng = np.random.default_rng([seed & 0xFFFFFFFF for seed in seeds])
        kind, value = SAMPLERS[name]
        if kind == "chance":
            logits = rng.standard_normal(self.size, dtype=np.float32) * (_SPREAD / value)
            return _Chance(rng, self._noise, logits)
        return _Leaning(rng, self._noise, self._traits[kind] * np.float32(value))


@dataclass(slots=True)
class _Chance:
    """Logits fixed for one call, moved on by the last token: at a low temperature it falls into a cycle, as models do.

    Logits that are new at each token would make every allowed token as likely as any other, at any temperature.
    """

    rng: np.random.Generator
    noise: Weights
    logits: Weights
    last: int = 0

    def __call__(self, allowed: Ids, /) -> int:
        drawn = self.logits[(allowed + self.last % _CONTEXTS * 7919) % len(self.logits)]
        self.last = int(allowed[np.argmax(drawn + _some(self.noise, self.rng, len(allowed)))])
        return self.last


@dataclass(slots=True)
class _Leaning:
    """The weights of a trait as logits: so strong that only ties are left to chance, or mild."""

    rng: np.random.Generator
    noise: Weights
    logits: Weights

    def __call__(self, allowed: Ids, /) -> int:
        return int(allowed[np.argmax(self.logits[allowed] + _some(self.noise, self.rng, len(allowed)))])


def _some(noise: Weights, rng: np.random.Generator, count: int) -> Weights:
    start = int(rng.integers(_STORE))
    return noise[start : start + count]


SAMPLERS: Mapping[str, tuple[str, float]] = {
    **{f"T={temperature}": ("chance", temperature) for temperature in TEMPERATURES},
    **{name: (name, _STRONG) for name in _RATES},
    **{f"{name}, mildly": (name, 4.0) for name in ("quotes", "backslashes", "partial", "ending early")},
}
"""Name → what it likes, and how much. `T=…` are random logits at that temperature, the others adversaries."""


def unpack(mask: npt.NDArray[np.uint32], size: int) -> Ids:
    """The ids whose bits are set in a mask of ceil(size / 32) words."""
    bits: Any = np.unpackbits(np.ascontiguousarray(mask).view(np.uint8), bitorder="little", count=size)
    return np.flatnonzero(bits)
