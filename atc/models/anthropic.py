"""A model behind Anthropic's own API, with the interface `protocols.model.Ask`.

The extra `anthropic` installs the SDK. Prompts are cached: a request marks its end, so that the
next request of a conversation, which begins alike, reads this part from the cache.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from atc.core.parallel import seconds_to_wait
from atc.core.thoughts import remove_thoughts
from atc.models.endpoint import error_text
from atc.models.wire import strip_fence
from protocols.errors import ModelUnavailable, OutOfTime, PromptTooLong
from protocols.model import Completion, Message, Powers
from protocols.schema import as_mapping
from protocols.urls import split_url

URL = "https://api.anthropic.com"
_MAX_BYTES = 8_000_000
_CONTINUE = "Go on exactly where your last message ends. Write only what is missing."
_CACHED = {"type": "ephemeral"}
_TOO_LONG = ("prompt is too long", "too many tokens", "context window", "context limit")


class AnthropicModel:
    """A model of Anthropic's Messages API.

    `api_key` and `base_url` default to ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL. A schema is
    described in the prompt. A temperature that the model refuses is not sent again.

    Raises:
        ModelUnavailable: there is no key, the address is invalid, or the SDK is not installed.
    """

    powers = Powers(parallel=True)

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_seconds: float = 120.0,
        max_retries: int = 4,
        prompt_tokens: int = 24_000,
    ) -> None:
        self.name = model
        self.prompt_tokens = prompt_tokens
        self.url = (base_url or os.environ.get("ANTHROPIC_BASE_URL") or URL).rstrip("/")
        self._key = api_key or os.environ.get("ANTHROPIC_API_KEY") or ""
        if not self._key:
            raise ModelUnavailable(
                f"the model {model!r} needs a key: set ANTHROPIC_API_KEY, or use --model local."
            )
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries
        self._takes_temperature = True
        self._client: Any = None

    def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,  # noqa: ARG002 - no endpoint of this kind takes one
        temperature: float = 0.0,
        seed: int = 0,  # noqa: ARG002 - the API has no seed
        max_tokens: int = 1024,
    ) -> Completion:
        """Return the model's reply to `messages`, see `protocols.model.Ask`.

        An empty reply is asked for again, up to `max_retries` times.
        """
        request = _build_request(messages, schema)
        request |= {"model": self.name, "max_tokens": max_tokens, "cache_control": _CACHED}
        started = time.perf_counter()
        for _ in range(self._max_retries + 1):
            reply = self._send(request, temperature)
            text = _text_of(reply)
            if text.strip() or reply.stop_reason == "max_tokens":
                break
        else:
            raise ModelUnavailable(
                f"the model {self.name!r} at {self.url} answered with an empty reply; try again or"
                " name another model."
            )
        usage = reply.usage
        cached = usage.cache_read_input_tokens or 0
        return Completion(
            text=text if schema is None else strip_fence(text),
            model=self.name,
            input_tokens=usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0),
            output_tokens=usage.output_tokens,
            seconds=time.perf_counter() - started,
            truncated=reply.stop_reason == "max_tokens",
            cached_tokens=cached,
        )

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _send(self, request: Mapping[str, Any], temperature: float) -> Any:
        """Send a request, and once more without a temperature if the model refuses this one.

        Raises:
            OutOfTime: the reply did not come in the time that is left for the run.
            ModelUnavailable: any other failure.
        """
        client = self._open_client()  # says so if the SDK is not installed
        from anthropic import AnthropicError, BadRequestError

        seconds = seconds_to_wait(self._timeout_seconds)
        is_last = seconds < self._timeout_seconds
        client = client.with_options(
            timeout=seconds, max_retries=0 if is_last else self._max_retries
        )
        own = {"temperature": temperature} if self._takes_temperature else {}
        try:
            return client.messages.create(**request, extra_body=own)
        except BadRequestError as error:
            if own and "temperature" in error.message:
                self._takes_temperature = False
                return self._send(request, temperature)
            raise self._explain(error) from error
        except AnthropicError as error:
            raise self._explain(error, is_last=is_last) from error

    def _open_client(self) -> Any:
        if self._client is not None:
            return self._client
        try:
            import anthropic
            import httpx2
        except ImportError as error:
            raise ModelUnavailable(
                f"the model {self.name!r} needs the extra 'anthropic': pip install"
                " 'automatic-tool-chain[anthropic]'."
            ) from error
        # Imported late, since httpx2 is slow to import.
        from atc.models.exchange import ModelTransport

        try:
            origin, _ = split_url(self.url)
        except ValueError as error:
            raise ModelUnavailable(
                "ANTHROPIC_BASE_URL is no http(s) URL of a plain host without a user name; correct"
                " it."
            ) from error
        exchange = httpx2.Client(transport=ModelTransport(origin, max_bytes=_MAX_BYTES))
        self._client = anthropic.Anthropic(
            api_key=self._key, base_url=self.url, http_client=exchange
        )
        return self._client

    def _explain(self, error: Any, *, is_last: bool = False) -> ModelUnavailable:
        """Return the error for the user that explains an error of the SDK, without the key."""
        from anthropic import APITimeoutError

        reason = error_text(getattr(error, "body", None) or str(error), key=self._key)
        endpoint = f"the model endpoint {self.url}"
        status = getattr(error, "status_code", None)
        if isinstance(error, APITimeoutError):
            if is_last:
                return OutOfTime(f"{endpoint} gave no answer in the time that was left.")
            within = f"within {self._timeout_seconds:g} s"
            return ModelUnavailable(f"{endpoint} gave no answer {within}; try again later.")
        if status is None:
            return ModelUnavailable(f"{endpoint} cannot be used: {reason}; check its address.")
        said = f"(HTTP {status}: {reason})"
        if status in (401, 403):
            return ModelUnavailable(
                f"{endpoint} refuses the key {said}; set ANTHROPIC_API_KEY to a valid one."
            )
        if status == 404:
            return ModelUnavailable(
                f"{endpoint} has no model {self.name!r} {said}; name one that it has with --model."
            )
        if status in (400, 413) and any(words in reason.lower() for words in _TOO_LONG):
            return PromptTooLong(f"{endpoint} refuses the prompt {said}; offer fewer tools.")
        if status == 429 or status >= 500:
            return ModelUnavailable(f"{endpoint} takes no more requests now {said}; wait.")
        return ModelUnavailable(f"{endpoint} refuses the request {said}; try another model.")


def _build_request(messages: Sequence[Message], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the messages of a conversation in the format of the API."""
    turns = [
        {"role": message.role, "content": message.content}
        for message in messages
        if message.role != "system" and message.content
    ]
    if turns and turns[-1]["role"] == "assistant":
        turns[-1]["content"] = turns[-1]["content"].rstrip()
        turns.append({"role": "user", "content": _CONTINUE})
    if schema is not None:
        turns[-1]["content"] += (
            f"\n\nAnswer with JSON alone, valid under this JSON Schema: {json.dumps(schema)}"
        )
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    shown = [{"type": "text", "text": system, "cache_control": _CACHED}] if system else []
    return {"messages": turns, **({"system": shown} if shown else {})}


def _text_of(reply: Any) -> str:
    """Return the text of a reply, without thoughts. Parts that are no text are left out."""
    parts = [part.text for part in reply.content if part.type == "text"]
    if not parts:
        calls = [as_mapping(part.input) for part in reply.content if part.type == "tool_use"]
        codes = [call["code"] for call in calls if isinstance(call.get("code"), str)]
        parts = [f"```python\n{code}\n```" for code in codes[:1]]
    return remove_thoughts("".join(parts)).text
