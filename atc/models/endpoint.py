"""Sends requests to an OpenAI-compatible endpoint, repeats failed ones, and explains errors."""

from __future__ import annotations

import json
import math
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from atc.core.parallel import seconds_to_wait
from atc.models import stream, wire
from protocols.errors import ModelUnavailable, OutOfTime
from protocols.response import parse_json
from protocols.schema import Json, items_of_type
from protocols.urls import Origin, split_url

OPENAI_URL = "https://api.openai.com/v1"
_DUMMY_KEY = "none"
"""Key that is sent if none is set: the OpenAI client requires a key, and local servers ignore it.
"""
_REFUSALS = (400, 413, 422)
_UNSUPPORTED = re.compile(r"(?i)\b(?:system|roles?|stream)\b.*\b(?:support|must|only)")
"""What a server says that refuses a request with a status that usually means a failure."""
_PASSING = (408, 409, 429)
"""HTTP status codes below 500 that mean a temporary failure, after which a request is repeated."""
_SHORTEST_SECRET = 12
"""API keys of at least this many characters are removed from replies. Shorter keys are ordinary
words for local servers, such as `none` or `test`.
"""
_LONGEST_WAIT = 120.0
"""If an endpoint asks to wait for more seconds than this, the request is not repeated."""


_TOO_LONG = re.compile(
    r"context.{0,12}(?:length|window|size)|maximum.{0,30}tokens|too many (?:input )?tokens"
    r"|(?:prompt|input)\w* (?:is|are) too long|exceed.{0,30}(?:context|tokens)",
    re.IGNORECASE | re.DOTALL,
)
"""What an endpoint says about a prompt that does not fit into the model's context."""
_TOKENS = re.compile(r"\b[0-9]{3,8}\b")


