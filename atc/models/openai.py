"""A model behind any OpenAI-compatible endpoint, with the interface `protocols.model.Ask`.

Requests are chat completions, and have only fields that the endpoint accepts.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from atc.models import lark
from atc.models.dialects import (
    CONTINUING_FIELDS,
    GRAMMAR_FIELDS,
    LLAMA,
    Dialect,
    dialect_of,
    fits_strict,
)
from atc.models.endpoint import OPENAI_URL, Endpoint, RequestRefused, error_text
from atc.models.wire import (
    UnexpectedForm,
    completion_of,
    drop_empty_prefill,
    is_continuation,
    is_cut_before_text,
    request_continuation,
    strip_fence,
    to_api_messages,
)
from protocols.errors import ModelUnavailable
from protocols.model import Completion, Message, Powers
from protocols.schema import Json, JsonObject, items_of_type

DEFAULT_MODEL = "gpt-5-mini"
_REASONING_TOKENS = 8192
"""Number of tokens that is added to the limit if a model spends the whole limit on reasoning."""
_OPTIONAL = GRAMMAR_FIELDS | CONTINUING_FIELDS | {"response_format", "temperature", "seed"}
"""Request fields that are dropped if an endpoint refuses them."""


def is_configured() -> bool:
    """Return True if OPENAI_API_KEY or OPENAI_BASE_URL configures an endpoint."""
    return bool(os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"))


class OpenAIModel:
    """A model behind an OpenAI-compatible endpoint.

    `api_key` and `base_url` default to OPENAI_API_KEY and OPENAI_BASE_URL; one of them must be set.
    If `model` is None, it is the first model that the endpoint lists, or `DEFAULT_MODEL` at OpenAI.
    The kind of endpoint is detected when a grammar or a continuation is first needed (see
    `dialects.py`). A schema that the endpoint refuses is described in the prompt instead. A
    parameter that the endpoint has refused is not sent again.

    Raises:
        ModelUnavailable: neither a key nor a base URL is set.
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
    ) -> None:
        key = api_key or os.environ.get("OPENAI_API_KEY") or ""
        url = base_url or os.environ.get("OPENAI_BASE_URL") or ""
        if not (key or url):
            raise ModelUnavailable(
                f"the model {model or DEFAULT_MODEL!r} needs an endpoint: set OPENAI_API_KEY, or"
                " OPENAI_BASE_URL for a server of your own, or use --model local."
            )
        self.url = (url or OPENAI_URL).rstrip("/")
        self.prompt_tokens = prompt_tokens
        self._endpoint = Endpoint(
            url=self.url,
            key=key,
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
            model=model,
        )
        official = self._endpoint.is_official
        self._endpoint.model = model or (DEFAULT_MODEL if official else None)
        self._limit_name = "max_completion_tokens" if official else "max_tokens"
        self._headroom = 0
        self._known: Dialect | None = None
        self._refused: set[str] = set()

    @property
    def name(self) -> str:
        """The model's name. If the caller gave none, it is the first one that the endpoint lists.

        Raises:
            ModelUnavailable: the endpoint lists no model, or cannot be reached.
        """
        if self._endpoint.model is None:
            self._endpoint.model = self._endpoint.first_model()
        return self._endpoint.model

    @property
    def powers(self) -> Powers:
        """The constraints on a reply that the endpoint can enforce and has not refused.

        The first access sends requests to the endpoint.

        Raises:
            ModelUnavailable: the endpoint cannot be reached.
        """
        known = self._dialect.powers
        refused = self._refused
        return Powers(
            schema=known.schema and "response_format" not in refused,
            strict=known.strict,
            lark=known.lark and not refused & GRAMMAR_FIELDS,
            continues=known.continues and not refused & CONTINUING_FIELDS,
            parallel=True,
        )

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
        """Return the model's reply to `messages`, see `protocols.model.Ask`.

        `grammar` is ignored if the endpoint does not support grammars.
        """
        options: dict[str, Json] = {"temperature": temperature, "seed": seed}
        if schema is not None:
            wanted: dict[str, Json] = {"name": "reply", "schema": dict(schema)}
            if self._endpoint.is_official and fits_strict(schema):
                wanted["strict"] = True
            options["response_format"] = {"type": "json_schema", "json_schema": wanted}
        elif grammar is not None and self.powers.lark:
            options |= self._dialect.grammar(lark.require_compilable(grammar))
        return self._complete(messages, options, max_tokens=max_tokens)

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        self._endpoint.close()

    def _complete(
        self, messages: Sequence[Message], options: Mapping[str, Json], *, max_tokens: int
    ) -> Completion:
        """Request a completion with those of the `options` that the endpoint accepts.

        If the endpoint refuses a parameter, the request is repeated without this parameter.
        """
        messages = drop_empty_prefill(messages)
        started = time.perf_counter()
        completion = None
        while completion is None:
            body = self._build_body(messages, options, max_tokens=max_tokens)
            in_words = _schema_in_words(options, body)
            reply = self._request_completion(
                body | {"messages": to_api_messages(messages, in_words)}
            )
            if reply is not None:
                completion = self._read_reply(reply, seconds=time.perf_counter() - started)
        assert reply is not None
        text = completion.text if in_words is None else strip_fence(completion.text)
        if is_continuation(messages):
            if not self._is_rendered_by_llama and not body.keys() & CONTINUING_FIELDS:
                text = text.removeprefix(messages[-1].content)  # the model repeated those words
        elif not text.strip() and not body.keys() & GRAMMAR_FIELDS:
            raise self._explain_empty_reply(reply)
        return replace(completion, text=text)

    def _build_body(
        self, messages: Sequence[Message], options: Mapping[str, Json], *, max_tokens: int
    ) -> dict[str, Json]:
        """Return the body of a request without the messages.

        Fields that the endpoint has refused are left out.
        """
        continuing = (is_continuation(messages) and self._dialect.continuing) or {}
        body = {
            "model": self.name,
            self._limit_name: max_tokens + self._headroom,
            **options,
            **continuing,
        }
        return {name: value for name, value in body.items() if name not in self._refused}

    def _read_reply(self, reply: dict[str, Json], *, seconds: float) -> Completion | None:
        """Return the completion in a reply, or None if the request must be sent again.

        It must be sent again if hidden reasoning used up the token limit. The limit of all later
        requests is then raised, but only once.
        """
        try:
            if is_cut_before_text(reply) and not self._headroom:
                self._headroom = _REASONING_TOKENS
                return None
            return completion_of(reply, model=self.name, seconds=seconds)
        except UnexpectedForm as error:
            raise ModelUnavailable(
                f"the endpoint {self.url} answered in another form than the chat completions of"
                " the OpenAI API; correct OPENAI_BASE_URL, or use --model local."
            ) from error

    def _explain_empty_reply(self, reply: dict[str, Json]) -> ModelUnavailable:
        parts = (reply, *items_of_type(reply.get("choices"), dict))
        failed = next((one for one in parts if one.get("error")), None)
        what = "an empty reply"
        if failed:
            what = f"an error ({error_text(failed, key=self._endpoint.key)})"
        return ModelUnavailable(
            f"the model {self.name!r} at {self.url} answered with {what}; try again or name"
            " another model."
        )

    @property
    def _dialect(self) -> Dialect:
        """The kind of endpoint, such as vLLM, which decides how replies are constrained.

        It is detected on first use.
        """
        if self._known is None:
            self._known = dialect_of(self._endpoint, self.name)
        return self._known

    @property
    def _is_rendered_by_llama(self) -> bool:
        return self._dialect.name == LLAMA.name and self._dialect.powers.continues

    def _request_completion(self, body: dict[str, Json]) -> dict[str, Json] | None:
        """Return the endpoint's reply, or None if it refused a parameter.

        Later requests are then sent without this parameter.
        """
        try:
            if body["messages"][-1]["role"] == "assistant" and self._is_rendered_by_llama:
                return request_continuation(self._endpoint.request_at_root, body)
            return self._endpoint.request("/chat/completions", body)
        except RequestRefused as refused:
            if self._learn(refused, body):
                return None
            raise ModelUnavailable(str(refused)) from refused

    def _learn(self, refused: RequestRefused, body: Mapping[str, Json]) -> bool:
        """Record which parameters in the request `body` the endpoint refused.

        They are not sent again. Return False if the endpoint's error message names no parameter
        that can be left out. Otherwise there are fewer parameters next time, so requests are not
        repeated endlessly.
        """
        named = set(
            re.findall(r"[a-z_]+", refused.field if refused.field is not None else refused.detail)
        )
        if "max_tokens" in body and "max_tokens" in named:
            self._limit_name = "max_completion_tokens"
            return True
        if "json_schema" in named:
            named.add("response_format")
        found = named & _OPTIONAL & body.keys()
        # `strict` may be refused for a keyword of this schema alone: send this schema again without
        # it, but the next one with it.
        if "response_format" in found and body["response_format"]["json_schema"].pop(
            "strict", None
        ):
            return True
        self._refused |= found | (CONTINUING_FIELDS if found & CONTINUING_FIELDS else set())
        return bool(found)


def _schema_in_words(options: Mapping[str, Json], body: Mapping[str, Json]) -> JsonObject | None:
    """Return the JSON Schema that must be described in the prompt, or None if none must be.

    It is the schema in `options`, if the endpoint refuses schemas, so that `body` does not contain
    it.
    """
    form = options.get("response_format")
    if not form or "response_format" in body:
        return None
    schema: JsonObject = form["json_schema"]["schema"]
    return schema
