"""The format of chat completion requests and replies, and extensions of llama.cpp's server.

To continue an unfinished message of the assistant, llama.cpp's `/apply-template` renders the
conversation as text, and `/completion` continues this text. `/v1/chat/completions` can continue a
message, too, but some versions repeat the unfinished message in the reply and others do not. One
cannot always tell from the reply whether it was repeated, since the next statement of a program may
begin like the last one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from atc.core.replies import code_in_call
from atc.core.thoughts import remove_thoughts
from atc.models.stream import STREAM_END, StreamedMessage
from protocols.errors import ModelUnavailable, PromptTooLong
from protocols.model import Completion, Message
from protocols.schema import Json, JsonObject, as_mapping, items_of_type
from protocols.whole_numbers import whole_number

Post: TypeAlias = Callable[[str, dict[str, Json]], dict[str, Json]]
"""Function that posts a body to a path of the server (`/completion`) and returns the JSON reply."""
ReadingProgress: TypeAlias = Callable[[int, int, float], None]
"""Function that is called while a prompt is read: `(tokens read, all tokens, seconds so far)`."""

_RENAMED = {
    "max_tokens": "n_predict",
    "max_completion_tokens": "n_predict",
    "top_logprobs": "n_probs",
}
_TEXT_PARTS = (None, "text", "output_text")
"""Types of the parts of a message that are text, and not the model's thoughts."""
_MOST_TOKENS = 1_000_000_000
"""Upper limit of a plausible token count. Code that counts and stores tokens relies on it."""
_CUT = ("length", "max_tokens", "MAX_TOKENS")
"""Reasons with which endpoints say that the token limit ended a reply."""
_PROBE = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]


def is_continuation(messages: Sequence[Message]) -> bool:
    """Return True if the conversation ends with a message of the assistant, to be continued."""
    return bool(messages) and messages[-1].role == "assistant"


