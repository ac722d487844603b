"""A failed request as a command to paste into a shell, with names where secrets stood."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from protocols.credentials import MASK, Credential, Mask, dress
from protocols.jsontypes import Json, JsonObject
from protocols.request import DEFAULT_HEADERS, HttpRequest
from protocols.schema import resolve

_MAX_BODY = 10_000  # characters; what is longer no one pastes
_SENSITIVE_NAME = re.compile(
    r"(?:^|[_\-.\s])(?:pass(?:word|wd|phrase)?|secret|token|credentials?|authorization|(?:api|access|private|secret)[_-]?key)$",
    re.IGNORECASE,
)
_PAGING = re.compile(r"(page|next|prev(ious)?|continuation|cursor|sync)[_-]?token$", re.IGNORECASE)


def command(request: HttpRequest, credentials: Mapping[str, Credential], *, mask: Mask) -> str:
    """`curl …` that repeats `request`; each credential is a shell variable of its name (`github` → `$GITHUB`)."""
    stands_for = {f"CREDENTIAL{i}ISHERE": name for i, name in enumerate(credentials)}
    request = replace(
        request,
        url=mask(request.url),
        headers={k: mask(v) for k, v in request.headers.items() if DEFAULT_HEADERS.get(k) != v},
    )
    dressed = dress(request, [replace(credentials[name], value=marker) for marker, name in stands_for.items()])
    words = ["curl"]
    if request.method == "HEAD":
        words.append("--head")
    elif request.method != "GET" or request.body is not None:
        words += ["-X", request.method]
    if re.search(r"[\[\]{}]", dressed.url):
        words.append("--globoff")
    words.append(dressed.url)
    for name, value in dressed.headers.items():
        words += ["-H", f"{name}: {value}" if value else f"{name};"]
    if request.body is not None:
        text = mask(request.body.decode())
        words += ["--data-raw", text] if len(text) <= _MAX_BODY else ["--data-binary", "@body.json"]
    line = " ".join(shlex.quote(word) for word in words)
    for marker, name in stands_for.items():
        line = _with_variable(line, marker, name)
    return line


def without_secrets(arguments: JsonObject, schema: JsonObject) -> dict[str, Json]:
    """Arguments with `***` for each value that is secret by its schema (`writeOnly`, `format: password`) or name."""
    hidden: dict[str, Json] = _hide(arguments, schema, schema)
    return hidden


def _with_variable(line: str, marker: str, name: str) -> str:
    variable = re.sub(r"\W", "_", name, flags=re.ASCII).upper()
    variable = f"_{variable}" if variable[:1].isdigit() or not variable else variable
    # shlex puts every word that can hold a secret in single quotes, for its space or question mark. Within those a
    # variable would stay literal text, so they are closed around it.
    return line.replace(marker, f"'\"${variable}\"'").replace(f"\"${variable}\"''", f'"${variable}"')


def _hide(value: Json, schema: Any, root: JsonObject) -> Json:
    known = resolve(schema, root)
    if isinstance(value, Mapping):
        parts = known.get("properties", {})
        return {
            key: MASK if _is_secret(key, resolve(parts.get(key), root)) else _hide(item, parts.get(key), root)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_hide(item, known.get("items"), root) for item in value]
    return value


def _is_secret(name: str, schema: JsonObject) -> bool:
    if schema.get("writeOnly") is True or schema.get("format") == "password":
        return True
    return bool(_SENSITIVE_NAME.search(name)) and not _PAGING.search(name)
