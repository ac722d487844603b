"""Turns the result of an MCP tool, or of a resource that was read, into the program's value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from protocols.errors import Outcome, ToolError
from protocols.mcp.files import file_of_block
from protocols.response import parse_json
from protocols.schema import (
    Json,
    JsonObject,
    all_types,
    as_mapping,
    dumps,
    iter_parts,
    type_name,
    unwrap_schema,
)

_UNSURE = re.compile(
    r"timed?[ -]?out|timeout|ECONNRESET"
    r"|\b(EPIPE|broken pipe|deadline exceeded|connection (reset|closed|aborted|lost)"
    r"|socket hang up|fetch failed|other side closed|closed connection"
    r"|(unexpected|premature) (EOF|close)|disconnected"
    r"|(status|code|http|error)\W{0,3}5\d\d|internal server error"
    r"|bad gateway|service unavailable)\b",
    re.IGNORECASE,
)
"""Error texts which show that the tool itself does not know if its own request took effect."""
_META = ("_meta", "annotations", "icons")
"""Keys of a content block that are about the block, not part of what it says."""
_KNOWN_KEYS = ("content", "structuredContent", "isError", "_meta", "resultType")
"""Keys of a result that MCP defines."""
_BINARY = ("image", "audio")
"""Types of content blocks whose `data` is base64."""


def read_result(
    result: JsonObject, schema: JsonObject | None, *, is_declared: bool, failed: Outcome
) -> Json:
    """Return the value that programs get from the result of an MCP tool.

    If `is_declared` is True, the server declared an output schema: then the value is the structured
    content, if there is any. If not, the value is whole: the structured content and the content
    blocks, or the one of them that there is, or the one that says what both say. Text is read as
    JSON only as `text_value` says for `schema`.

    Raises:
        ToolError: the result is an error. Its outcome is *refused*, which means that nothing was
            done, or the value of `failed` if the text of the error leaves this open.
    """
    _raise_if_failed(result, failed)
    blocks = _content_blocks(result)
    structured = result.get("structuredContent")
    if structured is None:
        return _content_value(blocks, schema) if blocks else _further_fields(result)
    if is_declared or not blocks:
        return structured
    return _combine(structured, blocks)


def _raise_if_failed(result: JsonObject, failed: Outcome) -> None:
    """Raise the `ToolError` of a result that is an error or a request for input."""
    if _is_error(result.get("isError")):
        text = _error_text(result)
        outcome = failed if _UNSURE.search(text) else "refused"
        raise ToolError(None, text, outcome=outcome, answer=text)
    if result.get("resultType") == "input_required":
        problem = "the tool asks for further input from a person, which atc cannot give it"
        raise ToolError(None, problem, outcome=failed)


def _combine(structured: Json, blocks: Sequence[Json]) -> Json:
    """Return the structured content, with those content blocks that say something else."""
    texts = [block for block in blocks if _text_of_block(block)]
    others = [block for block in blocks if _text_of_block(block) is None]
    both = {"structured": structured}
    if texts and not _says_the_same(texts, structured):
        both["text"] = _content_value(texts, None)
    if others:
        both["content"] = [block_value(block, None) for block in others]
    return both if len(both) > 1 else structured


def find_lost_parts(result: JsonObject, *, is_declared: bool) -> tuple[str, ...]:
    """Return a clause for each part of a result that its value lacks.

    The value is that of `read_result`, which also explains `is_declared`.
    """
    if _is_error(result.get("isError")):
        return ()
    lost: list[str] = []
    blocks = _content_blocks(result)
    structured = result.get("structuredContent")
    if structured is not None and is_declared and not _says_the_same(blocks, structured):
        lost += _find_lost_blocks(blocks, structured)
    further = [key for key in result if key not in _KNOWN_KEYS]
    if further and (blocks or structured is not None):
        lost.append(f"the further fields {', '.join(map(repr, further[:5]))}")
    return tuple(lost)


def _find_lost_blocks(blocks: Sequence[Json], structured: Json) -> list[str]:
    """Return a clause for texts, and one for other blocks, that a structured value lacks."""
    parts = [*iter_parts(structured)]
    missing = [block for block in blocks if block not in parts and _text_of_block(block) != ""]
    texts = {part.strip() for part in parts if isinstance(part, str)}
    lost = []
    if any((_text_of_block(block) or "").strip() not in {"", *texts} for block in missing):
        lost.append("the text beside its structured answer")
    if any(_text_of_block(block) is None for block in missing):
        lost.append("the images, files or other blocks beside its structured answer")
    return lost


def read_contents(result: JsonObject) -> Json:
    """Return the value that programs get from a resource of an MCP server that was read.

    It is the content, or the list of contents if there are several.
    """
    contents = result.get("contents")
    found = contents if isinstance(contents, list) else [contents]
    values = [
        block_value({"type": "resource", "resource": one} if isinstance(one, dict) else one, None)
        for one in found
        if one is not None
    ]
    texts = [as_mapping(value).get("text") for value in values]
    if len(values) == 1:
        return text_value(texts[0], None) if isinstance(texts[0], str) else values[0]
    return values


def text_value(text: str, schema: JsonObject | None) -> Json:
    """Return a text that a server sent as a program gets it.

    A JSON object or list is decoded. A bare number, true, false, null or a quoted text stays text,
    unless `schema` asks for a value of its type and does not allow text: `3.10` is a version, not a
    number. A schema that allows nothing but text leaves every text as it is.
    """
    is_container = text.lstrip()[:1] in ("{", "[")
    # Text is never an object that wraps one field, but it may be that field.
    asked = schema if is_container else unwrap_schema(schema)
    wanted = all_types(asked, schema) if schema else ()
    if wanted == ("string",):
        return text
    if not is_container and (not wanted or "string" in wanted):
        return text
    with suppress(ValueError):
        value = parse_json(text)
        kind = type_name(value)
        is_wanted = kind in wanted or (kind == "integer" and "number" in wanted)
        if is_wanted or (is_container and "string" not in wanted):
            return value
    return text


def block_value(block: Json, schema: JsonObject | None) -> Json:
    """Return the value of one content block of an MCP result, as programs get it.

    Text becomes what `text_value` says. Images, audio and binary resources are files. A block of an
    unknown type becomes what it holds.
    """
    if isinstance(block, str):
        return text_value(block, schema)
    if not isinstance(block, dict):
        return block
    kind = block.get("type")
    if isinstance(text := _text_of_block(block), str):
        return text_value(text, schema)
    if kind == "text" and "text" in block:
        return block["text"]
    held = {key: value for key, value in block.items() if key not in _META}
    if kind in _BINARY or kind == "resource":
        inner = as_mapping(held.pop("resource", {}))
        described = {**held, **inner}
        return file_of_block(described) or _without_bytes(described)
    if kind == "resource_link":
        return held
    held.pop("type", None)
    return next(iter(held.values())) if len(held) == 1 and kind is not None else held


def _without_bytes(described: dict[str, Json]) -> dict[str, Json]:
    """Return a description of a file with its base64 text replaced by its size in bytes."""
    shown = {k: v for k, v in described.items() if k not in (*_META, "data", "blob")}
    base64 = described.get("data") or described.get("blob")
    if isinstance(base64, str):
        shown["bytes"] = len(base64) * 3 // 4 - base64[-2:].count("=")
    return shown


def _is_error(flag: Json) -> bool:
    """Return True if the `isError` of a result is true. Some servers write it as a text."""
    return flag is True or (isinstance(flag, str) and flag.strip().lower() == "true") or flag == 1


def _error_text(result: JsonObject) -> str:
    """Return the text of a result that is an error."""
    values = [_text_of_block(block) or block for block in _content_blocks(result)]
    texts = [value if isinstance(value, str) else dumps(value) for value in values]
    structured = result.get("structuredContent")
    if structured is not None and structured != {} and not texts:
        texts.append(dumps(structured))
    further = _further_fields(result)
    if not texts and further is not None:
        texts.append(dumps(further))
    return "\n".join(texts).strip() or "no explanation"


def _content_blocks(result: JsonObject) -> list[Json]:
    """Return the content blocks of a result. A single block, or a text, is a list of one."""
    content = result.get("content")
    if content is None or content == "":
        return []
    return content if isinstance(content, list) else [content]


def _content_value(blocks: Sequence[Json], schema: JsonObject | None) -> Json:
    """Return the value of the only block, or the list of the values of several."""
    values = [block_value(block, schema) for block in blocks]
    return values[0] if len(values) == 1 else values


def _further_fields(result: JsonObject) -> Json:
    """Return the fields of a result that MCP does not define, or None without such fields."""
    return {key: value for key, value in result.items() if key not in _KNOWN_KEYS} or None


def _text_of_block(block: Json) -> str | None:
    """Return the text of a content block, or None if it is a block of another kind."""
    if isinstance(block, str):
        return block
    found = as_mapping(block)
    text = found.get("text")
    is_text = found.get("type") == "text" or found.keys() - {*_META} == {"text"}
    return text if is_text and isinstance(text, str) else None


def _says_the_same(texts: Sequence[Json], structured: Json) -> bool:
    """Return True if blocks say nothing but the structured content.

    This is so if all are texts which are its JSON, or that of the only field in it, together or a
    block for each item.
    """
    if any(_text_of_block(block) is None for block in texts):
        return False
    values = [_decoded(_text_of_block(block) or "") for block in texts]
    meant = [structured]
    if isinstance(structured, dict) and len(structured) == 1:
        meant += structured.values()
    return any(
        values in ([one], one) or (isinstance(one, str) and _texts_equal(texts, one))
        for one in meant
    )


def _texts_equal(texts: Sequence[Json], text: str) -> bool:
    """Return True if text blocks together are `text`, apart from white space at the ends."""
    joined = "\n".join(_text_of_block(block) or "" for block in texts)
    return joined.strip() == text.strip()


def _decoded(text: str) -> Json:
    """Return the JSON value of a text, or the text if it is no JSON."""
    try:
        return parse_json(text)
    except ValueError:
        return text
