"""What replies say of a tool's arguments: refusals, read into `Hint`s.

Read by rule are complaints, in which a place and words stand apart: lists of them (FastAPI,
JSON:API, RFC 9457, JSON Schema output, GraphQL-like), and maps from a field to its messages (DRF,
Rails, ASP.NET). Of sentences, those that name an argument and say plainly what it must be. What is
left has a template, the reply without the values that were sent, which a model may read once
(`probing.model_hints`). A reader must not be sure of what a reply does not say; all work is
bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, cast

from probing.name_distance import (
    FORMAT_PHRASES,
    REPLIES,
    REPLY_PATTERNS,
    TYPE_WORDS,
    scalar_parts,
    url_text,
)
from probing.samples import Sample
from protocols.naming import snake
from protocols.response import one_line
from protocols.schema import Json

HintKind = Literal[
    "missing", "any_of", "unknown", "type", "enum", "range", "length", "pattern", "format", "not_found",
    "refused",
]  # fmt: skip
"""*missing*: it must be given. *any_of*: it or another that the reply names must be. *unknown*:
there is no such argument. *type* … *format*: what it must be. *not_found*: well formed, but
there is no such thing. *refused*: the reply names the argument, and no more can be read from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentHint:
    """One fact that a reply states of one argument, which has the source's own name."""

    kind: HintKind
    argument: str = ""
    types: tuple[str, ...] = ()
    values: tuple[Json, ...] = ()
    """Of an *enum*."""
    minimum: float | None = None
    maximum: float | None = None
    """Inclusive, for *range*; of characters or items for *length*."""
    pattern: str = ""
    format: str = ""
    text: str = ""
    """The clause of the reply that says so, at most 200 characters."""


_LONGEST = 20_000
_MOST = 60
_SILENT = frozenset({401, 402, 403, 405, 406, 407, 408, 411, 413, 415, 425, 429, 431, 451})
_FLAGS = frozenset({"ok", "succeeded", "success", "successful"})
_STATES = frozenset({"response", "result", "state", "status"})
_NO = ("error", "errors", "fail", "failed", "failure", "false", "ko", "not_ok")
_ERRORS, _BESIDE, _OF_RECORDS, _PLACES, _NOT_FIELDS, _SELDOM_FIELDS = (
    frozenset(REPLIES[name])
    for name in ("errors", "beside", "of_records", "places", "no_arguments", "seldom")
)
_TEXTS, _PLACE_KEYS, _WORDS, _CODES = (
    REPLIES[name] for name in ("texts", "place_keys", "complaints", "codes")
)
_PLAIN = frozenset({"date", "field", "format", "name", "number", "text", "time", "type", "value"})
"""Names of arguments that are words of most sentences: taken for names only where quoted, or first."""
_Complaint = tuple[tuple[str, ...], str, Mapping[str, Json]]
"""The place that a complaint is about, its words, and its parameters."""
_NUMBER = r"(-?\d[\d,]*(?:\.\d+)?)"
_QUOTED = r"['\"`“‘]([^'\"`”’\n]{1,80})['\"`”’]"


def refusal_in(response: Json) -> str:
    """What a response with a success's status says in refusal, as JSON or text; empty where it is
    data.

    It is a refusal if it says that it is (`ok: false`, `status: error`) or holds an error, and has
    nothing else to tell. A record that has an `error` field, or a `status` of `failed`, beside
    fields of its own is data.
    """
    if isinstance(response, list) and len(response) == 1:
        return refusal_in(response[0])
    if not isinstance(response, Mapping) or len(response) > 40:
        return ""
    fields = {snake(str(key)): value for key, value in response.items()}
    denied = {n for n, v in fields.items() if n in _FLAGS | _STATES and str(v).lower() in _NO}
    wrong = any(name in _ERRORS and _is_error_value(value) for name, value in fields.items())
    told = [fields[name] for name in _TEXTS if _is_error_value(fields.get(name))]
    beside = _BESIDE if wrong or denied & _FLAGS else _BESIDE - _OF_RECORDS
    empty: tuple[Json, ...] = (None, "", [], {})
    data = {n for n, v in fields.items() if v not in empty} - beside - _FLAGS - _STATES - _ERRORS
    if not (denied or wrong) or not told or data or fields.get("data") not in empty:
        return ""
    said = next((text for text in told if isinstance(text, str)), told[0])
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def as_refused(sample: Sample) -> Sample:
    """The sample as an error reply would have it, where its response is a refusal; else as it is."""
    said = refusal_in(sample.response) if sample.done else ""
    if not said:
        return sample
    answer = json.dumps(sample.response, ensure_ascii=False)
    return replace(sample, outcome="refused", status=200, response=None, error=said, answer=answer)


