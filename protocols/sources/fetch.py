"""A document from a file or an address: read with limits, parsed as JSON or YAML, and every failure said plainly."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from protocols.errors import SourceUnavailable
from protocols.jsontypes import Json
from protocols.sources.server import covers, home_of, is_url

if TYPE_CHECKING:
    import requests

MAX_BYTES: Final = 50_000_000
MAX_NODES: Final = 3_000_000
"""How many values a YAML document may hold once its aliases are written out."""
MAX_DEPTH: Final = 200
_MAX_REDIRECTS = 5


def fetch_document(location: str, *, timeout_seconds: float = 15) -> Json:
    """What the JSON or YAML document at a path or http(s) address holds.

    Raises:
        SourceUnavailable: nothing can be read there, or it is neither JSON nor YAML, or over 50 MB.
    """
    body = _download(location, timeout_seconds) if is_url(location) else _read(location)
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceUnavailable(f"{location} is not text, so it is no JSON or YAML document.") from None
    return parse(text, where=location)


def parse(text: str, *, where: str) -> Json:
    """`text` read as JSON, or where it is none, as YAML.

    Raises:
        SourceUnavailable: it is neither; says where reading stopped.
    """
    start = text.lstrip()[:200].lower()
    if not start:
        raise SourceUnavailable(f"{where} is empty; an OpenAPI document or a protocol was expected.")
    if start.startswith("<"):
        kind = "an HTML page" if "<html" in start or "<!doctype html" in start else "XML"
        raise SourceUnavailable(
            f"{where} is {kind}, not a JSON or YAML document; "
            "give the address of the document itself, which often ends in /openapi.json or /swagger.json."
        )
    try:
        return json.loads(text)
    except RecursionError:
        raise SourceUnavailable(f"{where} is nested too deeply to be read.") from None
    except ValueError as error:
        if start.startswith(("{", "[")):
            json_error: ValueError | None = error
        else:
            json_error = None
    return _yaml(text, where, json_error)


def _read(location: str) -> bytes:
    path = Path(location).expanduser()
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SourceUnavailable(_too_large(location))
        with path.open("rb") as file:
            body = file.read(MAX_BYTES + 1)  # a device or pipe has no size to look at
    except FileNotFoundError:
        raise SourceUnavailable(f"there is no file {location!r}; check the path.") from None
    except IsADirectoryError:
        raise SourceUnavailable(f"{location!r} is a folder, and a document was expected.") from None
    except (OSError, ValueError) as error:
        raise SourceUnavailable(f"{location!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    if len(body) > MAX_BYTES:
        raise SourceUnavailable(_too_large(location))
    return body


def _download(url: str, timeout_seconds: float) -> bytes:
    import requests
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    # netrc would send the user's password to whatever host a source names.
    def no_netrc(request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request

    deadline = time.monotonic() + timeout_seconds
    here = url
    try:
        for _ in range(_MAX_REDIRECTS + 1):
            with requests.get(
                here,
                timeout=timeout_seconds,
                stream=True,
                auth=no_netrc,
                allow_redirects=False,
                headers={"Accept": "application/json, application/yaml;q=0.9, */*;q=0.5"},
            ) as response:
                if not response.is_redirect:
                    _check_status(url, response)
                    return _body(url, response, deadline, timeout_seconds)
                here = _redirected(url, urljoin(here, response.headers["Location"]))
        raise SourceUnavailable(f"{url} redirects more than {_MAX_REDIRECTS} times; check the address.")
    except (requests.Timeout, ReadTimeoutError):
        raise SourceUnavailable(_too_slow(url, timeout_seconds)) from None
    except requests.exceptions.SSLError as error:
        raise SourceUnavailable(f"{url} has no certificate that is trusted here: {_cause(error)}.") from error
    except requests.ConnectionError as error:
        raise SourceUnavailable(f"{url} does not answer: {_cause(error)}; is the service running?") from error
    except (requests.RequestException, HTTPError, ValueError) as error:
        raise SourceUnavailable(f"{url} cannot be fetched: {_cause(error)}.") from error


def _redirected(url: str, to: str) -> str:
    """Where the document is said to be, if that is its own host: a document is believed about that host alone."""
    if not is_url(to) or not covers(home_of(url), home_of(to)):
        raise SourceUnavailable(
            f"{url} redirects to {to}, which is another host; give that address itself if you trust it."
        )
    return to


def _body(url: str, response: requests.Response, deadline: float, timeout_seconds: float) -> bytes:
    # `timeout` bounds each wait for bytes, so a trickle needs a deadline, and an endless body a cap. `read1` gives what
    # has come; every other way of reading waits for a whole chunk.
    chunks, size = [], 0
    while chunk := response.raw.read1(65_536, decode_content=True):
        size += len(chunk)
        if size > MAX_BYTES:
            raise SourceUnavailable(_too_large(url))
        if time.monotonic() > deadline:
            raise SourceUnavailable(_too_slow(url, timeout_seconds))
        chunks.append(chunk)
    return b"".join(chunks)


def _check_status(url: str, response: requests.Response) -> None:
    status = f"{response.status_code} {response.reason or ''}".strip()
    match response.status_code:
        case 200 | 203:
            return
        case 429 | 503:
            wait = response.headers.get("Retry-After", "")
            pause = f" in {wait} s" if wait.isdigit() else " later"
            raise SourceUnavailable(f"{url} answered {status}; try again{pause}.")
        case 401 | 403:
            raise SourceUnavailable(
                f"{url} answered {status}; download the document yourself and give the file "
                f"as 'FILE@{'/'.join(url.split('/')[:3])}'."
            )
        case code if code >= 500:
            raise SourceUnavailable(f"{url} answered {status}: the service has failed; try again later.")
        case _:
            raise SourceUnavailable(f"{url} answered {status}; check the address.")


def _cause(error: BaseException) -> str:
    """The innermost reason, without urllib3's object names."""
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    text = str(reason or error)
    return text.split(": ", 1)[-1].rstrip(".") if text.startswith(("<", "HTTP")) else text.rstrip(".")


