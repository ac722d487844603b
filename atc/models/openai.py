"""Any OpenAI-compatible endpoint as an `Ask`: chat completions, adapted to what the endpoint accepts."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from atc.models import held, llama_api, strict
from atc.models.dialects import (
    CONTINUING_FIELDS,
    GRAMMAR_FIELDS,
    LLAMA,
    LOGPROB_FIELDS,
    Dialect,
    dialect_of,
)
from atc.models.endpoint import Endpoint
from atc.models.openai_errors import blames_grammar, detail
from atc.models.tops import TopTokens, places
from atc.models.wire import asked, completion_of, continues, is_cut_before_text, sent, unfenced
from protocols.ask import Completion, Message, Powers
from protocols.errors import ModelUnavailable
from protocols.jsontypes import Json

if TYPE_CHECKING:
    from openai import APIStatusError

DEFAULT_MODEL = "gpt-5-mini"
_OPENAI_URL = "https://api.openai.com/v1"
_REASONING_TOKENS = 8192
"""Added to the limit of a model that spent all of it on thoughts that it does not show."""


def configured() -> bool:
    """Whether the environment names an endpoint: OPENAI_API_KEY or OPENAI_BASE_URL is set."""
    return bool(os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"))


class OpenAIModel:
    """A model behind an OpenAI-compatible endpoint.

    `api_key` and `base_url` default to OPENAI_API_KEY and OPENAI_BASE_URL; one of them must be set. Without `model` an
    endpoint of one's own is asked for its first. What kind of endpoint it is, and so how it is sent a grammar or words
    to go on from, is asked when that is first needed (see `dialects.py`); where it takes no grammar none is sent, and
    the caller has to check what comes. So it is with a schema where the endpoint refuses `response_format`: it is then
    asked for in words. What is refused once is remembered.

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
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        key = api_key or os.environ.get("OPENAI_API_KEY") or ""
        url = base_url or os.environ.get("OPENAI_BASE_URL") or ""
        if not (key or url):
            raise ModelUnavailable(
                f"the model {model or DEFAULT_MODEL!r} needs an endpoint: set OPENAI_API_KEY, or OPENAI_BASE_URL for "
                "a server of your own, or use --model local."
            )
        self.url = (url or _OPENAI_URL).rstrip("/")
        self.prompt_tokens = prompt_tokens
        self._endpoint = Endpoint(
            url=self.url, key=key, timeout_seconds=timeout_seconds, max_retries=max_retries, sleep=sleep, model=model
        )
        official = self._endpoint.is_official
        self._endpoint.model = model or (DEFAULT_MODEL if official else None)
        self._limit_name = "max_completion_tokens" if official else "max_tokens"
        self._headroom = 0
        self._dialect: Dialect | None = None
        self._refused: set[str] = set()
        self._lark_is_kept = True

    @property
    def name(self) -> str:
        """The model's name; asks the endpoint where none was given.

        Raises:
            ModelUnavailable: the endpoint was asked and has none.
        """
        if self._endpoint.model is None:
            self._endpoint.model = self._endpoint.first_model()
        return self._endpoint.model

    @property
    def powers(self) -> Powers:
        """What the endpoint holds a reply to, without what it has refused or broken so far; asks it the first time.

        Raises:
            ModelUnavailable: it cannot be asked.
        """
        known, refused = self._spoken().powers, self._refused
        kinds = known.grammars if self._lark_is_kept else frozenset()
        return Powers(
            schema=known.schema and "response_format" not in refused,
            strict=known.strict and "strict" not in refused,
            grammars=frozenset() if refused & GRAMMAR_FIELDS else kinds,
            continues=known.continues and not refused & CONTINUING_FIELDS,
            tops=known.tops and not refused & LOGPROB_FIELDS,
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
        """Continue `messages`, see `protocols.ask.Ask`."""
        options: dict[str, Json] = {"temperature": temperature, "seed": seed}
        if schema is not None:
            options["response_format"] = self._response_format(schema)
        elif grammar is not None:
            options |= self._held_to(grammar)
        completion = self._asked(messages, options, max_tokens=max_tokens)[1]
        if grammar is not None and options.keys() & GRAMMAR_FIELDS:
            self._lark_is_kept &= held.keeps(grammar, completion.text, truncated=completion.truncated)
        return completion

    def top_tokens(
        self,
        messages: Sequence[Message],
        *,
        n: int = 10,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = 64,
    ) -> tuple[TopTokens, Completion]:
        """An unconstrained reply, and the `n` likeliest tokens at each of its places.

        Raises:
            ModelUnavailable: also where the endpoint does not tell them.
        """
        options = {"temperature": temperature, "seed": seed, "logprobs": True, "top_logprobs": n}
        reply, completion = self._asked(messages, options, max_tokens=max_tokens)
        told = (reply["choices"][0].get("logprobs") or {}).get("content") or ()
        if completion.text and not told:
            raise ModelUnavailable(
                f"the endpoint {self.url} tells no probabilities of tokens; ask another, or use --model local."
            )
        return places(told), completion

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._endpoint.close()

    def _asked(
        self, messages: Sequence[Message], options: Mapping[str, Json], *, max_tokens: int
    ) -> tuple[dict[str, Json], Completion]:
        """The endpoint's reply to a body of `options` as far as it takes them, and what it says."""
        messages = asked(messages)
        continuing = (continues(messages) and self._spoken().continuing) or {}
        started = time.perf_counter()
        while True:
            body = {"model": self.name, self._limit_name: max_tokens + self._headroom, **options, **continuing}
            body = {name: value for name, value in body.items() if name not in self._refused}
            form = options.get("response_format")
            in_words = form["json_schema"]["schema"] if form and "response_format" not in body else None
            reply = self._accepted(body | {"messages": sent(messages, in_words)})
            if reply is None:
                continue
            try:
                if self._is_thought_only(reply):
                    continue
                completion = completion_of(reply, model=self.name, seconds=time.perf_counter() - started)
            except (AttributeError, KeyError, TypeError) as error:
                raise ModelUnavailable(
                    f"the endpoint {self.url} answered in another form than the chat completions of the OpenAI API; "
                    "correct OPENAI_BASE_URL, or use --model local."
                ) from error
            break
        text = completion.text if in_words is None else unfenced(completion.text)
        if continues(messages) and not self._goes_on(body):
            text = text.removeprefix(messages[-1].content)  # begun anew, from those words
        empty_is_a_reply = continues(messages) or body.keys() & GRAMMAR_FIELDS
        if not text.strip() and not empty_is_a_reply:
            raise ModelUnavailable(
                f"the model {self.name!r} at {self.url} answered with an empty reply; try again or name another model."
            )
        return reply, replace(completion, text=text)

    def _spoken(self) -> Dialect:
        """What the endpoint understands; asked once."""
        if self._dialect is None:
            self._dialect = dialect_of(self._endpoint, self.name)
        return self._dialect

    def _goes_on(self, body: Mapping[str, Json]) -> bool:
        """Whether the reply to a body that ends with the assistant's words is only what follows them."""
        return self._rendered_by_llama() or bool(body.keys() & CONTINUING_FIELDS)

    def _rendered_by_llama(self) -> bool:
        return self._spoken().name == LLAMA.name and self._spoken().powers.continues

    def _response_format(self, schema: Mapping[str, Any]) -> dict[str, Json]:
        wanted: dict[str, Json] = {"name": "reply", "schema": dict(schema)}
        if self._endpoint.is_official and "strict" not in self._refused and strict.fits(schema):
            wanted["strict"] = True
        return {"type": "json_schema", "json_schema": wanted}

    def _held_to(self, grammar: str) -> dict[str, Json]:
        """The fields that hold a reply to `grammar`; none where the endpoint takes no such grammar."""
        if not self.powers.grammars:
            return {}
        held.require_taken(grammar)
        return self._spoken().grammar(grammar)

    def _accepted(self, body: dict[str, Json]) -> dict[str, Json] | None:
        """The endpoint's reply, or None when it refused a parameter that the next request will not hold."""
        from openai import BadRequestError, UnprocessableEntityError

        try:
            if body["messages"][-1]["role"] == "assistant" and self._rendered_by_llama():
                return llama_api.chat(self._endpoint.request_at_root, body)
            return self._endpoint.request("/chat/completions", body)
        except (BadRequestError, UnprocessableEntityError) as error:
            if self._learn(error, body):
                return None
            raise ModelUnavailable(self._endpoint.sentence(error)) from error

    def _learn(self, error: APIStatusError, body: Mapping[str, Json]) -> bool:
        """Remember the parameter of `body` that a refusal names; False when it names none. Shrinks, so it ends."""
        named = set(re.findall(r"[a-z_]+", str(error.param) if error.param is not None else detail(error)))
        if "response_format" in body and named & {"response_format", "json_schema"}:
            is_strict = "strict" in body["response_format"]["json_schema"]
            self._refused.add("strict" if is_strict else "response_format")
            body["response_format"]["json_schema"].pop("strict", None)
        elif "max_tokens" in body and "max_tokens" in named:
            self._limit_name = "max_completion_tokens"
        elif found := named & {"temperature", "seed"} & body.keys():
            self._refused |= found
        else:
            groups = (GRAMMAR_FIELDS, CONTINUING_FIELDS, LOGPROB_FIELDS)
            found = next((set(group & body.keys()) for group in groups if named & group & body.keys()), set())
            if found <= GRAMMAR_FIELDS and blames_grammar(error):
                return False  # another grammar may do
            self._refused |= found
            return bool(found)
        return True

    def _is_thought_only(self, reply: Mapping[str, Json]) -> bool:
        """Whether the limit was spent before any text; the first time, the limit is raised for good."""
        if self._headroom or not is_cut_before_text(reply):
            return False
        self._headroom = _REASONING_TOKENS
        return True