def _is_error_value(value: Json) -> bool:
    """Whether an error field says that there is one: `null`, `[]`, `false`, `"none"` and `0.1` do
    not.
    """
    if isinstance(value, str):
        return bool(value) and value.lower() not in ("none", "null", "false", "no", "ok")
    return value is True or (isinstance(value, list | Mapping) and bool(value))


def reply_of(sample: Sample) -> str:
    """The text of a refusal that may say something of arguments; empty where none does."""
    status = sample.status
    if sample.done or (status is not None and (status >= 500 or status in _SILENT)):
        return ""
    return (
        sample.error if (sample.answer or "").strip()[:1] in ("", "<") else sample.answer or ""
    )[:_LONGEST]


def template_of(sample: Sample) -> str:
    """A refusal's words without the values that were sent and without numbers: equal for replies of
    one kind.
    """
    text = one_line(sample.error or sample.answer or "", limit=600)
    sent = (
        part
        for _, part in scalar_parts("", sample.plain_arguments)
        if part is not None and not isinstance(part, bool)
    )
    for given in sorted(map(url_text, sent), key=len, reverse=True):
        if given:
            text = re.sub(rf"(?<!\w){re.escape(given[:200])}(?!\w)", "…", text)
    return text


def hints(sample: Sample, names: Mapping[str, str]) -> tuple[ArgumentHint, ...]:
    """What the answer of a call that failed says of the tool's arguments, each fact once.

    `names` maps what the service may call an argument to the argument's name. An argument that is
    not among them is returned where the reply certainly names one: in *missing*.
    """
    text = reply_of(sample)
    return (
        _hints(
            text,
            sample.status,
            json.dumps(sample.plain_arguments, default=str),
            tuple(names.items()),
        )
        if text
        else ()
    )


@lru_cache(maxsize=2048)
def _hints(
    text: str, status: int | None, sent: str, names: tuple[tuple[str, str], ...]
) -> tuple[ArgumentHint, ...]:
    reader = _Reader(dict(names), json.loads(sent))
    found = list(reader.read(text))
    if status in (404, 410):  # what is named in such an answer is well formed, and not there
        found = [
            replace(hint, kind="not_found") if hint.kind == "refused" else hint for hint in found
        ]
        given = [name for name, value in reader.sent.items() if value is not None]
        nowhere = re.search(
            r"cannot get|no route|route not found|requested url|page not found|endpoint",
            text.lower(),
        )
        if (
            len(given) == 1 and not nowhere
        ):  # of an answer that says no more: the one value that was sent
            found.append(ArgumentHint(kind="not_found", argument=given[0], text=text))
    kept: dict[ArgumentHint, ArgumentHint] = {}
    for hint in found:
        kept.setdefault(replace(hint, text=""), replace(hint, text=one_line(hint.text, limit=200)))
    told = {hint.argument for hint in kept.values() if hint.kind != "refused"}
    return tuple(
        hint for hint in kept.values() if hint.kind != "refused" or hint.argument not in told
    )


