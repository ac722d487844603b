"""Rules for tools that change data: a call must not affect records that probing did not create.

A call that creates a record must contain the random mark of this probing run, by which the record
is recognised. A call that changes or removes a record must identify one that a read-only tool has
shown to be created by this run.
"""

from __future__ import annotations

from probing.name_distance import scalar_parts
from probing.ownership import CreatedRecords
from probing.record_fields import argument_parts, is_id_name
from probing.tool_roles import ToolRoles
from protocols.schema import Json, JsonObject


class WriteRules:
    """Decides for each call of a tool that changes data whether it may be sent."""

    last_refusals: dict[str, str]
    """The reason for the latest refusal of a call, keyed by the tool's name."""

    def __init__(self, roles: ToolRoles, created: CreatedRecords) -> None:
        self._roles = roles
        self._created = created
        self.last_refusals = {}

    def refusal_reason(self, tool: str, arguments: JsonObject) -> str:
        """Return why a call must not be sent, or "" if it may be sent.

        It must not be sent if it might change records that probing did not create.
        """
        if tool not in self._roles.writes:
            return ""
        self._created.update()
        if self._roles.kinds[tool] == "create":
            reason = self._creation_refusal(tool, arguments)
        else:
            reason = self._change_refusal(tool, arguments)
        if reason:
            self.last_refusals[tool] = reason
        return reason

    def _creation_refusal(self, tool: str, arguments: JsonObject) -> str:
        roles = self._roles
        created = self._created
        if roles.has_fixed_url(tool) and created.is_single_record(tool):
            return "a read of the same address shows one record, which it would write over"
        for name in roles.identifying_arguments(tool):
            if name not in arguments:
                return f"without {name!r} it might write over what is there"
        recognisable = False
        for name, value in arguments.items():
            for key, part in scalar_parts(name, value):
                if reason := self._new_value_refusal(tool, name, key, part):
                    return reason
                recognisable = recognisable or self._makes_recognisable(tool, key, part)
        return "" if recognisable else self._unrecognisable_refusal(tool, arguments)

    def _unrecognisable_refusal(self, tool: str, arguments: JsonObject) -> str:
        """Return why a call must not create a record without the random mark, or "" if it may.

        None of the call's arguments contains the mark, so the record may look like an existing one.
        """
        has_more_arguments = self._roles.protocol(tool).parameters.keys() - arguments.keys()
        if has_more_arguments and not self._created.answers_with_id(tool):
            return "nothing in it would carry this probing's mark"
        # The service may find an existing record by any of these values, and write over it.
        for key, part in argument_parts(arguments):
            if self._created.exists_already(tool, key, part):
                return (
                    "nothing in it carries the mark, "
                    f"and a read shows {key!r} of this value already"
                )
        return ""

    def _new_value_refusal(self, tool: str, argument: str, key: str, value: Json) -> str:
        """Return why a creating call may not send `value`, or "" if it may.

        `key` is the field of the argument that contains the value, or the argument's own name.
        """
        if self._created.belongs_to_probe(tool, key, value, unconfirmed=True):
            return ""
        if self._roles.part_identifies_record(tool, argument, key):
            return (
                f"{key!r} would not carry this probing's mark, and might be that of what is there"
            )
        listed = value in self._roles.listed_values(tool, argument)
        if is_id_name(key) and not listed and self._created.exists_already(tool, key, value):
            return f"a read shows {key!r} of this value already"
        return ""

    def _makes_recognisable(self, tool: str, key: str, value: Json) -> bool:
        """Return True if this value in a call makes the created record recognisable."""
        if self._created.belongs_to_probe(tool, key, value, unconfirmed=True):
            return value is not None and not isinstance(value, bool)
        return is_id_name(key)

    def _change_refusal(self, tool: str, arguments: JsonObject) -> str:
        identified = False
        for name, value in arguments.items():
            in_list = isinstance(value, list)
            for key, part in scalar_parts(name, value):
                identifies = self._roles.part_identifies_record(tool, name, key)
                may_identify = self._may_identify(tool, name, part)
                if (identifies or may_identify) and not self._created.belongs_to_probe(
                    tool, key, part
                ):
                    return f"{key!r} is of nothing that was shown to carry this probing's mark"
                if (identifies or (may_identify and in_list)) and self._selects_existing(
                    tool, name, key, part
                ):
                    identified = True
        if identified:
            return ""
        return "it is not told which record is meant, so it might be one that was there before"

    def _may_identify(self, tool: str, argument: str, value: Json) -> bool:
        """Return True if a tool that removes records may interpret this string as an id."""
        return (
            self._roles.kinds[tool] == "remove"
            and isinstance(value, str)
            and value not in self._roles.listed_values(tool, argument)
        )

    def _selects_existing(self, tool: str, argument: str, key: str, value: Json) -> bool:
        """Return True if a value limits the effect of a call to one existing record.

        Return False for a filter, because the service may ignore it. Return False also for a new
        value if the URL is fixed: `PUT /profile` with a new name renames the existing profile.
        """
        if self._roles.is_filter(tool, argument):
            return False
        return not self._roles.has_fixed_url(tool) or self._created.is_created_id(tool, key, value)
