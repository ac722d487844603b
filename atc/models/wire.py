"""Chat completions as they are sent and answered, and what llama.cpp's server, ours or another's, has beyond them.

A conversation that ends with the assistant's words is rendered by its `/apply-template` and continued by `/completion`:
`/v1/chat/completions` continues it too, but repeats those words or not, depending on its version, and a program's next
statement may well begin as the last one did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from protocols.model import Completion, Message
from protocols.schema import Json, JsonObject, as_mapping

Post: TypeAlias = Callable[[str, dict[str, Json]], dict[str, Json]]
"""Sends a body to a path of the server (`/completion`) and gives its reply's JSON."""
ReadingProgress: TypeAlias = Callable[[int, int, float], None]
"""Told, while a prompt is read, how many of how many tokens are through, and after how many seconds."""

_RENAMED = {
    "max_tokens": "n_predict",
    "max_completion_tokens": "n_predict",
    "top_logprobs": "n_probs",
}
_MOST_TOKENS = 1_000_000_000
"""No request has more; what counts and stores tokens relies on it."""
_PROBE = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]


def is_continuation(messages: Sequence[Message]) -> bool:
    """Whether the reply is to go on from the assistant's words."""
    return bool(messages) and messages[-1].role == "assistant"


def drop_empty_prefill(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages without a last one of the assistant that is empty: llama.cpp renders it as a turn that is over."""
    return messages[:-1] if is_continuation(messages) and not messages[-1].content else messages


def to_api_messages(
    messages: Sequence[Message], schema: Mapping[str, Any] | None = None
) -> list[dict[str, str]]:
    """The messages as the API has them, with the schema asked for in words if there is one."""
    turns = [{"role": message.role, "content": message.content} for message in messages]
    if schema is not None:
        last = turns[-2] if is_continuation(messages) and len(turns) > 1 else turns[-1]
        last["content"] += (
            f"\n\nAnswer with JSON alone, valid under this JSON Schema: {json.dumps(schema)}"
        )
    return turns


class UnexpectedForm(ValueError):
    """A reply has not the form of the API's."""


def completion_of(reply: Mapping[str, Json], *, model: str, seconds: float) -> Completion:
    """What a chat completion says; an endpoint may leave any part of it out.

    Raises:
        OtherForm: its text or what leads to it is of another type. Of numbers that cannot be, none is believed.
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
    """Whether the limit was reached before there was any text, by thoughts that are not shown."""
    choice = _choice(reply)
    return not _text(choice) and choice.get("finish_reason") == "length"


def strip_fence(text: str) -> str:
    """JSON out of the code fence that models put around it when asked in words."""
    found = re.search(r"```(?:json)?[^\S\n]*\n(.*?)```", text, re.DOTALL)
    return found[1].strip() if found else text


def _choice(reply: Mapping[str, Json]) -> JsonObject:
    choices = reply.get("choices") or [{}]
    if not isinstance(choices, list):
        raise UnexpectedForm(f"a list was expected, not a {type(choices).__name__}")
    return _object(choices[0])


def _text(choice: JsonObject) -> str:
    """The content, or what the model declines with."""
    message = _object(choice.get("message") or {})
    content = message.get("content") or message.get("refusal") or ""
    if isinstance(content, list):  # parts, of which some models make thoughts one
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
    """Return a number of tokens; 0 for what can be none, such as a negative number or a text."""
    plausible = isinstance(value, int | float) and 0 <= value <= _MOST_TOKENS
    return int(value) if plausible else 0


def request_continuation(post: Post, body: dict[str, Json]) -> dict[str, Json]:
    """The reply to a body of `/v1/chat/completions` whose last message is the assistant's, without that message's text.

    It has that endpoint's shape, or is what the server refused with.
    """
    # a server of several models goes by the model's name
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
    """The reply that a stream of `/v1/chat/completions` makes, in the shape that it has at once.

    Once `enough` holds of the text, nothing more is read, and the reply was cut. Tokens that are found in the cache are
    not among those that `reading` is told of.
    """
    text = ""
    finished = "length"
    usage: dict[str, Json] = {}
    timings: dict[str, Json] = {}
    for event in events:
        if "error" in event:
            return {"error": event["error"]}
        if reading is not None and (read := event.get("prompt_progress")):
            reading(
                read["processed"] - read["cache"],
                read["total"] - read["cache"],
                read["time_ms"] / 1000,
            )
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


def _reply(
    text: Json, finished: str, usage: dict[str, Json], timings: dict[str, Json]
) -> dict[str, Json]:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finished}
    return {"choices": [choice], "usage": usage, "timings": timings}


def _usage(read: Json, written: Json, timings: Mapping[str, Json]) -> dict[str, Json]:
    cached = {"cached_tokens": timings.get("cache_n", 0)}
    return {"prompt_tokens": read, "completion_tokens": written, "prompt_tokens_details": cached}


def _template(messages: Json) -> dict[str, Json]:
    # a template that opens a block of thoughts after the assistant's words is of no use here
    return {"messages": messages, "chat_template_kwargs": {"enable_thinking": False}}


def can_continue(post: Post, model: str) -> bool:
    """Whether the server renders a conversation so that it can be continued."""
    return str(
        post("/apply-template", _template(_PROBE) | {"model": model}).get("prompt", "")
    ).endswith("b")


def reads_lark(post: Post, model: str) -> bool:
    """Whether the server was built with llguidance. A Lark grammar would tell too, but ends one that was not.

    Built with it, it has a JSON Schema enforced by llguidance, and says so in the settings that it answers with.
    """
    reply = post(
        "/completion",
        {"prompt": "a", "n_predict": 1, "json_schema": {"type": "boolean"}, "model": model},
    )
    return str(as_mapping(reply.get("generation_settings")).get("grammar", "")).startswith(
        "%llguidance"
    )


def refusal(error: Mapping[str, Any]) -> str:
    """One sentence for an error that llama.cpp answers with."""
    if error.get("type") == "exceed_context_size_error":
        asked = error["n_prompt_tokens"]
        held = error["n_ctx"]
        return (
            f"the prompt is {asked - held:,} tokens too long for the local model: it has {asked:,}, the context holds "
            f"{held:,}; shorten the task, offer fewer tools, or set OPENAI_API_KEY to use a larger model."
        )
    message = " ".join(str(error.get("message", error)).split())[:300]
    return f"the local model refuses the request: {message}; check the schema or grammar that goes with it."
