"""Requests to an OpenAI-compatible endpoint, sent and repeated by its client, and what its failures mean."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from atc.side_by_side import patience
from protocols.errors import ModelUnavailable, OutOfTime
from protocols.schema import Json, loads

OPENAI_URL = "https://api.openai.com/v1"
_DUMMY_KEY = "none"
"""Sent where no key is set: the client insists on one, and servers on one's own machine ignore it."""
_REFUSALS = (400, 422)


class Refused(Exception):
    """The endpoint refuses what it was sent (HTTP 400 or 422). `field` is the parameter that it names, if it does."""

    def __init__(self, error: Any, message: str) -> None:
        super().__init__(message)
        self.field: str | None = getattr(error, "param", None)
        self.detail = detail(error)


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """An address of the API. `url` ends where `/chat/completions` follows; `model` is named in messages of errors.

    The client repeats a request that failed for a reason that may pass `max_retries` times, and waits as long as the
    endpoint asks or half a second, one, two … Each try has `timeout_seconds`.
    """

    url: str
    key: str = ""
    timeout_seconds: float = 120.0
    max_retries: int = 4
    model: str | None = None
    otherwise: str = "use --model local"
    """What to do without this endpoint."""
    _client: Any = field(default=None, init=False)

    @property
    def is_official(self) -> bool:
        """Whether it is OpenAI's own."""
        try:
            return urlsplit(self.url).hostname == "api.openai.com"
        except ValueError:
            raise ModelUnavailable(f"OPENAI_BASE_URL is {self.url!r}, which is no address; correct it.") from None

    def request(self, path: str, body: dict[str, Json] | None = None) -> dict[str, Json]:
        """The reply to a GET, or to a POST where there is a body. `path` follows the endpoint's URL, or is a URL.

        Raises:
            Refused: the endpoint refuses this body.
            OutOfTime: it did not come in the time that is left, see `atc.side_by_side`. Where less than one time-out
                is left, nothing is tried again.
            ModelUnavailable: any other failure.
        """
        import httpx2
        from openai import APITimeoutError, OpenAIError

        seconds = patience(self.timeout_seconds)
        last = seconds < self.timeout_seconds
        options = {"timeout": seconds, "max_retries": 0 if last else self.max_retries}
        client = self._opened()
        send = client.get if body is None else partial(client.post, body=body)
        try:
            return self._parsed(send(path, cast_to=httpx2.Response, options=options).text)
        except OpenAIError as error:
            if last and isinstance(error, APITimeoutError):
                raise OutOfTime(f"the model endpoint {self.url} gave no answer in the time that was left.") from error
            sentence = self._sentence(error)
            if getattr(error, "status_code", None) in _REFUSALS:
                raise Refused(error, sentence) from error
            raise ModelUnavailable(sentence) from error

    def request_at_root(self, path: str, body: dict[str, Json] | None = None) -> dict[str, Json]:
        """The same for a path of the server that is not of this API."""
        return self.request(self.url.removesuffix("/v1") + path, body)

    def probe(self, path: str, body: dict[str, Json] | None = None) -> dict[str, Json]:
        """The reply of `request_at_root`, or {} where nothing of this kind is there.

        Raises:
            ModelUnavailable: it cannot be told, the endpoint is down for instance.
        """
        try:
            return self.request_at_root(path, body)
        except Refused:
            return {}
        except ModelUnavailable as error:
            if error.__cause__ is None or 400 <= (getattr(error.__cause__, "status_code", None) or 500) < 429:
                return {}
            raise

    def first_model(self) -> str:
        """The first of the endpoint's models."""
        offered = self.request("/models").get("data") or []
        if not offered:
            raise ModelUnavailable(f"the endpoint {self.url} offers no model; load one there or name one with --model.")
        return str(offered[0]["id"])

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _opened(self) -> Any:
        from openai import OpenAI

        if self._client is None:
            if not self.key.isascii() or (self.key and not self.key.isprintable()):  # the client would quote the key
                raise ModelUnavailable(
                    f"the key for the model endpoint {self.url} holds a character that no key has, such as a line end; "
                    "set OPENAI_API_KEY to a valid one."
                )
            self._client = OpenAI(api_key=self.key or _DUMMY_KEY, base_url=self.url)
        return self._client

    def _sentence(self, error: Any) -> str:
        """What a failure of the client means, and the next step."""
        from openai import APIConnectionError, APITimeoutError

        endpoint, status = f"the model endpoint {self.url}", getattr(error, "status_code", None)
        model, otherwise = self.model or "its first", self.otherwise
        if status is None:
            if isinstance(error, APITimeoutError):
                within = f"within {self.timeout_seconds:g} s"
                return f"{endpoint} gave no answer {within}; try again, ask a faster model, or {otherwise}."
            if isinstance(error, APIConnectionError):
                cause = _line(str(error.__cause__ or error))
                return f"{endpoint} cannot be reached ({cause}); start it, correct its address, or {otherwise}."
            return f"{endpoint} failed: {_line(str(error))}; try again, or {otherwise}."
        said = f"(HTTP {status}: {detail(error)})"
        if status in (401, 403):
            return f"{endpoint} refuses the key {said}; set OPENAI_API_KEY to a valid one."
        if status == 404:
            return (
                f"{endpoint} has no model {model!r} or is no such API {said}; name a model that it has with --model, "
                "or correct OPENAI_BASE_URL, which usually ends in /v1."
            )
        if status == 429 or status >= 500:
            state, then = ("takes no more requests now", " or see to its quota") if status == 429 else ("fails", "")
            return f"{endpoint} {state} {said}; wait{then}, or {otherwise}."
        return f"{endpoint} refuses the request to {model!r} {said}; try another model."

    def _parsed(self, text: str) -> dict[str, Json]:
        try:
            reply = loads(text)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            raise ModelUnavailable(
                f"the endpoint {self.url} answered with no JSON object, so it is not the OpenAI API; correct "
                "OPENAI_BASE_URL, which usually ends in /v1."
            )
        return reply


def detail(error: Any) -> str:
    """The endpoint's own words, one short line, without the key that it may quote."""
    text = error.response.text
    try:
        body = json.loads(text)
    except ValueError:
        return "an HTML page" if text.lstrip().startswith("<") else _line(text) or "no text"
    return told(body, key=error.request.headers.get("authorization", "").removeprefix("Bearer "))


def told(body: Any, *, key: str) -> str:
    """The error in the body of a reply, as `detail` gives it."""
    said: Any = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(said, dict):
        said = said.get("message") or said
    return _line(str(said).replace(key or "\0", "…"))


def _line(text: str) -> str:
    """At most 200 printable characters on one line."""
    return re.sub(r"[^\x20-\x7e\xa0-\U0010ffff]", "", " ".join(text.split()))[:200].rstrip(".")