class RequestRefused(Exception):
    """The endpoint refused a request (HTTP 400, 413 or 422).

    `field` is the refused parameter, or None if the reply names none. `detail` is the endpoint's
    own error message.
    """

    def __init__(self, error: Any, message: str) -> None:
        super().__init__(message)
        named = getattr(error, "param", None)
        self.field = named if isinstance(named, str) else None
        self.detail = detail(error)

    @property
    def is_too_long(self) -> bool:
        """True if the prompt does not fit into the model's context."""
        return _TOO_LONG.search(self.detail) is not None

    @property
    def fitting_share(self) -> float | None:
        """The part of the prompt that would fit, or None if the endpoint gives no two numbers.

        The smallest number in its message is taken for the limit, and the greatest for the request.
        """
        numbers = [int(number) for number in _TOKENS.findall(self.detail.replace(",", ""))]
        return min(numbers) / max(numbers) if len(set(numbers)) > 1 else None


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """The address of an OpenAI-compatible API, with the rules for requests to it.

    `url` is the part before `/chat/completions`. `model` is named in error messages. A request
    that failed temporarily is repeated up to `max_retries` times. The wait before each repetition
    is the one that the endpoint asks for, or else half a second, then one second, two and so on. In
    each attempt, the reply must be complete after `timeout_seconds`, and have at most `max_bytes`
    after decompression. Redirects to another origin are not followed.
    """

    url: str
    key: str = ""
    timeout_seconds: float = 120.0
    max_retries: int = 4
    max_bytes: int = 8_000_000
    model: str | None = None
    fallback_advice: str = "use --model local"
    """What the user can do without this endpoint, for the end of error messages."""
    _client: Any = field(default=None, init=False)

    @property
    def is_official(self) -> bool:
        """True if this is OpenAI's own API."""
        return self._origin.host == "api.openai.com"

    @property
    def _origin(self) -> Origin:
        try:
            return split_url(self.url)[0]
        except ValueError:
            # The error's text would expose a password in the address.
            raise ModelUnavailable(
                "the address of the model endpoint is no http(s) URL of a plain host without a"
                " user name; correct OPENAI_BASE_URL, such as http://localhost:8000/v1."
            ) from None

    def request(self, path: str, body: dict[str, Json] | None = None) -> dict[str, Json]:
        """Send a GET, or a POST if there is a body, and return the JSON reply.

        `path` follows the endpoint's URL, or is a complete URL.

        Raises:
            RequestRefused: the endpoint refuses this body.
            OutOfTime: the reply did not come in the time that is left for the run, see
                `atc.core.parallel`. If less than `timeout_seconds` are left, a failed request is
                not repeated.
            ModelUnavailable: any other failure.
        """
        import httpx2
        from openai import OpenAIError

        client = self._open_client()
        send = client.get if body is None else partial(client.post, body=body)
        try:
            answer = self._send_with_retries(partial(send, path, cast_to=httpx2.Response))
            return self._parse_reply(
                answer.text, is_stream=answer.headers.get("content-type") == stream.MEDIA_TYPE
            )
        except OpenAIError as error:
            # The error message may quote an answer that repeats the key.
            sentence = self._sentence(error).replace(self.key or "\0", "…")
            if _is_refusal(error):
                raise RequestRefused(error, sentence) from error
            raise ModelUnavailable(sentence) from error

    def _send_with_retries(self, send: Callable[..., Any]) -> Any:
        """Send a request until it succeeds, and return the answer.

        A request is repeated only after a temporary failure, at most `max_retries` times. The time
        that is left for the run (see `atc.core.parallel`) limits all attempts together.
        """
        from openai import APITimeoutError, OpenAIError

        tries = 0
        while True:
            seconds = seconds_to_wait(self.timeout_seconds)
            last = seconds < self.timeout_seconds
            try:
                return send(options={"timeout": seconds, "max_retries": 0})
            except OpenAIError as error:
                if last and isinstance(error, APITimeoutError):
                    problem = (
                        f"the model endpoint {self.url} gave no answer in the time that was left."
                    )
                    raise OutOfTime(problem) from error
                wait = _wait_after(error, tries)
                if (
                    last
                    or tries >= self.max_retries
                    or wait is None
                    or wait >= seconds_to_wait(math.inf)
                ):
                    raise
            tries += 1
            time.sleep(wait)

    def wait_before(self, attempt: int) -> None:
        """Wait before the request after `attempt` replies that were empty.

        The second request is sent at once.

        Raises:
            OutOfTime: the time that is left for the run is shorter.
        """
        if attempt < 2:
            return
        wait = _growing_wait(attempt - 2)
        if wait >= seconds_to_wait(math.inf):
            raise OutOfTime(f"the model endpoint {self.url} gave no answer in time.")
        time.sleep(wait)

    def request_at_root(self, path: str, body: dict[str, Json] | None = None) -> dict[str, Json]:
        """Send a request to a path below the server's root, and return the JSON reply.

        Unlike in `request`, the path does not follow the `/v1` of the endpoint's URL. The errors
        are those of `request`.
        """
        return self.request(self.url.removesuffix("/v1") + path, body)

    def probe(self, path: str, body: dict[str, Json] | None = None) -> dict[str, Json]:
        """Send a request to a path below the server's root, and return the JSON reply.

        Return {} if the server does not support the request.

        Raises:
            ModelUnavailable: the endpoint cannot be reached, or it failed temporarily.
        """
        try:
            return self.request_at_root(path, body)
        except RequestRefused:
            return {}
        except ModelUnavailable as error:
            if (
                error.__cause__ is None
                or 400 <= (getattr(error.__cause__, "status_code", None) or 500) < 429
            ):
                return {}
            raise

    def first_model(self) -> str:
        """Return the name of the first model that the endpoint lists.

        Raises:
            ModelUnavailable: the endpoint lists no model, or the request failed.
        """
        offered = [
            entry.get("id") for entry in items_of_type(self.request("/models").get("data"), dict)
        ]
        names = [name for name in offered if isinstance(name, str) and name and _line(name) == name]
        if not names:
            raise ModelUnavailable(
                f"the endpoint {self.url} offers no model; load one there or name one with --model."
            )
        return names[0]

    def close(self) -> None:
        """Close the connections. The next request opens new ones."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _open_client(self) -> Any:
        if self._client is None:
            import httpx2
            from openai import OpenAI

            # Imported late, since httpx2 is slow to import.
            from atc.models.exchange import (
                ModelTransport,
            )

            # The client's error message would quote the key.
            if not self.key.isascii() or (self.key and not self.key.isprintable()):
                raise ModelUnavailable(
                    f"the key for the model endpoint {self.url} holds a character that no key has,"
                    " such as a line end; set OPENAI_API_KEY to a valid one."
                )
            exchange = httpx2.Client(
                transport=ModelTransport(self._origin, max_bytes=self.max_bytes)
            )
            self._client = OpenAI(
                api_key=self.key or _DUMMY_KEY, base_url=self.url, http_client=exchange
            )
        return self._client

    def _sentence(self, error: Any) -> str:
        """Return a sentence that explains an error of the OpenAI client and names the next step."""
        from openai import APIConnectionError, APITimeoutError

        from atc.models.exchange import UnusableReply

        endpoint = f"the model endpoint {self.url}"
        status = getattr(error, "status_code", None)
        model = self.model or "its first"
        otherwise = self.fallback_advice
        if status is None:
            if isinstance(error, APITimeoutError):
                within = f"within {self.timeout_seconds:g} s"
                return (
                    f"{endpoint} gave no answer {within}; try again, ask a faster model, or"
                    f" {otherwise}."
                )
            if isinstance(error.__cause__, UnusableReply):
                problem = _line(str(error.__cause__).partition(";")[0])
                return (
                    f"{endpoint} gave no usable answer: {problem}; correct its address, or"
                    f" {otherwise}."
                )
            if isinstance(error, APIConnectionError):
                cause = _line(str(error.__cause__ or error).partition(";")[0])
                return (
                    f"{endpoint} cannot be reached ({cause}); start it, correct its address, or"
                    f" {otherwise}."
                )
            return f"{endpoint} failed: {_line(str(error))}; try again, or {otherwise}."
        reason = f"(HTTP {status}: {detail(error)})"
        if status in (401, 403):
            return f"{endpoint} refuses the key {reason}; set OPENAI_API_KEY to a valid one."
        if status == 404:
            return (
                f"{endpoint} has no model {model!r} or is no such API {reason}; name a model that"
                " it has with --model, or correct OPENAI_BASE_URL, which usually ends in /v1."
            )
        if status == 429 or status >= 500:
            state, then = (
                ("takes no more requests now", " or see to its quota")
                if status == 429
                else ("fails", "")
            )
            return f"{endpoint} {state} {reason}; wait{then}, or {otherwise}."
        return f"{endpoint} refuses the request to {model!r} {reason}; try another model."

    def _parse_reply(self, text: str, *, is_stream: bool) -> dict[str, Json]:
        """Return the JSON object in a reply's body. The API key is removed if it occurs there.

        If the reply is a stream of events, return the reply that they make up.

        Raises:
            ModelUnavailable: the body is not a JSON object with finite numbers and at most 200
                levels.
        """
        try:
            reply = wire.collect_stream(stream.read_events(text)) if is_stream else parse_json(text)
            if len(self.key) >= _SHORTEST_SECRET and self.key in (
                plain := json.dumps(reply, ensure_ascii=False)
            ):
                reply = parse_json(plain.replace(self.key, "…"))
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise ModelUnavailable(
                f"the endpoint {self.url} answered with no JSON object, so it is not the OpenAI"
                " API; correct OPENAI_BASE_URL, which usually ends in /v1."
            )
        return reply


def _wait_after(error: Any, tries: int) -> float | None:
    """Return the seconds to wait before the next attempt, or None if the failure is permanent."""
    from atc.models.exchange import UnusableReply

    status = getattr(error, "status_code", None)
    is_passing = status is None or status in _PASSING or status >= 500
    if isinstance(error.__cause__, UnusableReply) or not is_passing or _is_refusal(error):
        return None
    headers = {} if status is None else error.response.headers
    for name, divisor in (("retry-after-ms", 1000), ("retry-after", 1)):
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", asked := headers.get(name, "")):
            wanted = float(asked) / divisor
            return wanted if wanted <= _LONGEST_WAIT else None
    return _growing_wait(tries)


def _growing_wait(tries: int) -> float:
    """Return the seconds to wait after a number of failures, at most 8.

    They have a random factor, so that clients do not all repeat their requests at the same moment.
    """
    return float(min(0.5 * 2**tries, 8.0) * random.uniform(0.75, 1.0))  # noqa: S311


def _is_refusal(error: Any) -> bool:
    """Return True if the endpoint refuses the request itself, so that it must be changed.

    Some servers answer with status 500 if the model's template has no system role.
    """
    status = getattr(error, "status_code", None)
    if status in _REFUSALS:
        return True
    return status in (500, 501) and re.search(_UNSUPPORTED, detail(error)) is not None


def detail(error: Any) -> str:
    """Return the endpoint's own error message on one short line, with the key removed."""
    text = error.response.text
    key = error.request.headers.get("authorization", "").removeprefix("Bearer ")
    try:
        body = parse_json(text)
    except ValueError:
        return (
            "an HTML page"
            if text.lstrip().startswith("<")
            else error_text(text, key=key) or "no text"
        )
    return error_text(body, key=key)


def error_text(body: Any, *, key: str) -> str:
    """Return the error message in the body of a reply on one short line, with the key removed."""
    error: Any = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error
    return _line(str(error).replace(key or "\0", "…"))


def _line(text: str) -> str:
    """Reduce a text to at most 200 printable characters on one line."""
    return re.sub(r"[^\x20-\x7e\xa0-\U0010ffff]", "", " ".join(text.split()))[:200].rstrip(".")
