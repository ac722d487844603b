"""Names of tools as a trie over a sorted array: which tokens keep to some name (ToolDec, section 3.2)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from atc.decode.errors import Undecodable
from atc.decode.vocabulary import Vocabulary


class Place(NamedTuple):
    """Where one stands among the names: `keys[low:high]` are those that begin with what was written, `depth` bytes."""

    low: int
    high: int
    depth: int


class Steps(NamedTuple):
    """What may be written next: `tokens` that end within a name and what follows it, and those that go beyond.

    `beyond` holds for each of the latter the index of the name, the token, and how many of its bytes are the name's.
    """

    tokens: list[int]
    beyond: list[tuple[int, int, int]]


class NameTrie:
    """Names, each followed by `between`; so a name that is another's beginning (`max`, `maximum`) ends by its own.

    Raises:
        Undecodable: no names, an empty one, one twice, one not to be told from another, or one that no tokens spell.
    """

    def __init__(self, names: Iterable[str], vocabulary: Vocabulary, *, between: str = "") -> None:
        self.between = between.encode()
        self.keys = [name.encode() + self.between for name in names]
        self.keys.sort()  # bytes sort by value, so that names with a common beginning lie side by side
        self._vocabulary = vocabulary
        self._check()
        self.start = Place(0, len(self.keys), 0)

    def _check(self) -> None:
        if not self.keys:
            raise Undecodable("there are no tools to choose from; give at least one.")
        before = None
        for key in self.keys:
            if before is not None and key.startswith(before):
                self._refuse(before, key)
            before = key
        if len(self.keys[0]) == len(self.between):
            raise Undecodable("a tool has an empty name; name it.")
        ids = self._vocabulary.ids
        missing = {byte for byte in set().union(*self.keys) if bytes((byte,)) not in ids}
        for key in self.keys if missing else ():
            if bad := missing.intersection(key):
                name = self.name(self.keys.index(key))
                raise Undecodable(
                    f"the vocabulary has no token for the byte {min(bad):#04x} of this name; rename it.", tool=name
                )

    def _refuse(self, one: bytes, other: bytes) -> None:
        end = len(self.between)
        names = [key[: len(key) - end].decode() for key in (one, other)]
        if one == other:
            raise Undecodable("two tools have this name; rename one.", tool=names[0])
        raise Undecodable(
            f"its name cannot be told from {names[1]!r} where {self.between.decode()!r} follows a name; "
            "rename one, or use a format with another text after names.",
            tool=names[0],
        )

    def name(self, index: int) -> str:
        """The name whose key is `keys[index]`."""
        key = self.keys[index]
        return key[: len(key) - len(self.between)].decode()

    def narrow(self, place: Place, data: bytes) -> Place | None:
        """Where one stands after `data`, None where no name goes on so. `data` does not go beyond a name's key."""
        low, high, depth = place
        if high - low == 1:
            return Place(low, high, depth + len(data)) if self.keys[low].startswith(data, depth) else None
        begins = self.keys[low][:depth] + data
        low = bisect_left(self.keys, begins, low, high)
        # names are UTF-8, in which no byte is 0xff
        high = bisect_left(self.keys, begins + b"\xff", low, high)
        return None if low == high else Place(low, high, depth + len(data))

    def passed(self, place: Place, data: bytes) -> int | None:
        """The index of the key that ends within `data`, None where none does."""
        low, high, depth = place
        begins = self.keys[low][:depth] + data
        index = bisect_right(self.keys, begins, low, high) - 1
        return index if index >= low and begins.startswith(self.keys[index]) else None

    def forced(self, place: Place) -> bytes:
        """What comes next whichever name it is."""
        first, last = self.keys[place.low], self.keys[place.high - 1]
        return first[place.depth : _common(first, last, place.depth) if place.high - place.low > 1 else None]

    def steps(self, place: Place, lead: bytes = b"") -> Steps:
        """The tokens that may follow at `place`, where `lead` is still to be written before the names."""
        tree, keys = self._vocabulary.tree, self.keys
        child, token_at = tree.child, tree.tokens
        found, node = Steps(tree.beginnings(lead) if lead else [], []), 0
        for byte in lead:
            node = child.get(node << 8 | byte, -1)
            if node < 0:
                return found
        work = [(*place, node)]
        while work:
            low, high, depth, node = work.pop()
            if high - low == 1:
                self._along(low, depth, node, lead + keys[low][place.depth :], found)
                continue
            begins, last, index = keys[low][:depth], keys[high - 1][depth], low
            while index < high:  # for each byte that some name goes on with
                byte = keys[index][depth]
                end = high if byte == last else bisect_left(keys, begins + bytes((byte + 1,)), index, high)
                below = child.get(node << 8 | byte)
                if below is not None:
                    if (token := token_at[below]) is not None:
                        found.tokens.append(token)
                    work.append((index, end, depth + 1, below))
                index = end
        return found

    def _along(self, index: int, depth: int, node: int, text: bytes, found: Steps) -> None:
        """Take up the tokens that go on from `node` of their tree as the key does; all of it is `text`."""
        child, token_at = self._vocabulary.tree.child, self._vocabulary.tree.tokens
        for byte in self.keys[index][depth:]:
            below = child.get(node << 8 | byte)
            if below is None:
                return
            node = below
            if (token := token_at[node]) is not None:
                found.tokens.append(token)
        self._beyond(index, text, found)

    def _beyond(self, index: int, text: bytes, found: Steps) -> None:
        """Take up the tokens that begin with `text`, at whose end the key is complete, and go on."""
        vocabulary = self._vocabulary
        if len(text) >= vocabulary.longest:
            return
        first, last = vocabulary.beginning_with(text)
        for longer in vocabulary.ordered[first:last]:
            if len(longer) > len(text):
                found.beyond.append((index, vocabulary.ids[longer], len(text)))


def _common(one: bytes, other: bytes, start: int) -> int:
    """How many first bytes two texts share; `start` of them are known to be the same."""
    end = min(len(one), len(other))
    while start < end and one[start] == other[start]:
        start += 1
    return start
