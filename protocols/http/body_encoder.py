"""Encodes the body of an HTTP request: a form, JSON, a text or the bytes of a file."""

from __future__ import annotations

import json
from collections.abc import Mapping

from protocols.errors import ToolError
from protocols.file_names import OCTETS
from protocols.file_schemas import is_file
from protocols.files import FileValue
from protocols.http.file_bodies import (
    Body,
    StreamedBody,
    holds_file,
    media_of_parts,
    multipart_body,
    with_base64,
)
from protocols.http.values import url_encode
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json, JsonObject

_MULTIPART = "multipart/form-data"


class BodyEncoder:
    """Encodes the bodies of the requests of one tool."""

    def __init__(
        self,
        protocol: ToolProtocol,
        binding: HttpBinding,
        forms: Mapping[str, JsonObject],
        joins: Mapping[str, str],
        *,
        has_json_fields: bool,
    ) -> None:
        """Prepare to encode the bodies of a tool.

        `forms` are the schemas of the arguments that are sent in a form. `joins` says how lists and
        objects are sent. Both are keyed by argument. If `has_json_fields` is True, the body is a
        JSON object even if the call gives it no field.
        """
        self._tool = protocol.name
        self._has_json_fields = has_json_fields
        self._parts = media_of_parts(protocol, binding, forms, joins)
        has_file = any(is_file(schema, protocol.input_schema) for schema in forms.values())
        self._multipart = has_file or binding.media == _MULTIPART
        body = protocol.parameters.get(binding.body_argument or "")
        schema = body if isinstance(body, Mapping) else {}
        self._media = binding.media or str(schema.get("contentMediaType", "application/json"))

    def encode(self, at: Mapping[str, Mapping[str, Json]]) -> tuple[Body, str]:
        """Return the encoded body and its media type, or (None, "") if the request has no body.

        `at` has the values to send, keyed by location (such as `form`) and then by name.

        Raises:
            ToolError: a file is too large for JSON.
        """
        if at["form"] and (self._multipart or any(map(holds_file, at["form"].values()))):
            return multipart_body(at["form"], self._parts)
        if at["form"]:
            return url_encode(at["form"]).encode(), "application/x-www-form-urlencoded"
        if at["whole_body"]:
            (value,) = at["whole_body"].values()
            return self._whole_body(value)
        if at["body"] or self._has_json_fields:
            return self._json_body(at["body"])  # {} if every field is optional and none is given
        return None, ""

    def _whole_body(self, value: Json) -> tuple[Body, str]:
        """Return the body for an argument that is the whole body, and its media type."""
        if self._media.endswith("json"):
            return self._json_body(value)
        if isinstance(value, FileValue):
            is_open = self._media in ("", OCTETS) or "*" in self._media
            return StreamedBody([value]), value.info.media_type if is_open else self._media
        if isinstance(value, str):
            return value.encode(), self._media
        return self._json_body(value)

    def _json_body(self, value: Json) -> tuple[Body, str]:
        """Return a value as JSON, and the media type of the body. Files become base64.

        Raises:
            ToolError: a file is too large for JSON.
        """
        try:
            value = with_base64(value)
        except ValueError as error:
            raise ToolError(None, f"{self._tool}: {error}.", outcome="not_run") from None
        return json.dumps(value, separators=(",", ":")).encode(), self._media
