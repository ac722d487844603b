"""Responses of HTTP services and Python functions, and their JSON values."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import responses
from typing import Any, Literal

from pydantic_core import PydanticSerializationError, to_jsonable_python

from protocols.errors import Outcome
from protocols.files import FilePath, FileValue, Spool
from protocols.schema import Json, JsonObject, all_types, dumps, loads, type_name

MAX_DEPTH = 200  # levels of nesting in a response; the code that reads it later is recursive
MAX_ERROR_TEXT = 500  # characters
_MAYBE_DONE = (408, 409, 425, 429)
"""4xx statuses after which the call may have had an effect. All others mean that it was refused."""
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
    r"utf-?(8|16|32)([lb]e)?|us-ascii|iso-8859-\d+|windows-125\d|gb(k|2312|18030)|big5"
    r"|shift_jis|euc-(jp|kr)|koi8-[ru]"
)
_TAGS = re.compile(r"<(script|style)\b.*?(</\1>|\Z)|<[^>]*(>|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The outcome of a request: an HTTP response, or the problem that prevented one.

    The body is decompressed. Of the body of an error response, only the first 64 KiB are kept.
    """

    status: int | None = None
    """None if no complete response came."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Response headers, keyed by lower-case name."""
    body: bytes = b""
    trouble: str = ""
    """Why there is no usable response, or why a redirect was not followed."""
    sent: bool = True
    """True if any byte of the request may have reached the tool."""
    passing: bool = False
    """True if the same request may succeed a moment later."""
    unreachable: bool = False
    """True if there was no connection to the service, because of its address or its state."""
    spool: Spool | None = None
    """The body, in place of `body`, if it was received as a file."""

    @property
    def succeeded(self) -> bool:
        """True if the status is 2xx and the response is usable."""
        return self.status is not None and 200 <= self.status < 300 and not self.trouble

    @property
    def media_type(self) -> str:
        """Lower-case media type without parameters, such as `application/json`, or ""."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait before the next attempt, as the tool asked, or None if it did not.

        The header has a number of seconds or a date.
        """
        value = self.headers.get("retry-after", "").strip()
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
            return min(float(value), _YEAR)
        try:
            return min(max(0.0, parsedate_to_datetime(value).timestamp() - time.time()), _YEAR)
        except (ValueError, OverflowError, OSError):
            return None

    def text(self, *, errors: Literal["replace", "strict"] = "replace") -> str:
        """Return the body as text, decoded with its declared charset.

        Without one, it is decoded as UTF-8, UTF-16 or UTF-32, as for JSON. If `errors` is `strict`,
        raise `ValueError` for bytes that cannot be decoded. Otherwise they are replaced.
        """
        found = re.search(
            r'charset\s*=\s*"?([\w-]+)', self.headers.get("content-type", ""), re.IGNORECASE
        )
        # Some Python codecs are not charsets (`zlib`, `idna`); a server must not choose them.
        named = found[1].lower() if found and _CHARSET.fullmatch(found[1].lower()) else "utf-8"
        if named in ("utf-8", "utf8"):  # skips a byte order mark
            named = json.detect_encoding(self.body)
        try:
            return self.body.decode(named, errors)
        except UnicodeDecodeError as error:
            raise ValueError(f"invalid {named} at byte {error.start}") from None

    @property
    def problem(self) -> str:
        """The error message of the response, not shortened.

        For JSON it is the `detail`, `message` or `error`.
        """
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
        """Return what is known about the effect of a failed call.

        `reads` is True if the tool only reads. Without a response, the outcome is *unknown* if the
        request was sent, else *not_run*. Most 4xx statuses mean *refused*, because the service says
        that it did nothing. A few of them (such as 408 and 429) and all 5xx mean *unknown*.
        """
        if self.status is None:
            return "unknown" if self.sent else "not_run"
        if 400 <= self.status < 500:
            return "unknown" if self.status in _MAYBE_DONE else "refused"
        # 307 and 308 ask for the same request elsewhere, so this one did nothing. Other redirects
        # often follow a success.
        if self.status in (307, 308) or (reads and self.status < 400):
            return "refused"
        return "unknown"


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """The response of a tool to a successful call: its value, and what came beside the value."""

    value: Json
    """The full response, before unwrapping."""
    status: int | None = None
    """The HTTP status, or None if the tool was not called over HTTP."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers that belong to the result, keyed by lower-case name, see `kept_headers`."""
    files: Mapping[FilePath, FileValue] = field(default_factory=dict)
    """The files in the value, keyed by their path. In the value, each is its description."""


class UnreadableBody(Exception):
    """A successful response has a body that its media type or the tool's schema does not allow."""