class _Reader:
    """Reads one refusal; `sent` are the arguments of its call."""

    def __init__(self, names: Mapping[str, str], sent: Mapping[str, Json]) -> None:
        self.sent = sent
        self._folded = {snake(spelled): name for spelled, name in names.items()}

    def find_argument(self, spelled: Json) -> str | None:
        """The argument that a service spells so."""
        return self._folded.get(snake(spelled)) if isinstance(spelled, str) and spelled else None

    def read(self, text: str) -> Iterator[ArgumentHint]:
        """The hints of a whole reply: those of its complaints, else of its sentences."""
        document = _document(text)
        if not isinstance(document, dict | list):
            yield from self._sentences(text)
            return
        said = set()
        for path, words, inside in self._complaints(document):
            said.add(words)
            yield from self._complaint(path, words, inside)
        for words in _messages(document):
            if not any(words in told for told in said):
                yield from self._sentences(words)

    def _complaints(self, document: Json) -> Iterator[_Complaint]:
        queue: list[Json] = [document]
        for _ in range(2_000):
            if not queue:
                return
            node = queue.pop(0)
            if isinstance(node, list):
                queue += node[:_MOST]
            elif isinstance(node, Mapping) and (path := self._find_path(node)):
                inner = [part for part in node.values() if isinstance(part, Mapping)]
                yield (
                    path,
                    _words_of(node),
                    {**node, **{k: v for part in inner for k, v in part.items()}},
                )
            elif isinstance(node, Mapping):
                yield from self._field_map(node, top=node is document)
                queue += [part for key, part in list(node.items())[:_MOST] if isinstance(part, dict | list)
                          and key not in ("input", "value", "body", "query") and not self.find_argument(key)]  # fmt: skip

    def _find_path(self, node: Mapping[str, Json]) -> tuple[str, ...]:
        """The path to an argument that an object gives; empty where it gives none."""
        source = node.get("source")
        if isinstance(source, Mapping):  # JSON:API
            node = {**node, "pointer": source.get("pointer"), "parameter": source.get("parameter")}
        if "timestamp" in node or not any(
            isinstance(node.get(key), str) for key in (*_WORDS, *_CODES)
        ):
            return ()
        for key in _PLACE_KEYS:
            value = node.get(key)
            path = tuple(map(str, value)) if isinstance(value, list) else _steps(value)
            sure = (
                key in _PLACE_KEYS[:11]
                or isinstance(value, list)
                or "location" in node
                or "in" in node
            )
            if (
                path
                and len(path) <= 20
                and (sure or self.find_argument(_argument_in(path)))
                and " " not in path[-1]
            ):
                return path
        return ()

    def _field_map(self, node: Mapping[str, Json], *, top: bool) -> Iterator[_Complaint]:
        """Complaints of a map from fields to messages: `{"limit": ["A valid integer is
        required."]}`.
        """
        plain = all(
            isinstance(value, list | Mapping) for value in node.values()
        )  # then all in it are messages
        for key, value in list(node.items())[:_MOST]:
            known = self.find_argument(key)
            folded = key.lower()
            if not known and (folded in _NOT_FIELDS or (folded in _SELDOM_FIELDS and not plain)):
                continue
            if isinstance(value, Mapping) and folded not in _PLACES and not self._find_path(value):
                value = _words_of(value)
            about = known or not (
                top or self._find_named_arguments(str(value))
            )  # else about the argument that it names
            if (
                isinstance(value, str)
                and about
                and " " in value.strip()
                and value != self.sent.get(key)
            ):
                value = [value]
            if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
                path = (key,) if known else _steps(key)
                yield from ((path, words, {}) for words in value[:20])

    def _complaint(
        self, path: tuple[str, ...], words: str, inside: Mapping[str, Json]
    ) -> Iterator[ArgumentHint]:
        spelled = _argument_in(path)
        extra = inside.get("missingProperty") or inside.get("additionalProperty")
        if isinstance(extra, str):  # JSON Schema's path is that of the object around
            spelled = extra
            path = (extra,)
        name = self.find_argument(spelled)
        facts = read_requirement(words)
        listed = next(
            (
                found
                for key in ("allowedValues", "allowed", "options")
                if (found := inside.get(key))
            ),
            None,
        )
        facts += (
            [ArgumentHint(kind="enum", values=tuple(listed))] if isinstance(listed, list) else []
        )
        pattern = inside.get("pattern")
        if isinstance(pattern, str):  # in JavaScript between slashes
            facts.append(ArgumentHint(kind="pattern", pattern=re.sub(r"^/(.*)/$", r"\1", pattern)))
        if name is None:
            told = {
                fact.kind for fact in facts
            }  # what was not sent, and is complained of, is an argument
            missed = "missing" in told or (
                inside and "unknown" not in told and spelled.lower() not in _PLACES
            )
            if missed and re.fullmatch(r"[A-Za-z_][\w.-]{0,60}", spelled):
                yield ArgumentHint(kind="missing", argument=spelled, text=words)
        elif (
            len([step for step in path if step.lower() not in _PLACES]) > 1
        ):  # of a part of the argument
            yield ArgumentHint(kind="refused", argument=name, text=words)
        else:
            yield from (replace(fact, argument=name, text=words) for fact in facts)
            if not facts:
                yield ArgumentHint(kind="refused", argument=name, text=words)

    def _sentences(self, text: str) -> Iterator[ArgumentHint]:
        """What sentences say that name an argument, or quote its value."""
        for match in re.finditer(
            r"missing \d+ required [\w-]+ arguments?: ([^\n]{1,500})", text
        ):  # Python's own words
            for name in re.findall(r"'(\w+)'", match[1]):
                yield ArgumentHint(
                    kind="missing", argument=self.find_argument(name) or name, text=match[0]
                )
        before: list[
            ArgumentHint
        ] = []  # what a sentence says that names nothing: of what the next one names
        for sentence in re.split(r"(?<=[a-z0-9'\"\])…])[.;!](?:\s+|$)|\n", text[:4_000])[:20]:
            said = re.sub(
                r"(?:arguments|parameters|fields|options)(?: are)?: [\w, .'-]+", "", sentence
            )  # all there are
            facts = read_requirement(said)
            names = self._find_named_arguments(said)
            stated = REPLY_PATTERNS["stated"].search(said.strip())
            new = next(filter(None, stated.groups()), "") if stated else ""
            if not self.find_argument(new) and re.fullmatch(r"[A-Za-z_]\w{0,60}", new):
                certain = [
                    fact for fact in facts if fact.kind == "missing" or (stated and stated[3])
                ]
                yield from (replace(fact, argument=new, text=sentence) for fact in certain)
            for name in (
                names[:1] if facts else names
            ):  # the first is the subject; the others may be its values
                told = facts or before or [ArgumentHint(kind="refused")]
                yield from (replace(fact, argument=name, text=sentence) for fact in told)
            before = [fact for fact in facts if not names and fact.kind != "unknown"]

    def _find_named_arguments(self, sentence: str) -> list[str]:
        """The arguments that a sentence names, in its order, else the one whose value it quotes."""
        found: dict[str, None] = {}
        for match in re.finditer(
            rf"{_QUOTED}|(?<![\w.])([A-Za-z_][\w-]*(?:\.\w+)*)(?![\w(])", sentence
        ):
            name = self.find_argument(match[1] or match[2])
            word = match[2] or ""
            if sentence[match.end() :][:1] == "/" and word.lower() in _PLACES:
                continue  # `body/limit must be …`
            if name is not None and (
                match[1] or match.start() == 0 or (len(word) > 2 and word not in _PLAIN)
            ):
                found.setdefault(name)
        for quoted in re.finditer(_QUOTED, sentence) if not found else ():
            holding = [name for name, value in self.sent.items() if url_text(value) == quoted[1]]
            found.update(dict.fromkeys(holding if len(holding) == 1 else ()))
        return list(found)


