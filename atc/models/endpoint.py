"""Requests to an OpenAI-compatible endpoint: sent with its client, repeated while a failure is transient."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from atc.models.openai_errors import is_transient, key_problem, sentence, wait_seconds
from protocols.errors import ModelUnavailable, OutOfTime
from protocols.jsontypes import Json, loads
from protocols.waiting import patience

if TYPE_CHECKING:
    from openai import OpenAI

_DUMMY_KEY = "none"
"""Sent where no key is set: the client insists on one, and servers on one's own machine ignore it."""


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """An address of the API. `url` ends where `/chat/completions` follows; `model` is named in messages of errors."""

    url: str
    key: str = ""
    timeout_seconds: float = 120.0
    max_retries: int = 4
    sleep: Callable[[float], None] = time.sleep
    model: str | None = None
    _client: OpenAI | None = field(default=None, init=False)

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
            openai.BadRequestError, openai.UnprocessableEntityError: the endpoint refuses this body.
            OutOfTime: it did not come in the time that is left, see `protocols.waiting`.
            ModelUnavailable: any other failure, one that there is no time left to try again after among them.
        """
        from openai import BadRequestError, OpenAIError, UnprocessableEntityError

        for attempt in range(self.max_retries + 1):
            try:
                return self._parsed(self._send(path, body))
            except (BadRequestError, UnprocessableEntityError):
                raise
            except OpenAIError as error:
                seconds = wait_seconds(error, attempt)
                if attempt == self.max_retries or not is_transient(error) or patience(seconds) < seconds:
                    raise ModelUnavailable(self.sentence(error)) from error
                self.sleep(seconds)
        raise AssertionError("the last attempt returns or raises")

    def request_at_root(self, path: str, body: dict[str, Json] | None = None) -> dict[str, Json]:
        """The same for a path of the server that is not of this API."""
        return self.request(self.url.removesuffix("/v1") + path, body)

    def found(self, path: str, body: dict[str, Json] | None = None) -> dict[str, Json]:
        """The reply of `request_at_root`, or {} where nothing is there or it refuses.

        Raises:
            ModelUnavailable: it cannot be told, the endpoint is down for instance.
        """
        from openai import APIStatusError

        try:
            return self.request_at_root(path, body)
        except APIStatusError:
            return {}
        except OutOfTime:
            raise
        except ModelUnavailable as error:
            cause = error.__cause__
            if cause is None or (isinstance(cause, APIStatusError) and not is_transient(cause)):
                return {}
            raise

    def tried(self, path: str, body: dict[str, Json] | None = None) -> dict[str, Json]:
        """The same, or {} whatever goes wrong but the time: a proxy may not reach there."""
        try:
            return self.found(path, body)
        except OutOfTime:
            raise
        except ModelUnavailable:
            return {}

    def owners(self) -> set[str]:
        """Whom the endpoint says that its models are owned by, in small letters; servers put their own name there."""
        path = self.url.removeprefix(self.url.removesuffix("/v1")) + "/models"
        offered = self.found(path).get("data") or []
        return {str(entry.get("owned_by", "")).lower() for entry in offered if isinstance(entry, dict)}

    def first_model(self) -> str:
        """The first of the endpoint's models."""
        from openai import OpenAIError

        try:
            offered = self.request("/models").get("data") or []
        except OpenAIError as error:
            raise ModelUnavailable(self.sentence(error)) from error
        if not offered:
            raise ModelUnavailable(f"the endpoint {self.url} offers no model; load one there or name one with --model.")
        return str(offered[0]["id"])

    def sentence(self, error: Any) -> str:
        """What a failure means, and the next step."""
        return sentence(error, url=self.url, model=self.model or "its first", seconds=self.timeout_seconds)

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _send(self, path: str, body: dict[str, Json] | None) -> str:
        import httpx2
        from openai import APITimeoutError, OpenAI

        if self._client is None:
            key = self.key or _DUMMY_KEY
            if problem := key_problem(key, self.url):
                raise ModelUnavailable(problem)
            self._client = OpenAI(api_key=key, base_url=self.url, timeout=self.timeout_seconds, max_retries=0)
        seconds = patience(self.timeout_seconds)
        try:
            if body is None:
                return self._client.get(path, cast_to=httpx2.Response, options={"timeout": seconds}).text
            return self._client.post(path, cast_to=httpx2.Response, body=body, options={"timeout": seconds}).text
        except APITimeoutError as error:
            if seconds < self.timeout_seconds:
                raise OutOfTime(f"the model endpoint {self.url} gave no answer in the time that was left.") from error
            raise

    def _parsed(self, text: str) -> dict[str, Json]:
        try:
            reply = loads(text)
        except (ValueError, RecursionError):
            reply = None
        if isinstance(reply, dict):
            return reply
        kind = "an HTML page" if text.lstrip().startswith("<") else "something that is not a JSON object"
        raise ModelUnavailable(
            f"the endpoint {self.url} answered with {kind}, not with the OpenAI API; correct OPENAI_BASE_URL, "
            "which usually ends in /v1."
        )
