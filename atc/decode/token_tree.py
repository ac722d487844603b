"""The texts of a vocabulary as one tree of bytes: which tokens a text begins with, a byte at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class TokenTree:
    """`child[node << 8 | byte]` is the node below, absent where no token goes on so; 0 is the root.

    `tokens[node]` is the token whose text ends there, None where none does.
    """

    __slots__ = ("child", "tokens")

    def __init__(self, texts: Sequence[bytes], ids: Iterable[int]) -> None:
        """`texts` are sorted, each once; `ids` are their tokens."""
        child: dict[int, int] = {}
        tokens: list[int | None] = [None]
        path, before = [0], b""  # the nodes down to the text before, beginning with the root
        for text, token in zip(texts, ids, strict=True):
            shared = 0
            for one, other in zip(before, text, strict=False):
                if one != other:
                    break
                shared += 1
            del path[shared + 1 :]
            node = path[-1]
            for byte in text[shared:]:
                child[node << 8 | byte] = node = len(tokens)
                tokens.append(None)
                path.append(node)
            tokens[node] = token
            before = text
        self.child, self.tokens = child, tokens

    def beginnings(self, text: bytes) -> list[int]:
        """The tokens whose texts `text` begins with, the shortest first."""
        child, tokens = self.child, self.tokens
        found, node = [], 0
        for byte in text:
            below = child.get(node << 8 | byte)
            if below is None:
                break
            node = below
            if (token := tokens[node]) is not None:
                found.append(token)
        return found
