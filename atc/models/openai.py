"""Any OpenAI-compatible endpoint as an `Ask`: chat completions, adapted to what the endpoint accepts."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from atc.models.openai_errors import detail, is_transient, sentence, wait_seconds
from protocols.ask import Completion, Message
from protocols.errors import ModelUnavailable
from protocols.jsontypes import Json, JsonObject

if TYPE_CHECKING:
    from openai import OpenAI

DEFAULT_MODEL = "gpt-5-mini"
_OPENAI_URL = "https://api.openai.com/v1"
_DUMMY_KEY = "none"
"""Sent where no key is set: the client insists on one, and servers on one's own machine ignore it."""
_REASONING_TOKENS = 8192
"""Added to the limit of a model that spent all of it on thoughts that it does not show."""


def configured() -> bool:
    """Whether the environment names an endpoint: OPENAI_API_KEY or OPENAI_BASE_URL is set."""
    return bool(os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"))


class OpenAIModel:
    """A model behind an OpenAI-compatible endpoint.

    `api_key` and `base_url` default to OPENAI_API_KEY and OPENAI_BASE_URL; one of them must be set. Without `model` an
    endpoint of one's own is asked for its first. `grammar` reaches the endpoint only with `gbnf=True`, for llama.cpp's
    server, which knows that field; else it is left out, and the caller has to check what comes. So it is with a schema
    where the endpoint refuses `response_format`: it is then asked for in words. What is refused once is remembered.

    Raises:
        ModelUnavailable: there is neither a key nor a base URL.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_seconds: float = 120.0,
        max_retries: int = 4,
        prompt_tokens: int = 24_000,
        gbnf: bool = False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._key = api_key or os.environ.get("OPENAI_API_KEY") or ""
        url = base_url or os.environ.get("OPENAI_BASE_URL") or ""
        if not (self._key or url):
            raise ModelUnavailable(
                f"the model {model or DEFAULT_MODEL!r} needs an endpoint: set OPENAI_API_KEY, or OPENAI_BASE_URL for "
                "a server of your own, or use --model local."
            )
        self.url = (url or _OPENAI_URL).rstrip("/")
        self.prompt_tokens = prompt_tokens
        official = urlsplit(self.url).hostname == "api.openai.com"
        self._model = model or (DEFAULT_MODEL if official else None)
        self._timeout_seconds, self._max_retries = timeout_seconds, max_retries
        self._gbnf, self._sleep = gbnf, sleep
        self._client: OpenAI | None = None
        self._limit_name = "max_completion_tokens" if official else "max_tokens"
        self._headroom = 0
        self._refused: set[str] = set()

    @property
    def name(self) -> str:
        """The model's name; asks the endpoint where none was given.

        Raises:
            ModelUnavailable: the endpoint was asked and has none.
        """
        if self._model is None:
            self._model = self._first_model()
        return self._model

    def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = 1024,
    ) -> Completion:
        """Continue `messages`, see `protocols.ask.Ask`."""
        started = time.perf_counter()
        while True:
            body: dict[str, Json] = {"model": self.name, "temperature": temperature, "seed": seed}
            body[self._limit_name] = max_tokens + self._headroom
            if schema is not None:
                body["response_format"] = {
                    "type": "json_schema",
                    "json_schema": {"name": "reply", "schema": dict(schema)},
                }
            elif grammar is not None and self._gbnf:
                body["grammar"] = grammar
            body = {name: value for name, value in body.items() if name not in self._refused}
            in_words = schema if "response_format" not in body else None
            reply = self._accepted(body | {"messages": _wire(messages, in_words)})
            if reply is not None and not self._is_thought_only(reply):
                return self._completion(reply, seconds=time.perf_counter() - started, fenced=in_words is not None)

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _accepted(self, body: dict[str, Json]) -> JsonObject | None:
        """The endpoint's reply, or None when it refused a parameter that the next request will not hold."""
        from openai import BadRequestError, UnprocessableEntityError

        try:
            return self._request("/chat/completions", body)
        except (BadRequestError, UnprocessableEntityError) as error:
            if self._learn(f"{error.param} {detail(error)}" if error.param is None else str(error.param), body):
                return None
            raise ModelUnavailable(self._sentence(error)) from error

    def _learn(self, complaint: str, body: JsonObject) -> bool:
        """Remember the parameter of `body` that a refusal names; False when it names none. Shrinks, so it ends."""
        named = set(re.findall(r"[a-z_]+", complaint))
        if "response_format" in body and named & {"response_format", "json_schema"}:
            self._refused.add("response_format")
        elif "max_tokens" in body and "max_tokens" in named:
            self._limit_name = "max_completion_tokens"
        elif found := named & {"temperature", "seed", "grammar"} & body.keys():
            self._refused |= found
        else:
            return False
        return True

    def _is_thought_only(self, reply: JsonObject) -> bool:
        """Whether the limit was spent before any text; the first time, the limit is raised for good."""
        choice = (reply.get("choices") or [{}])[0]
        empty = not (choice.get("message") or {}).get("content") and choice.get("finish_reason") == "length"
        if not empty or self._headroom:
            return False
        self._headroom = _REASONING_TOKENS
        return True

    def _completion(self, reply: JsonObject, *, seconds: float, fenced: bool) -> Completion:
        choices = reply.get("choices") or []
        message = (choices[0].get("message") or {}) if choices else {}
        text = message.get("content") or message.get("refusal") or ""
        if not text.strip():
            raise ModelUnavailable(
                f"the model {self.name!r} at {self.url} answered with an empty reply; try again or name another model."
            )
        usage = reply.get("usage") or {}
        return Completion(
            text=_unfenced(text) if fenced else text,
            model=self.name,
            input_tokens=usage.get("prompt_tokens") or 0,
            output_tokens=usage.get("completion_tokens") or 0,
            seconds=seconds,
            truncated=choices[0].get("finish_reason") == "length",
        )

    def _first_model(self) -> str:
        from openai import OpenAIError

        try:
            offered = self._request("/models").get("data") or []
        except OpenAIError as error:
            raise ModelUnavailable(self._sentence(error)) from error
        if not offered:
            raise ModelUnavailable(f"the endpoint {self.url} offers no model; load one there or name one with --model.")
        return str(offered[0]["id"])

    def _request(self, path: str, body: dict[str, Json] | None = None) -> JsonObject:
        """One request, repeated while its failure is transient; 400 and 422 are left to the caller."""
        from openai import BadRequestError, OpenAIError, UnprocessableEntityError

        for attempt in range(self._max_retries + 1):
            try:
                return self._parsed(self._send(path, body))
            except (BadRequestError, UnprocessableEntityError):
                raise
            except OpenAIError as error:
                if attempt == self._max_retries or not is_transient(error):
                    raise ModelUnavailable(self._sentence(error)) from error
                self._sleep(wait_seconds(error, attempt))
        raise AssertionError("the last attempt returns or raises")

    def _send(self, path: str, body: dict[str, Json] | None) -> str:
        """The text of the reply to a GET, or to a POST where there is a body."""
        import httpx2
        from openai import OpenAI

        if self._client is None:
            key = self._key or _DUMMY_KEY
            self._client = OpenAI(api_key=key, base_url=self.url, timeout=self._timeout_seconds, max_retries=0)
        if body is None:
            return self._client.get(path, cast_to=httpx2.Response).text
        return self._client.post(path, cast_to=httpx2.Response, body=body).text

    def _parsed(self, text: str) -> JsonObject:
        try:
            reply = json.loads(text)
        except ValueError:
            reply = None
        if isinstance(reply, dict):
            return reply
        kind = "an HTML page" if text.lstrip().startswith("<") else "something that is not a JSON object"
        raise ModelUnavailable(
            f"the endpoint {self.url} answered with {kind}, not with the OpenAI API; correct OPENAI_BASE_URL, "
            "which usually ends in /v1."
        )

    def _sentence(self, error: Any) -> str:
        model = self._model or "its first"
        return sentence(error, url=self.url, model=model, seconds=self._timeout_seconds)


def _wire(messages: Sequence[Message], schema: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """The messages as the API has them, with the schema asked for in words if there is one."""
    wire = [{"role": message.role, "content": message.content} for message in messages]
    if schema is not None:
        wanted = f"\n\nAnswer with JSON alone, valid under this JSON Schema: {json.dumps(schema)}"
        wire[-1] = {**wire[-1], "content": wire[-1]["content"] + wanted}
    return wire


def _unfenced(text: str) -> str:
    """JSON out of the code fence that models put around it when asked in words."""
    found = re.search(r"```(?:json)?\s*\n(.*?)```", text, re.DOTALL)
    return found[1].strip() if found else text
