"""The `curl` command that repeats a request, without its secrets."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from protocols.http.credentials import Mask, RequestSecret, variable_of
from protocols.http.file_bodies import shown_body
from protocols.http.request import DEFAULT_HEADERS, HttpRequest

_CURL = {"header": ("-H", ": "), "cookie": ("-b", "="), "query": ("--url-query", "=")}


def curl_command(request: HttpRequest, secrets: Iterable[RequestSecret], mask: Mask) -> str:
    """Return a `curl` command that sends a request with these secrets.

    It contains shell variables in place of credentials; see `variable_of`. A file is shown as `@`
    and its name.
    """
    method = {"GET": [], "HEAD": ["--head"]}.get(request.method, ["-X", request.method])
    words = ["curl", *method, mask(request.url)]
    for name, value in request.headers.items():
        words += ["-H", f"{name}: {mask(value)}"] if DEFAULT_HEADERS.get(name) != value else []
    command = shlex.join(words)
    if request.body is not None:
        text = mask(shown_body(request.body))
        lines = (
            text.replace("\\", "\\\\").replace("'", "\\'").replace("\r", "\\r").replace("\n", "\\n")
        )
        # Multipart bodies have carriage returns.
        command += f" --data-raw $'{lines}'" if "\r" in text else f" --data-raw {shlex.quote(text)}"
    for secret in secrets:  # the shell replaces the variable, also in double quotes
        variable = f'"${variable_of(secret.credential)}"'
        option, between = _CURL[secret.place]
        shown = shlex.quote(f"{secret.name}{between}{secret.prefix}")
        command += (
            f" -u {variable}" if secret.prefix == "Basic " else f" {option} {shown}{variable}"
        )
    return command
