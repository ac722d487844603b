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

from protocols.model import Completion, Message
from protocols.schema import Json, JsonObject, as_mapping

Post: TypeAlias = Callable[[str, dict[str, Json]], dict[str, Json]]
"""Function that posts a body to a path of the server (`/completion`) and returns the JSON reply."""
ReadingProgress: TypeAlias = Callable[[int, int, float], None]
"""Function that is called while a prompt is read: `(tokens read, all tokens, seconds so far)`."""

_RENAMED = {
    "max_tokens": "n_predict",
    "max_completion_tokens": "n_predict",
    "top_logprobs": "n_probs",
}
_MOST_TOKENS = 1_000_000_000
"""Upper limit of a plausible token count. Code that counts and stores tokens relies on it."""
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
    messages: Sequence[Message], schema: Mapping[str, Any] | None = None
) -> list[dict[str, str]]:
    """Return the messages in the API's format.

    If a schema is passed, it is described in the last user message.
    """
    turns = [{"role": message.role, "content": message.content} for message in messages]
    if schema is not None:
        last = turns[-2] if is_continuation(messages) and len(turns) > 1 else turns[-1]
        last["content"] += (
            f"\n\nAnswer with JSON alone, valid under this JSON Schema: {json.dumps(schema)}"
        )
    return turns


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
        truncated=choice.get("finish_reason") == "length",
        cached_tokens=_count(as_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
    )


def is_cut_before_text(reply: Mapping[str, Json]) -> bool:
    """Return True if the token limit was reached before any text, because of hidden reasoning."""
    choice = _choice(reply)
    return not _text(choice) and choice.get("finish_reason") == "length"


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
    """Return the model's text in one of the `choices` of a reply, without `<think>` reasoning.

    If the model refused to answer, the text is its explanation of the refusal.
    """
    message = _object(choice.get("message") or {})
    content = message.get("content") or message.get("refusal") or ""
    # A list of parts; some models return their reasoning as one.
    if isinstance(content, list):
        content = "".join(_string(_object(part).get("text") or "") for part in content)
    return _string(content).rpartition("</think>")[2]


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
        reply["content"], "length" if reply.get("stop_type") == "limit" else "stop", usage, timings
    )
    if "completion_probabilities" in reply:
        found["choices"][0]["logprobs"] = {"content": reply["completion_probabilities"]}
    return found


def collect_stream(
    events: Iterable[Mapping[str, Json]],
    *,
    enough: Callable[[str], bool],
    reading: ReadingProgress | None = None,
) -> dict[str, Json]:
    """Combine the events of a `/v1/chat/completions` stream into one reply of the same format.

    `enough` is called with the text so far. If it returns True, no more events are read, and the
    reply looks as if the token limit had cut it. While the server reads the prompt, `reading` is
    called with the number of tokens read, the number of all tokens, and the seconds so far.
    """
    text = ""
    finished = "length"
    usage: dict[str, Json] = {}
    timings: dict[str, Json] = {}
    for event in events:
        if "error" in event:
            return {"error": event["error"]}
        if reading is not None:
            _report_progress(reading, event.get("prompt_progress"))
        timings = event.get("timings") or timings
        usage = event.get("usage") or usage
        for choice in event.get("choices") or ():
            finished = choice.get("finish_reason") or finished
            text += (choice.get("delta") or {}).get("content") or ""
        if enough(text):
            finished = "length"
            usage = {}
            break
    read = timings.get("cache_n", 0) + timings.get("prompt_n", 0)
    written = timings.get("predicted_n", 0)
    return _reply(text, finished, usage or _usage(read, written, timings), timings)


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
    text: Json, finished: str, usage: dict[str, Json], timings: dict[str, Json]
) -> dict[str, Json]:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finished}
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


def refusal(error: Mapping[str, Any]) -> str:
    """Return a sentence for the user that explains an error which llama.cpp returned."""
    if error.get("type") == "exceed_context_size_error":
        size = error["n_prompt_tokens"]
        limit = error["n_ctx"]
        return (
            f"the prompt is {size - limit:,} tokens too long for the local model: it has {size:,},"
            f" the context holds {limit:,}; shorten the task, offer fewer tools, or set"
            " OPENAI_API_KEY to use a larger model."
        )
    message = " ".join(str(error.get("message", error)).split())[:300]
    return (
        f"the local model refuses the request: {message}; check the schema or grammar that goes"
        " with it."
    )