_LISTED = re.compile(
    r"(?:one of|among|(?:allowed|available|valid|known|supported|possible|permitted) \w+\b(?: are| include)?"
    r"|choose from|should be|expected)\W{0,4}"
    r"((?:['\"`\[]?[\w./:+-]+['\"`\]]?(?:, (?:or |and )?| or | and |\|))+['\"`\[]?[\w./:+-]+)",
    re.IGNORECASE,
)
_ISSUES = re.compile(r"\[\s*\{")
_PART = r"(?:%[YmdHMS]|(?i:YYYY|MM|DD|HH|SS)(?![A-SU-Za-su-z]))"
_MASK = re.compile(rf"(?<![\w%]){_PART}(?:[-/.:, T]{{1,2}}{_PART})+")


def read_requirement(words: str) -> list[ArgumentHint]:
    """What a clause says that a value must be, whichever argument it is about."""
    words = re.sub(
        r",? (?:but )?(?:got|found|was|received):? .*|, (?:but )?not .*", "", words[:8_000]
    )
    low = words[:600].lower()
    if REPLY_PATTERNS["unknown"].search(low):
        return [ArgumentHint(kind="unknown")]
    if "at least one of" in low:
        return [ArgumentHint(kind="any_of")]
    found = [ArgumentHint(kind="missing")] if REPLY_PATTERNS["missing"].search(low) else []
    if listed := _LISTED.search(words[:4_000]):
        parts = (part.strip(" '\"`[]().") for part in re.split(r",|\bor\b|\band\b|\|", listed[1]))
        values = tuple(part for part in parts if part and " " not in part)
        if len(values) > 1 and not any(value.lower() in TYPE_WORDS for value in values):
            return [*found, ArgumentHint(kind="enum", values=values)]
    found += _read_bounds(low)
    mask = _MASK.search(words[:600])
    if matched := REPLY_PATTERNS["matched"].search(words[:4_000]):
        found.append(ArgumentHint(kind="pattern", pattern=matched[1] or matched[2]))
    elif "isoformat" in low:  # Python's own word, for dates and times alike
        found.append(ArgumentHint(kind="pattern", pattern=r"^\d{4}-\d{2}-\d{2}"))
    elif mask and mask[0].upper() not in ("YYYY-MM-DD", "%Y-%M-%D"):
        text = mask[0].replace(".", r"\.")
        form = re.sub(_PART, lambda part: r"\d{4}" if "y" in part[0].lower() else r"\d{1,2}", text)
        found.append(ArgumentHint(kind="pattern", pattern=f"^{form}$"))
    typed = REPLY_PATTERNS["typed"].search(low)
    if typed and not any(hint.kind == "length" for hint in found):
        found.append(ArgumentHint(kind="type", types=(TYPE_WORDS[typed[1]],)))
    elif "true or false" in low:
        found.append(ArgumentHint(kind="type", types=("boolean",)))
    elif not found and re.search(
        r"valid|format|must be|should be|expected|parse|convert|is not", low
    ):
        form = next(
            (form for pattern, form in FORMAT_PHRASES.items() if re.search(pattern, low)), ""
        )
        found += [ArgumentHint(kind="format", format=form)] if form else []
    return found or ([ArgumentHint(kind="not_found")] if REPLY_PATTERNS["lost"].search(low) else [])


