"""Loads JSON and YAML documents from files and http(s) addresses, with limits."""

from __future__ import annotations

import json
import math
import re
import time
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar, Final

import yaml

from protocols.errors import SourceUnavailable
from protocols.http.redirects import follow_redirects
from protocols.http.request import DEFAULT_HEADERS, HttpRequest
from protocols.http.transport import Transport
from protocols.response import one_line, status_phrase
from protocols.schema import Json, loads
from protocols.secrets.sources import mask_source
from protocols.urls import is_url, split_url

MAX_BYTES: Final = 50_000_000
TIMEOUT_SECONDS: Final = 15
MAX_YAML_BYTES: Final = 100_000_000
"""Maximum size of a YAML document with its aliases expanded.

Each value counts as 16 bytes more than its length.
"""


def fetch_document(location: str, *, homes: set[str] | None = None, near: bool = True) -> Json:
    """Return the content of the JSON or YAML document at a path or http(s) address.

    If the host of the address is on this machine or its networks, it is added to `homes`, the hosts
    that may be there: the service that the document describes probably is, too. If `near` is false,
    such hosts are refused.

    Raises:
        SourceUnavailable: the document cannot be read, is neither JSON nor YAML, or has more than
            50 MB.
    """
    if is_url(location):
        body = _download(location, set() if homes is None else homes, near=near)
    else:
        try:
            with Path(location).expanduser().open("rb") as file:
                body = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            raise SourceUnavailable(
                f"{mask_source(location)!r} cannot be read: {problem}."
            ) from error
    if len(body) > MAX_BYTES:
        most = f"{MAX_BYTES // 1_000_000} MB"
        raise SourceUnavailable(
            f"{mask_source(location)} is larger than {most};"
            " give a document with the operations you need."
        )
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceUnavailable(
            f"{mask_source(location)} is not text, so it is no JSON or YAML document."
        ) from None
    del body  # frees up to 50 MB before parsing
    return parse_document(text, where=mask_source(location))


def parse_document(text: str, *, where: str) -> Json:
    """Return the content of `text`, which is JSON or YAML. `where` names it in messages.

    Raises:
        SourceUnavailable: the text is neither. The message says where parsing stopped.
    """
    start = text.lstrip()[:1]
    if start == "<":
        advice = (
            "give the address of the document itself,"
            " which often ends in /openapi.json or /swagger.json"
        )
        raise SourceUnavailable(f"{where} is HTML or XML, not a JSON or YAML document; {advice}.")
    try:
        return loads(text if start in ("{", "[") else json.dumps(_yaml(text)))
    except RecursionError:
        raise SourceUnavailable(f"{where} is nested too deeply to be read.") from None
    except (yaml.YAMLError, ValueError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        problem = f"{problem} (line {mark.line + 1})" if mark else problem
        raise SourceUnavailable(f"{where} is neither JSON nor YAML: {problem}.") from None


def _download(url: str, homes: set[str], *, near: bool) -> bytes:
    """Return the body of the document at a URL."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    headers = {**DEFAULT_HEADERS, "Accept": "application/json, application/yaml;q=0.9, */*;q=0.5"}
    try:
        origin = split_url(url)[0]
        with closing(
            Transport(max_body_bytes=MAX_BYTES, homes={origin.host} if near else None)
        ) as transport:
            answer, _ = follow_redirects(
                HttpRequest(method="GET", url=url.partition("#")[0], headers=headers),
                lambda one: transport.send(one, origin, deadline=deadline),
            )
    except ValueError as error:
        raise SourceUnavailable(
            f"{mask_source(url)} cannot be fetched: {mask_source(one_line(str(error)))}."
        ) from None
    if problem := answer.trouble:
        if answer.status is None and time.monotonic() >= deadline:
            problem = (
                f"it did not send a whole document within {TIMEOUT_SECONDS} s;"
                " try again, or give a file"
            )
        raise SourceUnavailable(
            f"{mask_source(url)} cannot be fetched: {mask_source(one_line(problem)).rstrip('.')}."
        )
    if answer.status not in (200, 203):
        advice = "check the address"
        if answer.status in (401, 403):
            advice = f"download the document yourself and give the file as 'FILE@{origin.url}'"
        raise SourceUnavailable(
            f"{mask_source(url)} answered {answer.status} {status_phrase(answer.status)}; {advice}."
        )
    homes |= transport.near
    return answer.body


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A YAML 1.2 loader as OpenAPI requires it: it recognizes only the types of JSON.

    The words `no` and `on`, and dates, are texts.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


for _tag, _pattern, _first in (
    ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", "true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"-?(0|[1-9]\d*)", list("-0123456789")),
    (
        "float",
        r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?|[-+]?\.(inf|Inf|INF|nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    ("merge", "<<", ["<"]),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^({_pattern})$"), _first
    )


def _yaml(text: str) -> Any:
    """Return the value of a YAML document.

    Raises:
        ValueError: the document is too large with its aliases expanded.
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _size(node, {}) > MAX_YAML_BYTES:
            raise ValueError(
                "it holds more than can be read safely once its aliases are written out"
            )
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _size(node: yaml.Node, known: dict[int, float]) -> float:
    """Return the approximate size of a YAML node in bytes, with its aliases expanded.

    A few lines of aliases can expand to billions of values. `known` has the results for the nodes
    that were visited before.
    """
    if id(node) not in known:
        known[id(node)] = math.inf  # remains if an alias contains itself
        match node:
            case yaml.SequenceNode():
                size = sum(_size(part, known) for part in node.value)
            case yaml.MappingNode():
                size = sum(_size(key, known) + _size(part, known) for key, part in node.value)
            case _:
                size = len(node.value)
        known[id(node)] = size + 16
    return known[id(node)]
