"""Decides which values and texts of calls a protocol may show, and hides secrets."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any

from probing.infer import nodes
from probing.samples import Sample, Value
from probing.tool_facts import ToolFacts
from protocols.schema import Json
from protocols.secrets import (
    encoded_forms,
    find_embedded_secrets,
    is_blank_or_mask,
    replace_secrets,
    secrets_of,
)
from protocols.secrets.names import is_secret

_SHORTEST_SECRET = 4
"""Minimum number of characters of a secret. Shorter texts may be ordinary words."""
_SHORT_VALUE = 2
"""A value of at most this many characters is recognised in a text only if it is in quotes."""
_LONGEST_RESPONSE = 2_000
"""Maximum number of characters of a response, as JSON, that is shown in an example."""
_HIDDEN = "<secret>"
_QUOTED = re.compile(r"(?<!\w)(['\"`])([^'\"`]{1,80})\1")
UNOWNED_KINDS = frozenset({"given", "enum", "error", "generated"})
"""Origins of values that are not private data: the tool's own texts, and invented values."""


class Disclosure:
    """Decides what a protocol may show of the values and texts of one tool.

    Secrets are never shown: they are replaced in every text. A value counts as a secret if its
    field has a name such as `password`, or if the value itself looks like one, in any call of the
    tool. Other values of calls are shown only if `keep_values` is True.
    """

    def __init__(self, facts: ToolFacts, *, keep_values: bool) -> None:
        self._keep_values = keep_values
        self._arguments = facts.arguments
        self._input = facts.protocol.input_schema
        self._output = facts.protocol.output_schema
        found: set[str] = set()
        for sample in facts.samples:
            found.update(map(str, secrets_of(sample.plain_arguments, self._input)))
            found.update(map(str, secrets_of(sample.response, self._output)))
            found.update(
                (*find_embedded_secrets(sample.error), *find_embedded_secrets(sample.answer or ""))
            )
        spellings: set[str] = set()
        for text in found:
            if len(text) >= _SHORTEST_SECRET and not is_blank_or_mask(text):
                spellings.update(encoded_forms(text))
        self._secrets = sorted(spellings, key=lambda text: (-len(text), text))

    def text(self, text: str) -> str:
        """Return a text with `<secret>` in place of each secret."""
        for spelled in (*find_embedded_secrets(text), *self._secrets):
            text = text.replace(spelled, _HIDDEN)
        return text

    def words(self, text: str, arguments: Mapping[str, Value]) -> str:
        """Return an error message in which values are replaced by placeholders.

        The value of an argument becomes `{name}`. Other texts in quotes become `…`, unless
        `keep_values` is True.
        """
        for name, given in sorted(arguments.items(), key=lambda pair: -len(str(pair[1].value))):
            text = _insert_argument_name(text, name, given.value)
        text = self.text(text)
        return text if self._keep_values else _QUOTED.sub(self._hide_quotation, text)

    def may_show(self, name: str, value: Value) -> bool:
        """Return True if the value of an argument may be shown as it is."""
        secret = secrets_of({name: value.value}, self._input) or self._contains_secret(value.value)
        return (self._keep_values or value.origin.kind in UNOWNED_KINDS) and not secret

    def may_show_arguments(self, sample: Sample) -> bool:
        """Return True if all arguments of a call may be shown as they are."""
        return all(self.may_show(name, value) for name, value in sample.arguments.items())

    def result(self, response: Json) -> Json:
        """Return a response without secrets for an example, or None if it must not be shown.

        It must not be shown if it is too long, or if values of calls are kept private.
        """
        if not self._keep_values or len(json.dumps(response)) > _LONGEST_RESPONSE:
            return None
        return replace_secrets(response, self._output, lambda _: _HIDDEN, rest=self._hide_in_leaf)

    def _hide_in_leaf(self, leaf: Json) -> Json:
        return self.text(leaf) if isinstance(leaf, str) else leaf

    def schema(self, schema: Json) -> Any:
        """Return a copy of a schema without any `enum` or `examples` that contains a secret."""
        changed = copy.deepcopy(schema)
        for path, node in nodes(changed):
            name = path.rpartition(".")[2].rstrip("[]*")
            for key in ("enum", "examples"):
                listed = node.get(key)
                if isinstance(listed, list) and any(
                    self._contains_secret(v) or is_secret(name, v) for v in listed
                ):
                    del node[key]
        return changed

    def _contains_secret(self, value: Json) -> bool:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return self.text(text) != text

    def _hide_quotation(self, found: re.Match[str]) -> str:
        named = found[2] in self._arguments or found[2].startswith("{")
        return found[0] if named else f"{found[1]}…{found[1]}"


def _insert_argument_name(text: str, name: str, value: Json) -> str:
    """Return a text in which the value of an argument is replaced by `{name}`, the argument's name.

    A short value is replaced only where it is quoted. Elsewhere it may be an ordinary word, or a
    limit that the text states.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, str | int | float)
        or not str(value).strip()
    ):
        return text
    spelled = re.escape(str(value))
    pattern = (
        rf"(?<!\w)(){spelled}(?!\w)" if len(str(value)) > _SHORT_VALUE else rf"(['\"`]){spelled}\1"
    )
    return re.sub(pattern, lambda found: f"{found[1]}{{{name}}}{found[1]}", text)
