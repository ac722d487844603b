"""What llama.cpp's server is sent and answers, ours or another's, beyond the API that it shares with OpenAI.

A conversation that ends with the assistant's words is rendered by `/apply-template` and continued by `/completion`:
`/v1/chat/completions` continues it too, but repeats those words or not, depending on its version, and a program's next
statement may well begin as the last one did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from protocols.jsontypes import Json

Post: TypeAlias = Callable[[str, dict[str, Json]], dict[str, Json]]
"""Sends a body to a path of the server (`/completion`) and gives its reply's JSON."""

_RENAMED = {"max_tokens": "n_predict", "max_completion_tokens": "n_predict", "top_logprobs": "n_probs"}
_PROBE = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]


def chat(post: Post, body: dict[str, Json]) -> dict[str, Json]:
    """The reply to a body of `/v1/chat/completions` whose last message is the assistant's, without that message's text.

    It has that endpoint's shape, or is what the server refused with.
    """
    rendered = post("/apply-template", _template(body["messages"]) | _model(body))
    if "prompt" not in rendered:
        return rendered
    options = {_RENAMED.get(name, name): value for name, value in body.items()}
    for name in ("messages", "logprobs"):
        options.pop(name, None)
    if form := options.pop("response_format", None):
        options["json_schema"] = form["json_schema"]["schema"]
    reply = post("/completion", options | {"prompt": rendered["prompt"]})
    return _as_chat(reply) if "content" in reply else reply


def _template(messages: Json) -> dict[str, Json]:
    # a template that opens a block of thoughts after the assistant's words is of no use here
    return {"messages": messages, "chat_template_kwargs": {"enable_thinking": False}}


def _model(body: dict[str, Json]) -> dict[str, Json]:
    return {"model": body["model"]} if "model" in body else {}  # a server of several models goes by it


def _as_chat(reply: dict[str, Json]) -> dict[str, Json]:
    choice: dict[str, Json] = {
        "message": {"role": "assistant", "content": reply["content"]},
        "finish_reason": "length" if reply.get("stop_type") == "limit" else "stop",
    }
    if "completion_probabilities" in reply:
        choice["logprobs"] = {"content": reply["completion_probabilities"]}
    timings = reply.get("timings", {})
    usage = {
        "prompt_tokens": reply.get("tokens_evaluated", 0),
        "completion_tokens": reply.get("tokens_predicted", 0),
        "prompt_tokens_details": {"cached_tokens": timings.get("cache_n", 0)},
    }
    return {"choices": [choice], "usage": usage, "timings": timings}


def heard(events: Iterable[Mapping[str, Json]], *, enough: Callable[[str], bool]) -> dict[str, Json]:
    """The reply that a stream of `/v1/chat/completions` makes, in the shape that it has at once.

    Once `enough` holds of the text, nothing more is read, and the reply was cut.
    """
    text, finished = "", "length"
    usage: dict[str, Json] = {}
    timings: dict[str, Json] = {}
    for event in events:
        if "error" in event:
            return {"error": event["error"]}
        timings, usage = event.get("timings") or timings, event.get("usage") or usage
        for choice in event.get("choices") or ():
            finished = choice.get("finish_reason") or finished
            if piece := (choice.get("delta") or {}).get("content"):
                text += piece
                if enough(text):
                    return _streamed(text, "length", _counted(timings), timings)
    return _streamed(text, finished, usage or _counted(timings), timings)


def _streamed(text: str, finished: str, usage: dict[str, Json], timings: dict[str, Json]) -> dict[str, Json]:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finished}
    return {"choices": [choice], "usage": usage, "timings": timings}


def _counted(timings: Mapping[str, Json]) -> dict[str, Json]:
    """The usage of a reply that was cut before the server told it."""
    cached = timings.get("cache_n", 0)
    return {
        "prompt_tokens": cached + timings.get("prompt_n", 0),
        "completion_tokens": timings.get("predicted_n", 0),
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def continues_there(post: Post, model: str) -> bool:
    """Whether the server renders a conversation so that it can be continued."""
    return str(post("/apply-template", _template(_PROBE) | {"model": model}).get("prompt", "")).endswith("b")


def reads_lark(post: Post, model: str) -> bool:
    """Whether the server was built with llguidance. A Lark grammar would tell too, but ends one that was not.

    Built with it, it has a JSON Schema enforced by llguidance, and says so in the settings that it answers with.
    """
    reply = post("/completion", {"prompt": "a", "n_predict": 1, "json_schema": {"type": "boolean"}, "model": model})
    return str((reply.get("generation_settings") or {}).get("grammar", "")).startswith("%llguidance")


def refusal(error: Mapping[str, Any]) -> str:
    """One sentence for an error that llama.cpp answers with."""
    if error.get("type") == "exceed_context_size_error":
        asked, held = error["n_prompt_tokens"], error["n_ctx"]
        return (
            f"the prompt is {asked - held:,} tokens too long for the local model: it has {asked:,}, the context holds "
            f"{held:,}; shorten the task, offer fewer tools, or set OPENAI_API_KEY to use a larger model."
        )
    message = " ".join(str(error.get("message", error)).split())[:300]
    return f"the local model refuses the request: {message}; check the schema or grammar that goes with it."
