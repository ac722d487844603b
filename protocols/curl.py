"""A failed request as a command to paste into a shell, with names where secrets stood."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace

from protocols.credentials import MASK, Credential, Mask, dress
from protocols.jsontypes import Json, JsonObject
from protocols.request import DEFAULT_HEADERS, HttpRequest
from protocols.secrecy import covered

_MAX_BODY = 10_000  # characters; what is longer no one pastes


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
    """Arguments with `***` for each value that is secret by its schema or name (`protocols.secrecy`)."""
    hidden: dict[str, Json] = covered(dict(arguments), schema, lambda _: MASK)
    return hidden


def _with_variable(line: str, marker: str, name: str) -> str:
    variable = re.sub(r"\W", "_", name, flags=re.ASCII).upper()
    variable = f"_{variable}" if variable[:1].isdigit() or not variable else variable
    # shlex puts every word that can hold a secret in single quotes, for its space or question mark. Within those a
    # variable would stay literal text, so they are closed around it.
    return line.replace(marker, f"'\"${variable}\"'").replace(f"\"${variable}\"''", f'"${variable}"')
