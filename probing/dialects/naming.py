"""Which argument a reply means: by wire name, in any spelling, by a path into the request, or by the value sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from probing.shape import text_of
from protocols.jsontypes import Json

PLACES = frozenset({
    "#", "$", "__root__", "args", "arguments", "attributes", "body", "cookie", "cookies", "data", "files", "form",
    "formdata", "header", "headers", "input", "json", "json_or_form", "param", "parameter", "parameters", "params",
    "path", "payload", "query", "query_string", "querystring", "request", "requestbody", "root", "view_args",
})  # fmt: skip
"""Steps of a path that say where an argument travels, not which it is."""

IDENTIFIER = re.compile(r"[A-Za-z_$][\w$\-]{0,79}(?:\[\])?")
_UNSEEN = ("cookie", "cookies", "header", "headers")


@dataclass(frozen=True, slots=True)
class Found:
    """The argument that a path leads to. `known`: it is described. `nested`: the path goes on inside its value."""

    argument: str
    known: bool = True
    nested: bool = False


class Names:
    """Finds arguments. `sent` are the values of the call, by argument."""

    def __init__(self, names: Mapping[str, str], sent: Mapping[str, Json]) -> None:
        self.sent = sent
        self._exact = dict(names) | {argument: argument for argument in names.values()}
        folded: dict[str, set[str]] = {}
        for spelled, argument in self._exact.items():
            folded.setdefault(fold(spelled), set()).add(argument)
        self._folded = {key: next(iter(found)) for key, found in folded.items() if key and len(found) == 1}
        self.arguments = tuple(dict.fromkeys(self._exact.values()))
        self._by_value: dict[str, set[str]] = {}
        for argument, value in sent.items():
            for part in value if isinstance(value, list) else [value]:
                if part is not None and not isinstance(part, dict | list):
                    self._by_value.setdefault(text_of(part), set()).add(argument)

    def known(self, spelled: str) -> str | None:
        """The argument of this name, whatever its case and its hyphens; `None` where two would fit."""
        return self._exact.get(spelled) or self._folded.get(fold(spelled))

    def at(self, path: Sequence[str]) -> Found | None:
        """The argument that a path into the request leads to: the nearest one that is known.

        A name that is not known is returned where the path is nothing else: then it certainly is an argument's.
        """
        if whole := self._exact.get(".".join(path)):
            return Found(whole)
        start = 0
        while start < len(path) and path[start].lower() in PLACES:
            start += 1
        for index in [*range(start, len(path)), *range(start)]:
            if argument := self.known(path[index]):
                return Found(argument, nested=index + 1 < len(path))
        rest = path[start:] if start < len(path) or len(path) != 2 else path[1:]  # `body.data`
        unseen = any(step.lower() in _UNSEEN for step in path[:start])  # a new argument would not travel there
        if len(rest) == 1 and IDENTIFIER.fullmatch(rest[0]) and not unseen:
            return Found(rest[0].removesuffix("[]"), known=False)
        return None

    def holding(self, text: str) -> str | None:
        """The one argument that was sent with this value."""
        found = self._by_value.get(text, ())
        return next(iter(found)) if len(found) == 1 else None

    def ending(self, path: str) -> str | None:
        """The one argument whose value a path ends with: `a` of `/srv/a`, where a service shows the path in full."""
        if not path.startswith("/"):
            return None
        told = {
            argument
            for text, arguments in self._by_value.items()
            if (tail := text.removeprefix("./").strip("/")) and path.endswith(f"/{tail}")
            for argument in arguments
        }
        return next(iter(told)) if len(told) == 1 else None

    def about(self, noun: str) -> str | None:
        """The one argument whose name has this word: `token` → `session_token`."""
        if argument := self.known(noun):
            return argument
        found = [name for name in self.arguments if noun.lower() in words(name)]
        return found[0] if len(found) == 1 else None


def fold(name: str) -> str:
    """The same for all spellings of a name: `start-date`, `startDate`, `Start date`."""
    return re.sub(r"[\W_]", "", name).lower()


def words(name: str) -> list[str]:
    """`airportCode`, `airport_code` → `airport`, `code`."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def steps(path: str) -> list[str]:
    """`body.filter.x`, `/data/filter/x`, `$.filter[0].x` as a list of keys."""
    return [step.replace("~1", "/").replace("~0", "~") for step in re.findall(r"[^.\[\]/#'\"\s]+", path[:400])]


def identifiers(values: Iterable[Json]) -> list[str]:
    """Those values that may be names of arguments."""
    return [v.lstrip("-:$") for v in values if isinstance(v, str) and IDENTIFIER.fullmatch(v.lstrip("-:$"))]
