"""What an answer says, over HTTP or of a Python function: a JSON value, or in a few words why there is none."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import responses
from typing import Any, Literal

from pydantic_core import PydanticSerializationError, to_jsonable_python

from protocols.errors import Outcome
from protocols.schema import Json, JsonObject, dumps, loads, resolve, types

MAX_DEPTH = (
    200  # levels of nesting in an answer; what reads it later recurses, with a stack already in use
)
MAX_ERROR_TEXT = 500  # characters
_MAYBE_DONE = (408, 409, 425, 429)
"""The 4xx that do not say that nothing happened. Every other 4xx means that the service refused the call."""
_ESSENTIAL = [
    "detail",
    "message",
    "error_description",
    "error",
    "errors",
    "title",
    "description",
    "reason",
    "msg",
]
_YEAR = 31_536_000.0  # seconds
_CHARSET = re.compile(
    r"utf-?(8|16|32)([lb]e)?|us-ascii|iso-8859-\d+|windows-125\d|gb(k|2312|18030)|big5|shift_jis|euc-(jp|kr)|koi8-[ru]"
)
_TAGS = re.compile(r"<(script|style)\b.*?(</\1>|\Z)|<[^>]*(>|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a request: an HTTP answer, its body whole and decompressed (of an error, its first 64 KiB), or
    the trouble that left none.
    """

    status: int | None = None
    """None where no answer came whole."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower-case name."""
    body: bytes = b""
    trouble: str = ""
    """Why there is no answer, why it is of no use, or why the redirect that it is was not followed."""
    sent: bool = True
    """Whether any byte of the request may have reached the tool."""
    passing: bool = False
    """Whether the same request may fare better a moment later."""

    @property
    def succeeded(self) -> bool:
        """Whether it is a success that can be used."""
        return self.status is not None and 200 <= self.status < 300 and not self.trouble

    @property
    def media_type(self) -> str:
        """`application/json`, lower-case, without parameters; empty where nobody said."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def retry_after(self) -> float | None:
        """Seconds that the tool asked to wait; `None` where it named no number of them."""
        value = self.headers.get("retry-after", "").strip()
        return min(float(value), _YEAR) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value) else None

    def text(self, *, errors: Literal["replace", "strict"] = "replace") -> str:
        """The body as text, by the charset it declares, else as JSON's own rules have it: UTF-8, 16 or 32.

        What cannot be decoded is replaced, or with `strict` a `ValueError`.
        """
        found = re.search(
            r'charset\s*=\s*"?([\w-]+)', self.headers.get("content-type", ""), re.IGNORECASE
        )
        # Python knows codecs that are no charsets (`zlib`, `idna`); a server does not get to choose among those.
        named = found[1].lower() if found and _CHARSET.fullmatch(found[1].lower()) else "utf-8"
        if named in ("utf-8", "utf8"):  # a byte order mark is no part of the text
            named = json.detect_encoding(self.body)
        try:
            return self.body.decode(named, errors)
        except UnicodeDecodeError as error:
            raise ValueError(f"invalid {named} at byte {error.start}") from None

    @property
    def problem(self) -> str:
        """What an error says, in one line not yet shortened: of JSON its `detail`, `message` or `error`."""
        if self.trouble:
            return self.trouble
        text = self.text()
        try:
            text = _summarize_error(parse_json(text), depth=6)
        except ValueError:
            if "html" in self.media_type or text.lstrip()[:9].lower() in ("<!doctype", "<html"):
                text = html.unescape(re.sub(_TAGS, " ", text))
        return text if text.strip() else status_phrase(self.status)

    def outcome(self, *, reads: bool) -> Outcome:
        """Return what is known of the effect of a call that did not succeed.

        Without an answer it is *unknown* if the request was sent, else *not_run*. A 4xx is *refused*, since the service
        says that it did nothing; the few that do not say so, and 5xx, are *unknown*.
        """
        if self.status is None:
            return "unknown" if self.sent else "not_run"
        if 400 <= self.status < 500:
            return "unknown" if self.status in _MAYBE_DONE else "refused"
        # 307 and 308 ask for the same request elsewhere, so this one did nothing; the others often follow a success.
        return (
            "refused" if self.status in (307, 308) or (reads and self.status < 400) else "unknown"
        )


class UnreadableBody(Exception):
    """A 2xx answer whose body is not what its protocol or media type promises; the message says what came."""


def read_body(
    answer: Answer, schema: JsonObject | None, *, mask: Callable[[str], str] = str
) -> Json:
    """The value of a 2xx answer: JSON where it is JSON, else its text where `schema` (if any) allows text.

    `None` for an empty body. Of a repeated key the last value counts; half a surrogate pair becomes U+FFFD. `mask`
    takes secrets out of what a message quotes, before it is cut.

    Raises:
        Unreadable: not JSON although the schema wants it, not text either, too deep, NaN or Infinity.
    """
    if answer.status in (204, 205) or not answer.body.strip():
        return None
    wanted = types(resolve(schema, schema)) if schema else ()
    says_json = answer.media_type == "application/json" or answer.media_type.endswith("+json")
    try:
        text = answer.text(errors="strict")
        value = parse_json(text)
    except ValueError as error:
        expected = f"valid JSON ({error})" if says_json else "JSON"
    else:  # a tool declared to give text gives `12`, not 12, unless its answer calls itself JSON
        return text if wanted == ("string",) and not says_json else value
    # What says nothing of types allows a string, and a tool declared to answer nothing promises no JSON.
    if not says_json and ("string" in wanted or wanted in ((), ("null",))):
        expected = "text or JSON"
        with suppress(ValueError):
            if b"\0" not in answer.body:
                return answer.text(
                    errors="replace" if answer.media_type.startswith("text/") else "strict"
                )
    kind = answer.media_type or "a body without a media type"
    came = f"{len(answer.body):,} bytes that are not text"
    if b"\0" not in answer.body[:1000]:
        came = f"'{one_line(mask(answer.text()[:1000]), limit=120)}'"
    raise UnreadableBody(f"expected {expected}, got {kind}: {came}")


def parse_json(text: str) -> Json:
    """The JSON value of `text`, with finite numbers, whole characters and at most 200 levels.

    Raises:
        ValueError: it is not such JSON.
    """
    try:
        value = loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_DEPTH:
        level = [value]
        for _ in range(MAX_DEPTH):
            level = [
                c
                for n in level
                for c in (n.values() if type(n) is dict else n)
                if type(c) in (dict, list)
            ]
        if level:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if not re.search(r"\\u[dD][89a-fA-F]", text):
        return value
    # Text with half a surrogate pair can be neither printed nor stored.
    return loads(dumps(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def to_json(value: object) -> Json:
    """`value` as JSON in pydantic's way: dataclasses and models as objects, dates and durations as ISO 8601, enums by
    value, bytes as base64.

    NaN and infinities become null, arrays and frames (`tolist`, `to_dict`) nested lists and records.

    Raises:
        TypeError: there is no JSON for it, it contains itself, or it is nested deeper than 200 levels.
    """
    try:
        plain = to_jsonable_python(
            value, inf_nan_mode="null", bytes_mode="base64", fallback=_convert_to_json
        )
        return parse_json(json.dumps(plain))
    except (ValueError, RecursionError, PydanticSerializationError) as error:
        raise TypeError(f"the result has no JSON: {error}") from None


def _convert_to_json(value: Any) -> Any:
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return value.to_dict("records")
    if callable(plain := getattr(value, "tolist", None)):
        return plain()
    if not isinstance(value, Iterable):
        raise TypeError(f"the result is a {type(value).__name__}, which is not JSON")
    return list(value)


def one_line(text: str, *, limit: int = MAX_ERROR_TEXT) -> str:
    """`text` on one line of at most `limit` characters, with what a terminal would act on or hide escaped."""
    line = " ".join(text[: 20 * limit].split())
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in line[: limit + 1]
    )
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def status_phrase(status: int | None) -> str:
    """What HTTP calls a status."""
    return responses.get(status or 0, "no explanation")


def _summarize_error(value: Json, *, depth: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth:
        return "; ".join(_summarize_error(item, depth=depth - 1) for item in value[:10])
    if isinstance(value, dict) and depth:
        if (
            isinstance(value.get("loc"), list) and "msg" in value
        ):  # FastAPI's and pydantic's way of naming a field
            return f"{'.'.join(map(str, value['loc']))}: {value['msg']}"
        said = [
            _summarize_error(value[key], depth=depth - 1) for key in _ESSENTIAL if value.get(key)
        ]
        if said := [text for text in dict.fromkeys(said) if text]:
            return "; ".join(said)
    return json.dumps(value, ensure_ascii=False)
