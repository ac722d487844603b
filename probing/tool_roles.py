"""Roles of tools and of their arguments, derived from the tools' protocols without calling them.

The role of a tool consists of what it does (create, update, remove, read), the kind of record it
works on (as a noun, such as `comment`), and which of its arguments identify a record.
"""

from __future__ import annotations

from collections.abc import Mapping

from probing.record_fields import is_id_name
from probing.tool_facts import place_of
from protocols.effects import UNKNOWN_EFFECT, is_known_read, likely_action
from protocols.effects.verbs import VerbKind, kind_of_word
from protocols.naming import ID_WORDS, VAGUE, singular, snake
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json

_NAME_WORDS = frozenset({
    "alias", "dest", "destination", "email", "file", "filename", "filepath", "name", "path",
    "source", "src", "title",
})  # fmt: skip
"""Last words in the names of arguments that identify a record although they are not ids."""
_SERVER_CHOSEN = frozenset({"guid", "id", "uid", "uuid"})
"""Names of ids that a service assigns itself if a call does not contain them."""
_PREPOSITIONS = frozenset({"at", "by", "for", "from", "in", "into", "of", "on", "to", "with"})


class ToolRoles:
    """The roles of all tools in a toolbox and of their arguments, such as what each tool does.

    Tools are identified by their names.
    """

    kinds: dict[str, VerbKind]
    """What each tool does: `create`, `update`, `remove`, `read`, or `end` (for example a session).
    A tool with an unknown effect counts as `create`, so that it gets no argument which could change
    an existing record."""
    writes: set[str]
    """Names of the tools that may change something."""

    def __init__(self, protocols: Mapping[str, ToolProtocol]) -> None:
        self._protocols = protocols
        self.kinds = {}
        for name, protocol in protocols.items():
            kind, reason = likely_action(protocol)
            self.kinds[name] = "create" if reason == UNKNOWN_EFFECT else kind
        self.writes = {
            name
            for name, protocol in protocols.items()
            if not is_known_read(protocol) and self.kinds[name] != "read"
        }
        self._nouns = {name: tool_noun(protocol) for name, protocol in protocols.items()}
        self._name_nouns = {name: name_nouns(protocol) for name, protocol in protocols.items()}

    def __contains__(self, tool: str) -> bool:
        """Return True if the toolbox has this tool."""
        return tool in self._protocols

    def protocol(self, tool: str) -> ToolProtocol:
        """Return the protocol of a tool."""
        return self._protocols[tool]

    def noun(self, tool: str) -> str:
        """Return the kind of record that a tool works on, such as `comment`; "" if unknown."""
        return self._nouns[tool]

    def creates_records(self, tool: str) -> bool:
        """Return True if each call of a tool may create one more record."""
        return tool in self.writes and self.kinds[tool] in ("create", "update")

    def works_on(self, tool: str, noun: str) -> bool:
        """Return True if a tool, or an id among its arguments, is about this kind of record."""
        nouns = {
            self.argument_noun(tool, name)
            for name in self._protocols[tool].parameters
            if self.identifies_record(tool, name)
        }
        nouns |= {self._nouns[tool], *self._name_nouns[tool]}
        return any(is_same_noun(noun, other) for other in nouns)

    def is_about(self, read: str, write: str) -> bool:
        """Return True if the tool `read` returns the kind of record that the tool `write` creates.

        This is assumed if both names have the same noun, or both URLs the same path.
        """
        return is_same_noun(self._nouns[read], self._nouns[write]) or self.has_same_path(
            read, write
        )

    def has_same_path(self, tool: str, other: str) -> bool:
        """Return True if two HTTP tools have the same URL path."""
        binding = self._protocols[tool].binding
        other_binding = self._protocols[other].binding
        return (
            isinstance(binding, HttpBinding)
            and isinstance(other_binding, HttpBinding)
            and path_parts(binding) == path_parts(other_binding)
        )

    def has_fixed_url(self, tool: str) -> bool:
        """Return True if the URL of an HTTP tool has no parameters: `PUT /profile`."""
        return "{" not in getattr(self._protocols[tool].binding, "url", "{")

    def identifies_record(self, tool: str, argument: str) -> bool:
        """Return True if an argument names the record that a call creates, changes or removes."""
        word = singular(snake(argument))
        before, _, last = word.rpartition("_")
        if place_of(self._protocols[tool], argument) == "path":
            return True
        if not (last in _NAME_WORDS or last in ID_WORDS or word in VAGUE):
            return False
        return (
            self.kinds[tool] == "remove"
            or not before
            or is_same_noun(singular(before), self._nouns[tool])
        )

    def part_identifies_record(self, tool: str, argument: str, key: str) -> bool:
        """Return True if an argument, or the field `key` inside its value, identifies a record."""
        return self.identifies_record(tool, argument) or (
            key != argument and self.identifies_record(tool, key)
        )

    def identifying_arguments(self, tool: str) -> list[str]:
        """Return the arguments of a tool that identify a record and whose value the caller chooses.

        Arguments such as `id`, which the service assigns to a new record itself, are left out.
        """
        return [
            name
            for name in self._protocols[tool].parameters
            if self.identifies_record(tool, name) and snake(name) not in _SERVER_CHOSEN
        ]

    def is_reference(self, tool: str, argument: str) -> bool:
        """Return True if an argument refers to a record.

        It is named like an id (`user_id`), or like the kind of record of another tool (`user`).
        """
        if is_id_name(argument):
            return True
        word = snake(argument)
        return word != self._nouns[tool] and word in self._nouns.values()

    def is_filter(self, tool: str, argument: str) -> bool:
        """Return True if an argument is optional and in the query, a header or a cookie.

        Such an argument may be a filter that the service ignores.
        """
        protocol = self._protocols[tool]
        return (
            place_of(protocol, argument) in ("query", "header", "cookie")
            and argument not in protocol.required
        )

    def is_parent(self, tool: str, argument: str) -> bool:
        """Return True if an argument identifies the container of a record.

        It is in the URL path, but not in the last segment: `bucket_id` in
        `/buckets/{bucket_id}/records/{id}`.
        """
        protocol = self._protocols[tool]
        binding = protocol.binding
        if not isinstance(binding, HttpBinding) or place_of(protocol, argument) != "path":
            return False
        placeholder = _placeholder(binding, argument)
        return not any(placeholder in part for part in path_parts(binding)[-1:])

    def argument_noun(self, tool: str, argument: str) -> str:
        """Return the kind of record that an argument identifies: `user` for `user_id`.

        If neither its name nor the URL shows it, return the kind of record of the tool.
        """
        protocol = self._protocols[tool]
        before, _, last = snake(argument).rpartition("_")
        if before and (last in ID_WORDS or singular(last) in ID_WORDS):
            return singular(before)
        if place_of(protocol, argument) == "path" and isinstance(protocol.binding, HttpBinding):
            parts = path_parts(protocol.binding)
            placeholder = _placeholder(protocol.binding, argument)
            position = next((n for n, part in enumerate(parts) if placeholder in part), 0)
            if position and "{" not in parts[position - 1]:
                return singular(snake(parts[position - 1]))
        return self._nouns[tool]

    def listed_values(self, tool: str, argument: str) -> list[Json]:
        """Return the only values that the schema of an argument allows (`enum`, `const`).

        Return an empty list if the schema does not list any.
        """
        schema = self._protocols[tool].parameters.get(argument, {})
        constant = [schema["const"]] if "const" in schema else []
        return [*schema.get("enum", []), *constant]