def _too_large(location: str) -> str:
    return f"{location} is larger than {MAX_BYTES // 1_000_000} MB; give a document with the operations you need."


def _too_slow(url: str, timeout_seconds: float) -> str:
    return f"{url} did not send a whole document within {timeout_seconds:g} s; try again, or give a file."


def _yaml(text: str, where: str, json_error: ValueError | None) -> Json:
    import yaml

    try:
        _check_size(text, where)
        value: Json = yaml.load(text, Loader=_loader())  # noqa: S506 -- a subclass of SafeLoader
    except (yaml.YAMLError, ValueError) as error:
        problem = str(json_error) if json_error is not None else _yaml_problem(error)
        raise SourceUnavailable(f"{where} is neither JSON nor YAML: {problem}.") from None
    except RecursionError:
        raise SourceUnavailable(f"{where} is nested too deeply to be read.") from None
    return value


def _check_size(text: str, where: str) -> None:
    """Refuse what would grow without bound as objects: the parser's events cost little and come one by one.

    A few lines of aliases can stand for billions of values, an alias can hold itself, and the C parser does not
    survive deep nesting.
    """
    import yaml

    sizes: dict[str, int] = {}  # by anchor, aliases written out
    open_nodes: list[tuple[str | None, int]] = []  # (anchor, values seen before it)
    total = 0
    for event in yaml.parse(text, Loader=_loader()):
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


def _yaml_problem(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or str(error)
    return f"{problem} (line {mark.line + 1})" if mark else problem


def _loader() -> type:
    """SafeLoader, in C where there is one, that leaves dates as text: JSON knows none."""
    import yaml

    base: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {
        first: [(tag, pattern) for tag, pattern in known if tag != "tag:yaml.org,2002:timestamp"]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return type("_TextDates", (base,), {"yaml_implicit_resolvers": resolvers})