def read_body(
    answer: Answer, schema: JsonObject | None, *, mask: Callable[[str], str] = str
) -> Json:
    """Return the value of a 2xx response: JSON or text.

    A body whose media type is one of JSON is read as JSON. Other text is read as JSON if it is an
    object or a list and `schema` does not ask for text. A text that looks like a number, `true`,
    `null` or a quoted text stays as the service sent it, unless `schema` asks for such a value.

    An empty body gives None. The last value of a repeated key counts; a lone surrogate becomes
    U+FFFD. `mask` removes secrets from the parts of the body that messages quote.

    Raises:
        UnreadableBody: the body is neither JSON nor allowed text, is nested too deeply, or has NaN
            or Infinity.
    """
    if answer.status in (204, 205) or not answer.body.strip():
        return None
    wanted = frozenset(all_types(schema, schema)) if schema else frozenset()
    says_json = is_json_media(answer.media_type)
    try:
        text = answer.text(errors="strict")
        value = parse_json(text)
    except ValueError as error:
        expected = f"valid JSON ({error})" if says_json else "JSON"
    else:
        return value if says_json or _is_wanted(value, wanted) else text
    if _may_be_text(answer, wanted, says_json=says_json):
        expected = "text or JSON"
        with suppress(ValueError):
            return _text_of(answer)
    raise UnreadableBody(f"expected {expected}, got {_describe_body(answer, mask)}")


def is_json_media(media: str) -> bool:
    """Return True if a media type in lower case, without parameters, is one of JSON.

    Examples: `application/json`, `application/problem+json`.
    """
    return media in ("application/json", "text/json") or media.endswith("+json")


def _is_wanted(value: Json, wanted: Collection[str]) -> bool:
    """Return True if the JSON value of a text is to be returned instead of the text.

    `wanted` are the JSON types that the schema of the response allows; none means any.
    """
    kind = type_name(value)
    if kind in ("object", "array"):
        return "string" not in wanted or kind in wanted
    if "string" in wanted:
        return False
    is_integer = isinstance(value, float) and value.is_integer()
    return kind in wanted or (
        kind in ("integer", "number")
        and ("number" in wanted or ("integer" in wanted and is_integer))
    )


def _may_be_text(answer: Answer, wanted: Collection[str], *, says_json: bool) -> bool:
    """Return True if a body that is not JSON may be returned as text.

    `wanted` are the JSON types that the schema of the response allows; none means any. A text in
    the place of a number departs from the schema and is passed on. A page in its place, or a text
    in the place of an object, says that something went wrong.
    """
    if says_json:  # some services send a text without quotes as JSON
        return "string" in wanted and not {"object", "array"} & set(wanted)
    if not wanted or "string" in wanted or set(wanted) == {"null"}:
        return True
    return not {"object", "array"} & set(wanted) and "html" not in answer.media_type


def _text_of(answer: Answer) -> str:
    """Return the body of a response as text. Raises `ValueError` for bytes that are not text."""
    if b"\0" in answer.body:
        raise ValueError("a null byte")
    return answer.text(errors="replace" if answer.media_type.startswith("text/") else "strict")


def _describe_body(answer: Answer, mask: Callable[[str], str]) -> str:
    """Return the media type and the beginning of a body, for a message."""
    kind = answer.media_type or "a body without a media type"
    if b"\0" in answer.body[:1000]:
        return f"{kind}: {len(answer.body):,} bytes that are not text"
    return f"{kind}: '{one_line(mask(answer.text()[:1000]), limit=120)}'"


def parse_json(text: str) -> Json:
    """Return the JSON value of `text`. Lone surrogates in it are replaced by U+FFFD.

    Raises:
        ValueError: the text is not JSON, has NaN or Infinity, or is nested deeper than 200 levels.
    """
    try:
        value = loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_DEPTH:
        level = [value]
        for _ in range(MAX_DEPTH):
            level = [inner for part in level for inner in _containers_in(part)]
        if level:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if not re.search(r"\\u[dD][89a-fA-F]", text):
        return value
    # A lone surrogate can be neither printed nor stored.
    return loads(dumps(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _containers_in(value: Any) -> list[Any]:
    """Return those items or values of a list or an object that are lists or objects themselves."""
    inner = value.values() if type(value) is dict else value
    return [part for part in inner if type(part) in (dict, list)]


def to_json(value: object) -> Json:
    """Return a Python object converted to JSON values, as pydantic converts it.

    Dataclasses and models become objects, dates and durations become ISO 8601 strings, enums their
    value, and bytes base64. NaN and infinities become null. Arrays (`tolist`) become nested lists,
    and data frames (`to_dict`) become lists of records.

    Raises:
        TypeError: the object cannot be converted, contains itself, or is nested deeper than 200
            levels.
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
    """Return `text` on one line of at most `limit` characters, with control characters escaped."""
    line = " ".join(text[: 20 * limit].split())
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in line[: limit + 1]
    )
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def status_phrase(status: int | None) -> str:
    """Return the standard phrase for an HTTP status: `Not Found` for 404."""
    return responses.get(status or 0, "no explanation")


def _summarize_error(value: Json, *, depth: int) -> str:
    """Return the message in the JSON body of an error response.

    It is found under keys such as `message`. `depth` is the number of levels that are searched.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth:
        return "; ".join(_summarize_error(item, depth=depth - 1) for item in value[:10])
    if isinstance(value, dict) and depth:
        if isinstance(value.get("loc"), list) and "msg" in value:  # from FastAPI and pydantic
            return f"{'.'.join(map(str, value['loc']))}: {value['msg']}"
        messages = [
            _summarize_error(value[key], depth=depth - 1) for key in _ESSENTIAL if value.get(key)
        ]
        if messages := [text for text in dict.fromkeys(messages) if text]:
            return "; ".join(messages)
    return json.dumps(value, ensure_ascii=False)
