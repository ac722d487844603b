"""Turns error replies into hints about the arguments of a tool.

A complaint is one error in a JSON reply. Two structures of complaints are recognised: lists of them
(FastAPI, JSON:API, RFC 9457, JSON Schema output, GraphQL-like), and maps from fields to messages
(DRF, Rails, ASP.NET). A plain sentence gives a hint only if it names an argument and clearly states
what the argument must be. A model may read other replies, see `probing.model_hints`. The amount of
text that is read is limited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import cast

from probing.argument_hints import ArgumentHint, read_requirement
from probing.name_distance import (
    REPLIES,
    REPLY_PATTERNS,
    url_text,
)
from probing.refusals import reply_of
from probing.reply_documents import (
    CODE_KEYS,
    MESSAGE_KEYS,
    MOST_ENTRIES,
    iter_messages,
    read_document,
    split_path,
    words_of_error,
)
from probing.samples import Sample
from protocols.naming import snake
from protocols.response import one_line
from protocols.schema import Json

_PLACES = frozenset(REPLIES["places"])
"""Words for the part of a request that contains the arguments, such as `body` and `query`."""
_NOT_FIELDS = frozenset(REPLIES["no_arguments"])
"""Keys of error replies that are never names of arguments."""
_SELDOM_FIELDS = frozenset(REPLIES["seldom"])
"""Keys that are names of arguments only in an object whose values are all lists or objects."""
_PLACE_KEYS = REPLIES["place_keys"]
_PLAIN = frozenset({"date", "field", "format", "name", "number", "text", "time", "type", "value"})
"""Argument names that are common words. In a sentence they count only if quoted or at its start."""
_Complaint = tuple[tuple[str, ...], str, Mapping[str, Json]]
"""One error in a JSON reply: (path to the argument that is wrong, message, the other fields)."""
_QUOTED = r"['\"`“‘]([^'\"`”’\n]{1,80})['\"`”’]"


def hints(sample: Sample, names: Mapping[str, str]) -> tuple[ArgumentHint, ...]:
    """Return the facts about arguments that the error reply of a call states, without duplicates.

    Args:
        sample: a call that failed, with its reply.
        names: the known arguments. The keys are the names that the service may use in its reply,
            and the values are the names that the protocol uses. If the reply names an argument that
            is not a key, only a `missing` hint is returned, and only if the name is certainly that
            of an argument.
    """
    text = reply_of(sample)
    if not text:
        return ()
    sent = json.dumps(sample.plain_arguments, default=str)
    return _hints(text, sample.status, sent, tuple(names.items()))


@lru_cache(maxsize=2048)
def _hints(
    text: str, status: int | None, sent: str, names: tuple[tuple[str, str], ...]
) -> tuple[ArgumentHint, ...]:
    reader = _Reader(dict(names), json.loads(sent))
    found = list(reader.read(text))
    if status in (404, 410):  # an argument that the reply names is well-formed but does not exist
        found = [
            replace(hint, kind="not_found") if hint.kind == "refused" else hint for hint in found
        ]
        given = [name for name, value in reader.sent.items() if value is not None]
        nowhere = re.search(
            r"cannot get|no route|route not found|requested url|page not found|endpoint",
            text.lower(),
        )
        if len(given) == 1 and not nowhere:  # it can only be the one value that was sent
            found.append(ArgumentHint(kind="not_found", argument=given[0], text=text))
    kept: dict[ArgumentHint, ArgumentHint] = {}
    for hint in found:
        kept.setdefault(replace(hint, text=""), replace(hint, text=one_line(hint.text, limit=200)))
    explained = {hint.argument for hint in kept.values() if hint.kind != "refused"}
    return tuple(
        hint for hint in kept.values() if hint.kind != "refused" or hint.argument not in explained
    )


class _Reader:
    """Reads the error reply of one call. `sent` has the arguments of the call."""

    def __init__(self, names: Mapping[str, str], sent: Mapping[str, Json]) -> None:
        self.sent = sent
        self._folded = {snake(spelled): name for spelled, name in names.items()}

    def find_argument(self, spelled: Json) -> str | None:
        """Return the protocol's name for the argument that a service calls `spelled`, or None."""
        return self._folded.get(snake(spelled)) if isinstance(spelled, str) and spelled else None

    def read(self, text: str) -> Iterator[ArgumentHint]:
        """Yield the hints in a whole reply.

        In a JSON reply, complaints (objects that report one error) are read first. Messages that
        belong to no complaint follow. Any other reply is read as sentences.
        """
        document = read_document(text)
        if not isinstance(document, dict | list):
            yield from self._hints_of_sentences(text)
            return
        read = set()
        for path, words, parameters in self._complaints(document):
            read.add(words)
            yield from self._hints_of_complaint(path, words, parameters)
        for message in iter_messages(document):
            if not any(message in words for words in read):
                yield from self._hints_of_sentences(message)

    def _complaints(self, document: Json) -> Iterator[_Complaint]:
        """Yield the errors in a JSON reply that are about one argument (here called complaints)."""
        queue: list[Json] = [document]
        for _ in range(2_000):
            if not queue:
                return
            node = queue.pop(0)
            if isinstance(node, list):
                queue += node[:MOST_ENTRIES]
            elif isinstance(node, Mapping) and (path := self._find_path(node)):
                parameters = dict(node)
                for part in node.values():
                    if isinstance(part, Mapping):
                        parameters.update(part)
                yield path, words_of_error(node), parameters
            elif isinstance(node, Mapping):
                yield from self._complaints_of_map(node, top=node is document)
                for key, part in list(node.items())[:MOST_ENTRIES]:
                    is_echo = key in ("input", "value", "body", "query")
                    if (
                        isinstance(part, dict | list)
                        and not is_echo
                        and not self.find_argument(key)
                    ):
                        queue.append(part)

    def _find_path(self, node: Mapping[str, Json]) -> tuple[str, ...]:
        """Return the path to an argument that a JSON object names, such as ("body", "limit").

        Return an empty tuple if the object does not report an error about an argument.
        """
        source = node.get("source")
        if isinstance(source, Mapping):  # JSON:API
            node = {**node, "pointer": source.get("pointer"), "parameter": source.get("parameter")}
        if "timestamp" in node or not any(
            isinstance(node.get(key), str) for key in (*MESSAGE_KEYS, *CODE_KEYS)
        ):
            return ()
        for key in _PLACE_KEYS:
            value = node.get(key)
            path = tuple(map(str, value)) if isinstance(value, list) else split_path(value)
            if not path or len(path) > 20 or " " in path[-1]:
                continue
            is_sure = key in _PLACE_KEYS[:11] or isinstance(value, list)
            is_sure = is_sure or "location" in node or "in" in node
            if is_sure or self.find_argument(_argument_in(path)):
                return path
        return ()

    def _complaints_of_map(self, node: Mapping[str, Json], *, top: bool) -> Iterator[_Complaint]:
        """Yield the errors in a map from fields to messages.

        An example is `{"limit": ["A valid integer is required."]}`. `top` is True if the map is the
        whole reply.
        """
        only_messages = all(isinstance(value, list | Mapping) for value in node.values())
        for key, value in list(node.items())[:MOST_ENTRIES]:
            folded = key.lower()
            is_known = self.find_argument(key) is not None
            is_seldom = folded in _SELDOM_FIELDS and not only_messages
            if not is_known and (folded in _NOT_FIELDS or is_seldom):
                continue
            messages = self._field_messages(key, value, top=top, is_known=is_known)
            if messages:
                path = (key,) if is_known else split_path(key)
                yield from ((path, message, {}) for message in messages[:20])

    def _field_messages(self, key: str, value: Json, *, top: bool, is_known: bool) -> Sequence[str]:
        """Return the error messages in the value of one field of a JSON reply, or an empty list.

        `key` is the name of the field. `top` is True if the field is in the outermost object of the
        reply, and `is_known` if the field is named like an argument.
        """
        if isinstance(value, Mapping) and key.lower() not in _PLACES and not self._find_path(value):
            value = words_of_error(value)
        if isinstance(value, str):
            # A text at the top, or one that names an argument, may be about another field.
            about_field = is_known or not (top or self._find_named_arguments(value))
            is_sentence = " " in value.strip() and value != self.sent.get(key)
            return [value] if about_field and is_sentence else []
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return cast("list[str]", value)
        return []

    def _hints_of_complaint(
        self, path: tuple[str, ...], words: str, parameters: Mapping[str, Json]
    ) -> Iterator[ArgumentHint]:
        """Yield the hints in one complaint, that is, one error in a JSON reply."""
        spelled = _argument_in(path)
        property_name = parameters.get("missingProperty") or parameters.get("additionalProperty")
        if isinstance(property_name, str):  # JSON Schema's path is that of the object around it
            spelled = property_name
            path = (property_name,)
        facts = [*read_requirement(words), *_parameter_hints(parameters)]
        name = self.find_argument(spelled)
        if name is None:
            if _is_missing(spelled, facts, parameters):
                yield ArgumentHint(kind="missing", argument=spelled, text=words)
        elif len([step for step in path if step.lower() not in _PLACES]) > 1 or not facts:
            # The path leads to a part of the argument, or the words say nothing that can be read.
            yield ArgumentHint(kind="refused", argument=name, text=words)
        else:
            yield from (replace(fact, argument=name, text=words) for fact in facts)

    def _hints_of_sentences(self, text: str) -> Iterator[ArgumentHint]:
        """Yield what the sentences of an error message say about arguments of the failed call.

        A sentence counts if it names an argument or quotes its value.
        """
        yield from self._hints_of_type_error(text)
        without_name: list[ArgumentHint] = []  # hints of a sentence that names no argument
        for sentence in re.split(r"(?<=[a-z0-9'\"\])…])[.;!](?:\s+|$)|\n", text[:4_000])[:20]:
            # A list of all arguments is not about any of them.
            rest = re.sub(
                r"(?:arguments|parameters|fields|options)(?: are)?: [\w, .'-]+", "", sentence
            )
            facts = read_requirement(rest)
            names = self._find_named_arguments(rest)
            yield from self._hints_on_new_argument(rest, facts, sentence)
            # The first argument is the subject; the others may be its values.
            for name in names[:1] if facts else names:
                stated = facts or without_name or [ArgumentHint(kind="refused")]
                yield from (replace(fact, argument=name, text=sentence) for fact in stated)
            without_name = [fact for fact in facts if not names and fact.kind != "unknown"]

    def _hints_of_type_error(self, text: str) -> Iterator[ArgumentHint]:
        """Yield a hint for each argument that a Python TypeError names as missing.

        The message is "f() missing 1 required positional argument: 'x'".
        """
        for match in re.finditer(r"missing \d+ required [\w-]+ arguments?: ([^\n]{1,500})", text):
            for name in re.findall(r"'(\w+)'", match[1]):
                argument = self.find_argument(name) or name
                yield ArgumentHint(kind="missing", argument=argument, text=match[0])

    def _hints_on_new_argument(
        self, words: str, facts: Sequence[ArgumentHint], sentence: str
    ) -> Iterator[ArgumentHint]:
        """Yield hints on an argument that was unknown until now, if a sentence clearly names one.

        `words` is the sentence, without any list of all arguments. `facts` has the hints that were
        found in the sentence.
        """
        stated = REPLY_PATTERNS["stated"].search(words.strip())
        if not stated:
            return
        new = next(filter(None, stated.groups()), "")
        if self.find_argument(new) or not re.fullmatch(r"[A-Za-z_]\w{0,60}", new):
            return
        for fact in facts:
            if fact.kind == "missing" or stated[3]:
                yield replace(fact, argument=new, text=sentence)

    def _find_named_arguments(self, sentence: str) -> list[str]:
        """Return the known arguments that a sentence names, in the order of the sentence.

        If it names none, return the arguments whose sent values are quoted in the sentence.
        """
        found: dict[str, None] = {}
        for match in re.finditer(
            rf"{_QUOTED}|(?<![\w.])([A-Za-z_][\w-]*(?:\.\w+)*)(?![\w(])", sentence
        ):
            quoted = match[1]
            word = match[2] or ""
            if sentence[match.end() :][:1] == "/" and word.lower() in _PLACES:
                continue  # `body/limit must be …`
            name = self.find_argument(quoted or word)
            is_plain_word = len(word) <= 2 or word in _PLAIN
            if name is not None and (quoted or match.start() == 0 or not is_plain_word):
                found.setdefault(name)
        return list(found) or self._find_quoted_arguments(sentence)

    def _find_quoted_arguments(self, sentence: str) -> list[str]:
        """Return the arguments whose sent values occur in quotes in a sentence.

        A value that was sent for several arguments is ignored.
        """
        found: dict[str, None] = {}
        for match in re.finditer(_QUOTED, sentence):
            holding = [name for name, value in self.sent.items() if url_text(value) == match[1]]
            if len(holding) == 1:
                found.setdefault(holding[0])
        return list(found)