_BETWEEN = re.compile(
    rf"(?:from|between|range|in) \W?{_NUMBER}(?: to | and |-|\.\.|, ?|–){_NUMBER}"
    rf"|{_NUMBER} to {_NUMBER} (?:character|letter|item|element)"
)
_ABOVE = "(?:greater|more|larger|longer) than"
_BELOW = "(?:less|fewer|smaller|lower|shorter) than"
_NOT = "(?:not be|not have|no) "
_SIMPLY = "(?<!not be )(?<!not have )(?<!no )"
_LEAST = re.compile(
    rf"(?:at least|minimum(?: is| of|:)?|{_NOT}{_BELOW}|{_SIMPLY}{_ABOVE}(?: or equal to)?|>=?) ?{_NUMBER}"
)
_MOST_OF = re.compile(
    rf"(?:at most|maximum(?: is| of|:)?|exceeds?|up to|<=?|{_NOT}{_ABOVE}|{_SIMPLY}{_BELOW}(?: or equal to)?) "
    rf"?{_NUMBER}"
)


def _read_bounds(low: str) -> list[ArgumentHint]:
    """Ranges and lengths. A bound that is itself excluded counts as allowed: what nobody is sure of
    is not excluded.
    """
    sized = re.search(r"character|letter|\blong\b|length|short|items?\b|elements?\b", low)
    least = _LEAST.search(low)
    most = _MOST_OF.search(low)
    ends = least and least[1], most and most[1]
    if both := _BETWEEN.search(low):
        ends = both[1] or both[3], both[2] or both[4]
    elif "positive integer" in low:
        ends = "1", ends[1]
    minimum, maximum = (_number(end) if end else None for end in ends)
    return (
        [ArgumentHint(kind="length" if sized else "range", minimum=minimum, maximum=maximum)]
        if any(ends)
        else []
    )


def _argument_in(path: tuple[str, ...]) -> str:
    """The argument that a path leads to: its first step that does not say where arguments travel."""
    return next((step for step in path if step.lower() not in _PLACES), path[-1] if path else "")


def _steps(text: Json) -> tuple[str, ...]:
    """`/data/attributes/limit`, `body.limit`, `items[0].price` as steps."""
    found = re.split(r"[/.\[\]]+", text[:300].lstrip("$#")) if isinstance(text, str) else []
    return tuple(part for part in found if part)


def _words_of(node: Mapping[str, Json]) -> str:
    """The words of a complaint, its code among them."""
    words = [str(node[key]) for key in _WORDS if isinstance(node.get(key), str)]
    words += [
        snake(str(node[key])).replace("_", " ") for key in _CODES if isinstance(node.get(key), str)
    ]
    return ". ".join(words)


def _document(text: str) -> Json:
    """A reply as JSON, also where a text holds a list of complaints: Zod's are the message of its
    error.
    """
    listed = _ISSUES.search(text)
    for part in (text, text[listed.start() : text.rfind("]") + 1] if listed else ""):
        with suppress(ValueError, RecursionError):
            return cast("Json", json.loads(part, object_hook=_unfold))
    return None


def _unfold(node: dict[str, Json]) -> dict[str, Json]:
    held = {
        key: _document(part)
        for key, part in node.items()
        if isinstance(part, str) and _ISSUES.match(part)
    }
    return node | {key: part for key, part in held.items() if part is not None}


def _messages(document: Json, depth: int = 5) -> Iterator[str]:
    """The sentences of a document: under the keys that hold words, else any text with a space in
    it.
    """
    if isinstance(document, str):
        yield document
    elif isinstance(document, list) and depth:
        for part in document[:20]:
            yield from _messages(part, depth - 1)
    elif isinstance(document, Mapping) and depth:
        for key, part in list(document.items())[:_MOST]:
            if isinstance(part, str) and (key.lower() in _TEXTS or " " in part):
                yield part
            elif isinstance(part, dict | list):
                yield from _messages(part, depth - 1)


def _number(value: str) -> float:
    number = float(value.replace(",", ""))
    return int(number) if number.is_integer() and "." not in value else number
