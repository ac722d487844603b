"""What an OpenAI-compatible endpoint's failures mean: whether to try again, when, and the sentence for the user."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAIError

_LONGEST_WAIT_SECONDS = 60.0
_OTHERWISE = "use --model local"


def is_transient(error: OpenAIError) -> bool:
    """Whether the same request may succeed a little later. A time-out is not: it cost its whole wait already."""
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    if isinstance(error, APIStatusError):
        retry = error.status_code in (408, 409, 429) or error.status_code >= 500
        return retry and error.code != "insufficient_quota"
    return isinstance(error, APIConnectionError) and not isinstance(error, APITimeoutError)


def key_problem(key: str, url: str) -> str | None:
    """What is wrong with a key that no request can carry. The client's own message would quote the key."""
    if key.isascii() and key.isprintable():
        return None
    return (
        f"the key for the model endpoint {url} holds a character that no key has, such as a line end; "
        "set OPENAI_API_KEY to a valid one."
    )


def wait_seconds(error: OpenAIError, attempt: int) -> float:
    """How long to wait after the 0-based `attempt`: what the endpoint asks for, at most a minute, or 0.5, 1, 2, 4 …"""
    from openai import APIStatusError

    asked = _retry_after(error.response.headers) if isinstance(error, APIStatusError) else None
    return min(_LONGEST_WAIT_SECONDS, 0.5 * 2**attempt if asked is None else max(0.0, asked))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "")
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None


def sentence(error: OpenAIError, *, url: str, model: str, seconds: float, otherwise: str = _OTHERWISE) -> str:
    """What happened and the next step, for a request to `url` with a time-out of `seconds`.

    `otherwise` is what to do without that endpoint.
    """
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    if isinstance(error, APITimeoutError):
        again = f"try again, ask a faster model, or {otherwise}"
        return f"the model endpoint {url} gave no answer within {seconds:g} s; {again}."
    if isinstance(error, APIConnectionError):
        cause = _line(str(error.__cause__ or error))
        return (
            f"the model endpoint {url} cannot be reached ({cause}); start it, correct OPENAI_BASE_URL, or {otherwise}."
        )
    if isinstance(error, APIStatusError):
        return _status_sentence(error, url=url, model=model, otherwise=otherwise)
    return f"the model endpoint {url} failed: {_line(str(error))}; try again, or {otherwise}."


def _status_sentence(error: APIStatusError, *, url: str, model: str, otherwise: str) -> str:
    status, said = error.status_code, detail(error)
    if status in (401, 403):
        return f"the model endpoint {url} refuses the key (HTTP {status}: {said}); set OPENAI_API_KEY to a valid one."
    if status == 404:
        return (
            f"the model endpoint {url} has no model {model!r} or is no such API (HTTP 404: {said}); "
            "name a model that it has with --model, or correct OPENAI_BASE_URL, which usually ends in /v1."
        )
    if error.code == "insufficient_quota":
        return f"the account at {url} has no quota left (HTTP {status}: {said}); top it up, or {otherwise}."
    if status == 429:
        return (
            f"the model endpoint {url} is still too busy after several tries (HTTP 429: {said}); wait, or {otherwise}."
        )
    if status >= 500:
        return (
            f"the model endpoint {url} still fails after several tries (HTTP {status}: {said}); wait, or {otherwise}."
        )
    if blames_grammar(error):
        return f"the model endpoint {url} cannot use the grammar it was sent (HTTP {status}: {said}); ask without one."
    return f"the model endpoint {url} refuses the request to {model!r} (HTTP {status}: {said}); try another model."


def blames_grammar(error: APIStatusError) -> bool:
    """Whether a refusal is about what a grammar says, and not about grammars at all."""
    said = detail(error).lower()
    faulty = re.search(r"(grammar|ebnf|lark|regex)", said) and re.search(
        r"pars|compil|convert|syntax|specif|defin", said
    )
    return bool(faulty) and not re.search(r"support|unknown|unrecogni|not permitted|extra", said)


def detail(error: APIStatusError) -> str:
    """The endpoint's own words, one short line, without the key that it may quote."""
    text = error.response.text
    try:
        body = json.loads(text)
    except ValueError:
        return "an HTML page" if text.lstrip().startswith("<") else _line(text) or "no text"
    said: Any = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(said, dict):
        said = said.get("message") or said
    authorization = error.request.headers.get("authorization", "")
    return _line(str(said).replace(authorization.removeprefix("Bearer ") or "\0", "…"))


def _line(text: str) -> str:
    """At most 200 printable characters on one line."""
    return re.sub(r"[^\x20-\x7e\xa0-\U0010ffff]", "", " ".join(text.split()))[:200].rstrip(".")