def _parameter_hints(parameters: Mapping[str, Json]) -> list[ArgumentHint]:
    """Return the hints in fields of an error such as `allowedValues` and `pattern`."""
    found = []
    allowed = next(
        (parameters[key] for key in ("allowedValues", "allowed", "options") if parameters.get(key)),
        None,
    )
    if isinstance(allowed, list):
        found.append(ArgumentHint(kind="enum", values=tuple(allowed)))
    pattern = parameters.get("pattern")
    if isinstance(pattern, str):  # JavaScript writes it between slashes
        found.append(ArgumentHint(kind="pattern", pattern=re.sub(r"^/(.*)/$", r"\1", pattern)))
    return found


def _is_missing(
    spelled: str, facts: Sequence[ArgumentHint], parameters: Mapping[str, Json]
) -> bool:
    """Return True if an error says that a call lacks an argument which was unknown until now.

    `spelled` is the argument's name. `facts` has the hints in the message of the error, and
    `parameters` the other fields of the error.
    """
    kinds = {fact.kind for fact in facts}
    if not re.fullmatch(r"[A-Za-z_][\w.-]{0,60}", spelled):
        return False
    if "missing" in kinds:
        return True
    return bool(parameters) and "unknown" not in kinds and spelled.lower() not in _PLACES


def _argument_in(path: tuple[str, ...]) -> str:
    """Return the argument's name in a path such as ("body", "limit"): here "limit".

    This is the first part of the path that is not a word such as `body` or `query`. If all parts
    are such words, return the last one. Return "" for an empty path.
    """
    return next((step for step in path if step.lower() not in _PLACES), path[-1] if path else "")