def drop_empty_prefill(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages without the last one if that is an empty message of the assistant.

    llama.cpp would render it as a finished message instead of continuing it.
    """
    return messages[:-1] if is_continuation(messages) and not messages[-1].content else messages


def to_api_messages(
    messages: Sequence[Message],
    schema: Mapping[str, Any] | None = None,
    *,
    has_system_role: bool = True,
) -> list[dict[str, str]]:
    """Return the messages in the API's format.

    If a schema is passed, it is described in the last user message. Without a system role, the
    text of a system message stands at the beginning of the user's next message.
    """
    turns = [{"role": message.role, "content": message.content} for message in messages]
    if not has_system_role:
        turns = _without_system_role(turns)
    if schema is not None:
        last = turns[-2] if is_continuation(messages) and len(turns) > 1 else turns[-1]
        last["content"] += (
            f"\n\nAnswer with JSON alone, valid under this JSON Schema: {json.dumps(schema)}"
        )
    return turns


def _without_system_role(turns: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return messages whose roles are only user and assistant, in turns."""
    joined: list[dict[str, str]] = []
    for turn in turns:
        role = "user" if turn["role"] == "system" else turn["role"]
        if joined and joined[-1]["role"] == role:
            joined[-1]["content"] += f"\n\n{turn['content']}"
        else:
            joined.append({"role": role, "content": turn["content"]})
    return joined


class UnexpectedForm(ValueError):
    """A reply does not have the format of the chat completions API."""


def completion_of(reply: Mapping[str, Json], *, model: str, seconds: float) -> Completion:
    """Return the completion in a reply of `/v1/chat/completions`.

    `model` is the model's name, and `seconds` the duration of the request. A part that the reply
    lacks is no error: a missing text becomes "", and a missing or implausible token count 0.

    Raises:
        UnexpectedForm: `choices` is no list, its first item or the `message` in it is no object, or
            the text is no string.
    """
    choice = _choice(reply)
    usage = as_mapping(reply.get("usage"))
    return Completion(
        text=_text(choice),
        model=model,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        seconds=seconds,
        truncated=choice.get("finish_reason") in _CUT,
        cached_tokens=_count(as_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
    )


def is_cut_before_text(reply: Mapping[str, Json]) -> bool:
    """Return True if the token limit was reached before any text but the model's thoughts."""
    choice = _choice(reply)
    return not _text(choice).strip() and choice.get("finish_reason") in _CUT


def is_final(reply: Mapping[str, Json]) -> bool:
    """Return True if another reply to the same request would be no better than this empty one.

    The token limit ended the thoughts of this one, or it has an error such as an invalid key.
    """
    if is_cut_before_text(reply):
        return True
    error = as_mapping(reply.get("error"))
    code = error.get("code", error.get("status"))
    return isinstance(code, int) and 400 <= code < 500 and code not in (408, 409, 429)


def strip_fence(text: str) -> str:
    """Return the text inside a Markdown code fence, or the text itself if it has none.

    Models add a code fence around JSON if the format is only described in the prompt.
    """
    found = re.search(r"```(?:json)?[^\S\n]*\n(.*?)```", text, re.DOTALL)
    return found[1].strip() if found else text


def _choice(reply: Mapping[str, Json]) -> JsonObject:
    choices = reply.get("choices") or [{}]
    if not isinstance(choices, list):
        raise UnexpectedForm(f"a list was expected, not a {type(choices).__name__}")
    return _object(choices[0])


def _text(choice: JsonObject) -> str:
    """Return the model's text in one of the `choices` of a reply, without its thoughts.

    If the model refused to answer, the text is its explanation of the refusal. If it called a code
    interpreter instead of writing text, the text is the program of the call, in a code fence.
    """
    message = _object(choice.get("message") or {})
    content = message.get("content") or message.get("refusal") or ""
    if isinstance(content, list):
        parts = [_object(part) for part in content]
        shown = [part for part in parts if part.get("type") in _TEXT_PARTS]
        content = "".join(_string(part.get("text") or "") for part in shown)
    text = remove_thoughts(_string(content)).text
    return text if text.strip() else _called_program(message)


def _called_program(message: JsonObject) -> str:
    """Return the program that a message passes to a code interpreter, in a code fence, or ""."""
    for call in items_of_type(message.get("tool_calls"), dict):
        function = as_mapping(call.get("function"))
        given = function.get("arguments")
        code = code_in_call(given if isinstance(given, str) else json.dumps(given))
        if code is not None:
            return f"```python\n{code}\n```"
    return ""


def program_in_thoughts(reply: Mapping[str, Json]) -> str:
    """Return the text of a reply's hidden thoughts if a code fence is in it, else "".

    Some servers take everything that a model says for thoughts.
    """
    message = _object(_choice(reply).get("message") or {})
    hidden = message.get("reasoning_content") or message.get("reasoning") or ""
    return hidden if isinstance(hidden, str) and "```" in hidden else ""


def _object(value: Json) -> JsonObject:
    if not isinstance(value, Mapping):
        raise UnexpectedForm(f"an object was expected, not a {type(value).__name__}")
    return value


def _string(value: Json) -> str:
    if not isinstance(value, str):
        raise UnexpectedForm(f"a text was expected, not a {type(value).__name__}")
    return value


def _count(value: Json) -> int:
    """Return a token count, or 0 if the value is not plausible, such as a negative number."""
    plausible = isinstance(value, int | float) and 0 <= value <= _MOST_TOKENS
    return int(value) if plausible else 0


def request_continuation(post: Post, body: dict[str, Json]) -> dict[str, Json]:
    """Make llama.cpp continue the assistant's last message, and return only the new text.

    `body` is that of a `/v1/chat/completions` request. The returned reply has the format of this
    endpoint, too, or is the server's error.
    """
    # A server with several models selects one by name.
    named = {"model": body["model"]} if "model" in body else {}
    rendered = post("/apply-template", _template(body["messages"]) | named)
    if "prompt" not in rendered:
        return rendered
    options = {
        _RENAMED.get(name, name): value
        for name, value in body.items()
        if name not in ("messages", "logprobs")
    }
    if form := options.pop("response_format", None):
        options["json_schema"] = form["json_schema"]["schema"]
    reply = post("/completion", options | {"prompt": rendered["prompt"]})
    if "content" not in reply:
        return reply
    timings = dict(as_mapping(reply.get("timings")))
    usage = _usage(reply.get("tokens_evaluated", 0), reply.get("tokens_predicted", 0), timings)
    found = _reply(
        {"content": reply["content"]},
        "length" if reply.get("stop_type") == "limit" else "stop",
        usage,
        timings,
    )
    if "completion_probabilities" in reply:
        found["choices"][0]["logprobs"] = {"content": reply["completion_probabilities"]}
    return found


def collect_stream(
    events: Iterable[Mapping[str, Json]],
    *,
    enough: Callable[[str], bool] = lambda _: False,
    reading: ReadingProgress | None = None,
) -> dict[str, Json]:
    """Combine the events of a `/v1/chat/completions` stream into one reply of the same format.

    `enough` is called with the text so far. If it returns True, no more events are read, and the
    reply looks as if the token limit had cut it. So does a stream that broke off. While the server
    reads the prompt, `reading` is called with the number of tokens read, the number of all tokens,
    and the seconds so far.
    """
    message = StreamedMessage()
    finished: Json = None
    usage: dict[str, Json] = {}
    timings: dict[str, Json] = {}
    for event in events:
        if event.get("error"):
            return {"error": event["error"]}
        if reading is not None:
            _report_progress(reading, event.get("prompt_progress"))
        timings = dict(as_mapping(event.get("timings"))) or timings
        usage = event.get("usage") or usage
        for choice in items_of_type(event.get("choices"), dict):
            finished = choice.get("finish_reason") or finished
            message.add(as_mapping(choice.get("delta") or choice.get("message")))
        if event is STREAM_END:
            finished = finished or "stop"
        if enough(message.text):
            finished = "length"
            usage = {}
            break
    read = sum(whole_number(timings.get(name)) or 0 for name in ("cache_n", "prompt_n"))
    written = timings.get("predicted_n", 0)
    usage = usage or _usage(read, written, timings)
    return _reply(message.joined(), finished or "length", usage, timings)


def _report_progress(reading: ReadingProgress, progress: Mapping[str, Json] | None) -> None:
    """Call `reading` with the number of tokens of the prompt that the server has read.

    The number is in one of the server's events. Tokens found in the cache are not counted.
    """
    if progress:
        cached = progress["cache"]
        reading(
            progress["processed"] - cached,
            progress["total"] - cached,
            progress["time_ms"] / 1000,
        )


def _reply(
    message: JsonObject, finished: Json, usage: dict[str, Json], timings: dict[str, Json]
) -> dict[str, Json]:
    choice = {"message": {"role": "assistant", **message}, "finish_reason": finished}
    return {"choices": [choice], "usage": usage, "timings": timings}


def _usage(read: Json, written: Json, timings: Mapping[str, Json]) -> dict[str, Json]:
    cached = {"cached_tokens": timings.get("cache_n", 0)}
    return {"prompt_tokens": read, "completion_tokens": written, "prompt_tokens_details": cached}


def _template(messages: Json) -> dict[str, Json]:
    # The template must not open a reasoning block after the assistant's words.
    return {"messages": messages, "chat_template_kwargs": {"enable_thinking": False}}


def can_continue(post: Post, model: str) -> bool:
    """Return True if the server can continue the assistant's last message."""
    return str(
        post("/apply-template", _template(_PROBE) | {"model": model}).get("prompt", "")
    ).endswith("b")


def reads_lark(post: Post, model: str) -> bool:
    """Return True if the server was built with llguidance, so that it can read Lark grammars.

    A request with a Lark grammar would crash a server without llguidance. So a request with a JSON
    Schema is sent instead: a server with llguidance uses it for schemas, too, and its reply shows
    this.
    """
    reply = post(
        "/completion",
        {"prompt": "a", "n_predict": 1, "json_schema": {"type": "boolean"}, "model": model},
    )
    return str(as_mapping(reply.get("generation_settings")).get("grammar", "")).startswith(
        "%llguidance"
    )


def refusal(error: Mapping[str, Any]) -> ModelUnavailable:
    """Return the error for the user that explains an error which llama.cpp returned."""
    if error.get("type") == "exceed_context_size_error":
        size = error["n_prompt_tokens"]
        limit = error["n_ctx"]
        return PromptTooLong(
            f"the prompt is {size - limit:,} tokens too long for the local model: it has {size:,},"
            f" the context holds {limit:,}; shorten the task, offer fewer tools, or set"
            " OPENAI_API_KEY to use a larger model.",
            share=limit / size,
        )
    message = " ".join(str(error.get("message", error)).split())[:300]
    return ModelUnavailable(
        f"the local model refuses the request: {message}; check the schema or grammar that goes"
        " with it."
    )
