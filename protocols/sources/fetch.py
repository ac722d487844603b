"""A document from a file or an address: read with limits, parsed as JSON or YAML, and every failure said plainly."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any, Final

import yaml
from yaml.constructor import ConstructorError

from protocols.errors import SourceUnavailable
from protocols.http import follow
from protocols.jsontypes import Json, loads
from protocols.origin import is_url, split_url
from protocols.reply import Lost, one_line, phrase
from protocols.request import DEFAULT_HEADERS, HttpRequest
from protocols.transport import Transport

MAX_BYTES: Final = 50_000_000
TIMEOUT_SECONDS: Final = 15
MAX_NODES: Final = 3_000_000
"""How many values a YAML document may hold once its aliases are written out."""
MAX_DEPTH: Final = 200
_ACCEPTED = "application/json, application/yaml;q=0.9, */*;q=0.5"


def fetch_document(location: str, *, homes: set[str] | None = None) -> Json:
    """What the JSON or YAML document at a path or http(s) address holds.

    Its host is added to `homes` where it is on this machine or its networks: its service is there too.

    Raises:
        SourceUnavailable: nothing can be read there, or it is neither JSON nor YAML, or over 50 MB.
    """
    found = set() if homes is None else homes
    body = _download(location, found) if is_url(location) else _read(location)
    try:
        return parse(body.decode("utf-8-sig"), where=location)
    except UnicodeDecodeError:
        raise SourceUnavailable(f"{location} is not text, so it is no JSON or YAML document.") from None


def parse(text: str, *, where: str) -> Json:
    """`text` read as JSON, or where it does not begin as that, as YAML.

    Raises:
        SourceUnavailable: it is neither; says where reading stopped.
    """
    start = text.lstrip()[:1]
    if start == "<":
        raise SourceUnavailable(
            f"{where} is HTML or XML, not a JSON or YAML document; "
            "give the address of the document itself, which often ends in /openapi.json or /swagger.json."
        )
    try:
        if start in ("{", "["):
            return loads(text)
        _check_size(text, where)
        value: Json = yaml.load(text, Loader=_LOADER)  # noqa: S506 -- a subclass of SafeLoader
    except RecursionError:
        raise SourceUnavailable(f"{where} is nested too deeply to be read.") from None
    except (yaml.YAMLError, ValueError) as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error)
        problem = f"{problem} (line {mark.line + 1})" if mark else problem
        raise SourceUnavailable(f"{where} is neither JSON nor YAML: {problem}.") from None
    return value


def _read(location: str) -> bytes:
    try:
        with Path(location).expanduser().open("rb") as file:
            body = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise SourceUnavailable(f"{location!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    if len(body) > MAX_BYTES:
        raise SourceUnavailable(
            f"{location} is larger than {MAX_BYTES // 1_000_000} MB; give a document with the operations you need."
        )
    return body


def _download(url: str, homes: set[str]) -> bytes:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    try:
        origin = split_url(url)[0]
        transport = Transport(max_body_bytes=MAX_BYTES, homes={origin.host})
        headers = {**DEFAULT_HEADERS, "Accept": _ACCEPTED}
        request = HttpRequest(method="GET", url=url.partition("#")[0], headers=headers)
        try:
            answer, note, _ = follow(
                request, lambda one: transport.send(one, split_url(one.url)[0], deadline=deadline), upgrade=True
            )
        finally:
            transport.close()
    except ValueError as error:
        raise SourceUnavailable(f"{url} cannot be fetched: {one_line(str(error))}.") from None
    if note:
        raise SourceUnavailable(f"{url} cannot be fetched: {one_line(note)}.")
    if isinstance(answer, Lost):
        if time.monotonic() >= deadline:
            raise SourceUnavailable(
                f"{url} did not send a whole document within {TIMEOUT_SECONDS} s; try again, or give a file."
            )
        raise SourceUnavailable(f"{url} cannot be fetched: {answer.problem}")
    if answer.status not in (200, 203):
        advice = "check the address"
        if answer.status in (401, 403):
            advice = f"download the document yourself and give the file as 'FILE@{origin.url}'"
        raise SourceUnavailable(f"{url} answered {answer.status} {phrase(answer.status)}; {advice}.")
    homes |= transport.near
    return answer.body


def _check_size(text: str, where: str) -> None:
    """Refuse what would grow without bound as objects: the parser's events cost little and come one by one.

    A few lines of aliases can stand for billions of values, an alias can hold itself, and the C parser does not
    survive deep nesting.
    """
    sizes: dict[str, int] = {}  # by anchor, aliases written out
    open_nodes: list[tuple[str | None, int]] = []  # (anchor, values seen before it)
    total = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise SourceUnavailable(
                    f"{where} has the alias {event.anchor!r}, which holds itself or does not exist."
                )
            total += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            if anchor:
                sizes[anchor] = total - before
        elif isinstance(event, yaml.NodeEvent):
            total += 1
            if isinstance(event, yaml.CollectionStartEvent):
                open_nodes.append((event.anchor, total - 1))
            elif event.anchor:
                sizes[event.anchor] = 1
        if total > MAX_NODES or len(open_nodes) > MAX_DEPTH:
            raise SourceUnavailable(f"{where} holds more than can be read safely once its aliases are written out.")


def _loader() -> type:
    """SafeLoader, in C where there is one, that leaves dates as text and refuses .nan and .inf: JSON has neither."""
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {
        first: [(tag, pattern) for tag, pattern in known if tag != "tag:yaml.org,2002:timestamp"]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    constructors = {**base.yaml_constructors, "tag:yaml.org,2002:float": _yaml_float}
    return type("_Loader", (base,), {"yaml_implicit_resolvers": resolvers, "yaml_constructors": constructors})


def _yaml_float(loader: Any, node: Any) -> float:
    value: float = loader.construct_yaml_float(node)
    if not math.isfinite(value):
        raise ConstructorError(problem=f"{node.value} is no JSON number", problem_mark=node.start_mark)
    return value


_LOADER: Any = _loader()