def tool_noun(protocol: ToolProtocol) -> str:
    """Return the kind of record that a tool works on, as a noun in the singular; "" if unknown.

    The kind is `comment` for `add_comment_to_note` and for `POST /notes/{id}/comments`.
    """
    parts = path_parts(protocol.binding) if isinstance(protocol.binding, HttpBinding) else []
    fixed = [snake(part) for part in parts if part and "{" not in part]
    for part in reversed(fixed):
        words = part.split("_")
        starts_with_verb = kind_of_word(words[0]) is not None
        if words := words[starts_with_verb:]:
            return singular("_".join(words))
    if fixed:
        return singular(fixed[-1])
    nouns = name_nouns(protocol)
    return nouns[-1] if nouns else ""


def name_nouns(protocol: ToolProtocol) -> list[str]:
    """Return the words of a tool's name before the first preposition, without its verb.

    The words are in the singular: `["comment"]` for `add_comments_to_note`.
    """
    words = snake(protocol.name).split("_")
    end = next((n for n, word in enumerate(words) if word in _PREPOSITIONS and n), len(words))
    verb = next((n for n, word in enumerate(words[:end]) if kind_of_word(word)), -1)
    return [singular(word) for n, word in enumerate(words[:end]) if n != verb]


def is_same_noun(noun: str, other: str) -> bool:
    """Return True if two nouns mean the same kind of record, such as `alert` and `storm_alert`."""
    if not noun or not other:
        return False
    return noun == other or noun.endswith(f"_{other}") or other.endswith(f"_{noun}")


def path_parts(binding: HttpBinding) -> list[str]:
    """Return the segments of the path of a tool's URL, without host and query."""
    return binding.url.partition("?")[0].rstrip("/").split("/")[3:]


def _placeholder(binding: HttpBinding, argument: str) -> str:
    return f"{{{binding.wire_names.get(argument, argument)}}}"
