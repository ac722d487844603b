"""Identifies a tool call by what it requests from which service.

Two calls are the same even if their tools come from different documents or sources, and even if
they are spelled differently. A call over HTTP is identified by its request. Servers accept one
request in many spellings. So paths are compared as the most lenient server would read them, and it
does not matter whether a parameter is in the query, a form, a header or the body.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import shlex
import shutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import parse_qsl, unquote

from protocols.errors import AtcError
from protocols.http.file_bodies import StreamedBody
from protocols.http.request import DEFAULT_HEADERS, HttpRequest, RequestBuilder
from protocols.protocol import HttpBinding, McpBinding, PythonBinding
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.urls import Origin, canonical_host, split_url
from sandbox.arguments import contract
from sandbox.journal import canonical_call

_MATRIX = re.compile(r";[^/]*")
"""Parameters of one segment of a URL path, as in `/notes;v=1`."""
_FORMAT = re.compile(r"\.(?:json|xml|ya?ml|html?|csv|txt)$")
"""The name of a response format at the end of a URL path, as in `/notes.json`."""
_FORM = re.compile(r"[\w.\[\]-]+=[^&=\s]*(?:&[\w.\[\]-]+=[^&=\s]*)*")
_MOST_ENCODINGS = 3
"""How many times a path is percent-decoded, since some servers decode more than once."""


def spellings(tool: Tool, arguments: JsonObject, *, loose: bool = False) -> tuple[str, ...]:
    """Return the texts that identify a call. Two calls that share a text are the same call.

    One text includes the default values of omitted arguments, another does not.

    If `loose` is True, further texts leave out what may make no difference: a query string that a
    document wrote into an HTTP address, and the command that starts an MCP server. Some calls that
    are not the same share these texts, too.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    filled = {**tool.original_arguments(contract(tool.protocol).defaults), **given}
    tools = [tool]
    binding = tool.protocol.binding
    if loose and isinstance(binding, HttpBinding) and "?" in binding.url:
        bare = replace(binding, url=binding.url.partition("?")[0])
        tools.append(replace(tool, protocol=replace(tool.protocol, binding=bare)))
    texts = [_identify(one, sent) for one in tools for sent in (given, filled)]
    if loose and isinstance(binding, McpBinding):
        texts += [_canonical(f"MCP {binding.tool}", sent) for sent in (given, filled)]
    return tuple(dict.fromkeys(texts))


def _identify(tool: Tool, arguments: JsonObject) -> str:
    """Return the text that identifies a call with these arguments."""
    match tool.protocol.binding:
        case HttpBinding() as binding:
            return _request(tool, binding, arguments)
        case McpBinding(tool=name):
            operation = f"{_plain_command(tool.place)} {name}"
        case PythonBinding(function=name):
            operation = name
        case _:
            operation = tool.protocol.name
    return _canonical(operation, arguments)


def _canonical(operation: str, arguments: JsonObject) -> str:
    given = {name: _one_spelling(value) for name, value in arguments.items() if value is not None}
    return canonical_call(operation, given)


def _plain_command(place: str) -> str:
    """Return the command of an MCP server, with the real path of each file in it.

    If `place` is the address of a server, it is returned unchanged.
    """
    try:
        words = shlex.split(place)
    except ValueError:
        return place
    if words and (program := shutil.which(words[0])) is not None:
        words[0] = program
    return shlex.join(os.path.realpath(word) if Path(word).exists() else word for word in words)


def _request(tool: Tool, binding: HttpBinding, arguments: JsonObject) -> str:
    """Return the text that identifies a call over HTTP."""
    try:
        request = RequestBuilder(tool.protocol, binding).build(arguments)
    except AtcError:
        # The call cannot be sent.
        return canonical_call(
            f"{binding.method} {binding.url}",
            {name: repr(value) for name, value in arguments.items()},
        )
    origin, rest = split_url(request.url)
    path, _, query = rest.partition("?")
    sent: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in [
        *parse_qsl(query, keep_blank_values=True),
        *_headers(request),
        *_body(request),
    ]:
        sent[normalize("NFC", name).removesuffix("[]").casefold()] += [
            _text(one) for one in (value if isinstance(value, list) else [value])
        ]
    host = "" if tool.home and origin.url == tool.home else _host(origin)
    return canonical_call(
        f"{request.method.upper()} {host}{_plain_path(path)}", {name: sent[name] for name in sent}
    )


def _host(origin: Origin) -> str:
    """Return the host of an HTTP address, with its port.

    Ports 80 and 443 are omitted, since they usually lead to the same service.
    """
    port = "" if origin.port in (80, 443) else f":{origin.port}"
    return canonical_host(origin.host) + port


def _plain_path(path: str) -> str:
    """Return the normal form of a URL path, which is the same for all its spellings.

    It is in lower case, and has no percent-encoding, segment parameters, dot segments, double
    slashes, or name of a response format at its end.
    """
    for _ in range(_MOST_ENCODINGS):
        path = unquote(path)
    path = _MATRIX.sub("", path)
    plain = normalize("NFC", posixpath.normpath(f"/{path.lstrip('/')}")).casefold()
    return _FORMAT.sub("", plain)


def _headers(request: HttpRequest) -> Iterator[tuple[str, Json]]:
    """Yield the name and value of each header and cookie that comes from an argument."""
    for name, value in request.headers.items():
        if name.lower() == "cookie":
            pairs = (cookie.strip().partition("=") for cookie in value.split(";"))
            yield from ((key, unquote(text)) for key, _, text in pairs if key)
        elif DEFAULT_HEADERS.get(name) != value and name.lower() != "content-type":
            yield name.lower(), value


def _body(request: HttpRequest) -> Iterator[tuple[str, Json]]:
    """Yield the name and value of each field in the body of a request.

    A body without fields, such as a JSON list, is yielded as one value with the name "".
    """
    body = request.body or b""
    if isinstance(body, StreamedBody):
        body = body.with_digests()
    media = request.headers.get("Content-Type", "")
    if not body:
        return
    if media.startswith("multipart/"):
        whole: Message = message_from_bytes(f"Content-Type: {media}\r\n\r\n".encode() + body)
        for part in whole.walk():
            if not part.is_multipart():
                name = part.get_param("name", "", "content-disposition")
                content: Any = part.get_payload(decode=True)
                yield str(name), content.decode("utf-8", "replace")
        return
    text = body.decode("utf-8", "replace")
    if media == "application/x-www-form-urlencoded" or _FORM.fullmatch(text):
        yield from parse_qsl(text, keep_blank_values=True)
        return
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield "", value


def _text(value: Json) -> str:
    """Return the value of a parameter as text, as it would be in a query string."""
    spelled = _one_spelling(value)
    return spelled if isinstance(spelled, str) else json.dumps(spelled, sort_keys=True)


def _one_spelling(value: Json) -> Json:
    """Return the normal form of a value, which is the same for all its spellings.

    Texts have composed Unicode letters (NFC), and a float such as 2.0 becomes the integer 2.
    """
    match value:
        case str():
            return normalize("NFC", value)
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_one_spelling(one) for one in value]
        case dict():
            return {normalize("NFC", name): _one_spelling(one) for name, one in value.items()}
    return value
