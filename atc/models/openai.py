"""A model behind any OpenAI-compatible endpoint, with the interface `protocols.model.Ask`.

Requests are chat completions, and have only fields that the endpoint accepts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.models import lark
from atc.models.abilities import Abilities, AbilitiesFile
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
    is_final,
    program_in_thoughts,
    request_continuation,
    strip_fence,
    to_api_messages,
)
from protocols.errors import ModelUnavailable, PromptTooLong
from protocols.model import Completion, Message, Powers
from protocols.schema import Json, JsonObject, items_of_type

DEFAULT_MODEL = "gpt-5-mini"
_REASONING_TOKENS = 8192
"""Number of tokens that is added to the limit if a model spends the whole limit on reasoning."""


def is_configured() -> bool:
    """Return True if OPENAI_API_KEY or OPENAI_BASE_URL configures an endpoint."""
    return bool(os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"))


class OpenAIModel:
    """A model behind an OpenAI-compatible endpoint.

    `api_key` and `base_url` default to OPENAI_API_KEY and OPENAI_BASE_URL; one of them must be set.
    If `model` is None, it is the first model that the endpoint lists, or `DEFAULT_MODEL` at OpenAI.
    The kind of endpoint is detected when a grammar or a continuation is first needed (see
    `dialects.py`). A schema that the endpoint refuses is described in the prompt instead. What the
    endpoint has refused is not sent again (see `abilities.py`), also by later processes if
    `memory`, a file, is given. An empty reply is asked for again, up to `max_retries` times.

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
        memory: Path | None = None,
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
        self._max_retries = max_retries
        self._known: Dialect | None = None
        self._memory = None if memory is None else AbilitiesFile(memory)
        self._learned: Abilities | None = None

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
        refused = self._abilities.refused
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

    @property
    def _abilities(self) -> Abilities:
        """What the endpoint accepts, as far as it is known from this process or earlier ones."""
        if self._learned is None:
            known = None if self._memory is None else self._memory.load(self.url, self.name)
            official = "max_completion_tokens" if self._endpoint.is_official else "max_tokens"
            self._learned = known or Abilities(limit_name=official)
        return self._learned

    def _remember(self) -> None:
        if self._memory is not None:
            self._memory.save(self.url, self.name, self._abilities)

    def _complete(
        self, messages: Sequence[Message], options: Mapping[str, Json], *, max_tokens: int
    ) -> Completion:
        """Request a completion with those of the `options` that the endpoint accepts.

        An empty reply is asked for again. If none is better, a program in the hidden thoughts of
        the last reply is taken, because some servers take all text for thoughts.
        """
        messages = drop_empty_prefill(messages)
        started = time.perf_counter()
        usage: list[Completion] = []
        for attempt in range(self._max_retries + 1):
            self._endpoint.wait_before(attempt)
            reply, body = self._request_until_accepted(messages, options, max_tokens)
            said = self._read_reply(reply, seconds=time.perf_counter() - started)
            usage.append(said)
            may_be_empty = is_continuation(messages) or body.keys() & GRAMMAR_FIELDS
            if said.text.strip() or may_be_empty or is_final(reply):
                break
        else:
            said = replace(said, text=program_in_thoughts(reply))
        if not said.text.strip() and not may_be_empty:
            raise self._explain_empty_reply(reply)
        return replace(_sum_usage(usage), text=self._own_text(said.text, messages, options, body))

    def _own_text(
        self,
        text: str,
        messages: Sequence[Message],
        options: Mapping[str, Json],
        body: Mapping[str, Json],
    ) -> str:
        """Return the text of a reply without what was only added around it.

        That is a code fence around JSON that was described in the prompt, or the beginning of the
        message that the model was to continue.
        """
        if _schema_in_words(options, body) is not None:
            text = strip_fence(text)
        if not is_continuation(messages) or body.keys() & CONTINUING_FIELDS:
            return text
        is_new = self._is_rendered_by_llama
        return text if is_new else text.removeprefix(messages[-1].content)

    def _request_until_accepted(
        self, messages: Sequence[Message], options: Mapping[str, Json], max_tokens: int
    ) -> tuple[dict[str, Json], dict[str, Json]]:
        """Return the reply to a request that the endpoint accepts, and the body of the request.

        A request is changed and repeated while the endpoint refuses a part of it. If the model's
        thoughts used up the token limit, the limit of this and all later requests is raised once.
        """
        while True:
            body = self._build_body(options, is_continuation(messages), max_tokens)
            in_words = _schema_in_words(options, body)
            turns = to_api_messages(
                messages, in_words, has_system_role=self._abilities.has_system_role
            )
            reply = self._request_completion(body | {"messages": turns})
            if reply is None:
                continue
            if self._abilities.reasoning_tokens or not self._is_cut_before_text(reply):
                return reply, body
            self._abilities.reasoning_tokens = _REASONING_TOKENS
            self._remember()

    def _build_body(
        self, options: Mapping[str, Json], continues: bool, max_tokens: int
    ) -> dict[str, Json]:
        """Return the body of a request without the messages.

        Fields that the endpoint has refused are left out.
        """
        known = self._abilities
        body: dict[str, Json] = {
            "model": self.name,
            known.limit_name: max_tokens + known.reasoning_tokens,
            **options,
            **((continues and self._dialect.continuing) or {}),
        }
        if known.only_streams:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return {name: value for name, value in body.items() if name not in known.refused}

    def _is_cut_before_text(self, reply: dict[str, Json]) -> bool:
        try:
            return is_cut_before_text(reply)
        except UnexpectedForm as error:
            raise self._explain_form() from error

    def _read_reply(self, reply: dict[str, Json], *, seconds: float) -> Completion:
        try:
            return completion_of(reply, model=self.name, seconds=seconds)
        except UnexpectedForm as error:
            raise self._explain_form() from error

    def _explain_form(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"the endpoint {self.url} answered in another form than the chat completions of the"
            " OpenAI API; correct OPENAI_BASE_URL, or use --model local."
        )

    def _explain_empty_reply(self, reply: dict[str, Json]) -> ModelUnavailable:
        parts = (reply, *items_of_type(reply.get("choices"), dict))
        failed = next((one for one in parts if one.get("error")), None)
        what = "an empty reply"
        if is_cut_before_text(reply):
            what = "thoughts alone, up to the limit of tokens"
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
        """Return the endpoint's reply, or None if it refused a part of the request.

        Later requests are then sent without this part.
        """
        try:
            if body["messages"][-1]["role"] == "assistant" and self._is_rendered_by_llama:
                return request_continuation(self._endpoint.request_at_root, body)
            return self._endpoint.request("/chat/completions", body)
        except RequestRefused as refused:
            if not refused.is_too_long and self._abilities.learn(refused, body):
                self._remember()
                return None
            if refused.is_too_long:
                raise PromptTooLong(str(refused), share=refused.fitting_share) from refused
            raise ModelUnavailable(str(refused)) from refused


def _sum_usage(replies: Sequence[Completion]) -> Completion:
    """Return the last of several replies, with the tokens of all of them."""
    return replace(
        replies[-1],
        input_tokens=sum(one.input_tokens for one in replies),
        output_tokens=sum(one.output_tokens for one in replies),
        cached_tokens=sum(one.cached_tokens for one in replies),
    )


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
