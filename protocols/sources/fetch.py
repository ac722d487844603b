"""Loads JSON and YAML documents from files and http(s) addresses, with limits."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

import yaml

from protocols.errors import SourceUnavailable
from protocols.http.credentials import RequestSecret, add_secrets
from protocols.http.document_login import DocumentLogin
from protocols.http.redirects import REDIRECTS, follow_redirects
from protocols.http.request import DEFAULT_HEADERS, HttpRequest
from protocols.http.transport import Transport
from protocols.response import Answer, one_line, status_phrase
from protocols.schema import Json, JsonObject, loads
from protocols.secrets.sources import mask_source
from protocols.urls import Origin, is_url, split_url

MAX_BYTES: Final = 50_000_000
TIMEOUT_SECONDS: Final = 15
MAX_YAML_BYTES: Final = 100_000_000
"""Maximum size of a YAML document with its aliases expanded.

Each value counts as 16 bytes more than its length.
"""


def fetch_document(
    location: str,
    *,
    homes: set[str] | None = None,
    near: bool = True,
    login: DocumentLogin | None = None,
) -> Json:
    """Return the content of the JSON or YAML document at a path or http(s) address.

    If the host of the address is on this machine or its networks, it is added to `homes`, the hosts
    that may be there: the service that the document describes probably is, too. If `near` is false,
    such hosts are refused. `login` has the user's credentials for the host of the address. They go
    to no other host, also not after a redirect.

    Raises:
        SourceUnavailable: the document cannot be read, is neither JSON nor YAML, or has more than
            50 MB.
    """
    if is_url(location):
        return _fetch_address(location, set() if homes is None else homes, near=near, login=login)
    try:
        with Path(location).expanduser().open("rb") as file:
            body = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        raise SourceUnavailable(f"{mask_source(location)!r} cannot be read: {problem}.") from error
    return _parse(body, where=mask_source(location))


def _parse(body: bytes, *, where: str, login: str = "") -> Json:
    """Return the content of a document. `where` names it in messages.

    `login` is advice about the login that it may need.

    Raises:
        SourceUnavailable: it is too large, or neither JSON nor YAML.
    """
    if len(body) > MAX_BYTES:
        most = f"{MAX_BYTES // 1_000_000} MB"
        raise SourceUnavailable(
            f"{where} is larger than {most}; give a document with the operations you need."
        )
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceUnavailable(
            f"{where} is not text, so it is no JSON or YAML document."
        ) from None
    del body  # frees up to 50 MB before parsing
    return parse_document(text, where=where, login=login)


def parse_document(text: str, *, where: str, login: str = "") -> Json:
    """Return the content of `text`, which is JSON or YAML. `where` names it in messages.

    `login` is advice about the login that the document may need.

    Raises:
        SourceUnavailable: the text is neither. The message says where parsing stopped.
    """
    start = text.lstrip()[:1]
    if start == "<":
        advice = (
            "give the address of the document itself,"
            " which often ends in /openapi.json or /swagger.json"
        )
        advice += f". It may be a login page: {login}" if login else ""
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


def _fetch_address(url: str, homes: set[str], *, near: bool, login: DocumentLogin | None) -> Json:
    """Return the content of the document at a URL; see `fetch_document`."""
    where = mask_source(url)
    try:
        origin = split_url(url)[0]
    except ValueError as error:
        raise SourceUnavailable(_explain_failure(where, str(error))) from None
    with closing(
        Transport(
            max_body_bytes=MAX_BYTES,
            homes={origin.host} if near else None,
            tls_files=login.keyring.tls_files if login else None,
        )
    ) as transport:
        download = partial(_download, url, origin, transport)
        secrets = login.first_secrets() if login else []
        answer = download(secrets)
        if login is not None and _is_refusal(answer):
            answer = _retry(download, login, answer, secrets)
        if login is not None and login.keyring.mask(url) != url:
            where = login.keyring.mask(where)
        _require_success(answer, where, origin, login)
        document = _parse(answer.body, where=where, login=login.advice() if login else "")
        if login is not None and isinstance(document, Mapping):
            document = _whole_document(document, download, login, secrets)
    homes |= transport.near
    return document


def _download(
    url: str, origin: Origin, transport: Transport, secrets: Sequence[RequestSecret]
) -> Answer:
    """Return the response to a request for a document that carries `secrets`.

    Redirects are followed within the origin, with the secrets.
    """
    deadline = time.monotonic() + TIMEOUT_SECONDS
    headers = {**DEFAULT_HEADERS, "Accept": "application/json, application/yaml;q=0.9, */*;q=0.5"}
    request = HttpRequest(method="GET", url=url.partition("#")[0], headers=headers)
    answer, _ = follow_redirects(
        request,
        lambda one: transport.send(add_secrets(one, secrets), origin, deadline=deadline),
    )
    if answer.trouble and answer.status is None and time.monotonic() >= deadline:
        trouble = (
            f"it did not send a whole document within {TIMEOUT_SECONDS} s;"
            " try again, or give a file"
        )
        return replace(answer, trouble=trouble)
    return answer


def _is_refusal(answer: Answer) -> bool:
    """Return True if a response may mean that the document wants a login, or another one."""
    page = answer.succeeded and answer.body.lstrip()[:1] == b"<"
    return page or answer.status in (400, 401, 403, 404, *REDIRECTS)


def _retry(
    download: Callable[[Sequence[RequestSecret]], Answer],
    login: DocumentLogin,
    answer: Answer,
    secrets: Sequence[RequestSecret],
) -> Answer:
    """Ask again for a document that was refused: with another login, or with none."""
    others = login.secrets_after(answer)
    if not others and not secrets:
        return answer
    second = download(others)
    return answer if _is_refusal(second) else second


def _whole_document(
    document: JsonObject,
    download: Callable[[Sequence[RequestSecret]], Answer],
    login: DocumentLogin,
    sent: Sequence[RequestSecret],
) -> Json:
    """Return the document that the user gets with the login that the document itself declares.

    Services may give a smaller one to those who are not signed in. If there is no such login, or
    it was sent already, the result is `document`.
    """
    secrets = login.secrets_of(document)
    if all(secret in sent for secret in secrets):
        return document
    answer = download(secrets)
    if not answer.succeeded:
        return document
    try:
        whole = _parse(answer.body, where="")
    except SourceUnavailable:
        return document
    return whole if isinstance(whole, Mapping) and "paths" in whole else document


def _require_success(
    answer: Answer, where: str, origin: Origin, login: DocumentLogin | None
) -> None:
    """Check that a response has a document.

    Raises:
        SourceUnavailable: it has none. The message says what to do next.
    """
    if problem := answer.trouble:
        message = _explain_failure(where, login.keyring.mask(problem) if login else problem)
        if login and answer.status in REDIRECTS:
            message += f" It may be a login page: {login.advice()}."
        raise SourceUnavailable(message)
    if answer.status in (200, 203):
        return
    advice = "check the address"
    if answer.status in (401, 403):
        advice = f"download the document yourself and give the file as 'FILE@{origin.url}'"
        advice = f"{login.advice()}, or {advice}" if login else advice
    raise SourceUnavailable(
        f"{where} answered {answer.status} {status_phrase(answer.status)}; {advice}."
    )


def _explain_failure(where: str, problem: str) -> str:
    return f"{where} cannot be fetched: {mask_source(one_line(problem)).rstrip('.')}."


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
