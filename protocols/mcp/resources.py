"""Tools that list and read the resources of an MCP server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from protocols.naming import FreeNames
from protocols.protocol import Annotations, McpBinding, McpMethod, ToolProtocol
from protocols.schema import Json, JsonObject, as_mapping

_MOST_SHOWN = 20
"""Maximum number of resources, and of templates, that a tool's description names."""
_LONGEST_ABOUT = 100
"""Maximum number of characters about one resource in a tool's description."""
_LONGEST_ADDRESS = 500
"""Maximum number of characters of an address in a tool's description."""
_SHOWN = ("uri", "uriTemplate", "name", "title", "description", "mimeType", "size")


def resource_tools(
    resources: Sequence[Json],
    templates: Sequence[Json],
    server: str,
    names: Iterable[str],
    *,
    trusted: bool,
) -> list[ToolProtocol]:
    """Return the tools `list_resources` and `read_resource` of a server that has resources.

    `names` are those of the server's own tools, which the two do not have. Like these, the two
    count as writes until the server is `trusted`: an address may tell a server anything.
    """
    listed = resource_list(resources, templates)
    if not any(listed.values()):
        return []
    free = FreeNames(names)
    reads_only = Annotations(read_only=trusted)
    uri: dict[str, Json] = {
        "type": "string",
        "description": "The address of the resource, such as `file:///a.txt`.",
    }
    addresses = [one["uri"] for one in listed["resources"] if _may_be_shown(one["uri"])]
    if addresses:
        uri["examples"] = addresses[:3]
    reads = _tool(
        free("read_resource"),
        "resources/read",
        server,
        annotations=reads_only,
        description=f"Read a resource of the MCP server {server}.{_describe(listed)}",
        input_schema={"type": "object", "properties": {"uri": uri}, "required": ["uri"]},
    )
    entry = {"type": "object", "properties": {key: {"type": "string"} for key in _SHOWN[:-1]}}
    array = {"type": "array", "items": entry}
    lists = _tool(
        free("list_resources"),
        "resources/list",
        server,
        annotations=reads_only,
        description=f"List the resources of the MCP server {server}, and the templates of their"
        " addresses.",
        output_schema={
            "type": "object",
            "properties": {"resources": array, "templates": array},
            "required": ["resources", "templates"],
        },
    )
    return [lists, reads]


def resource_list(resources: Sequence[Json], templates: Sequence[Json]) -> dict[str, list[Json]]:
    """Return the resources of a server and the templates of addresses, as programs get them."""
    return {
        "resources": [_entry(one) for one in resources if _has_text(one, "uri")],
        "templates": [_entry(one) for one in templates if _has_text(one, "uriTemplate")],
    }


def _tool(name: str, method: McpMethod, server: str, **parts: Json) -> ToolProtocol:
    binding = McpBinding(server=server, tool=name, method=method)
    return ToolProtocol(name=name, binding=binding, collection=server, **parts)


def _has_text(entry: Json, key: str) -> bool:
    """Return True if an entry of a list has a text under this key."""
    return isinstance(as_mapping(entry).get(key), str)


def _entry(entry: JsonObject) -> dict[str, Json]:
    """Return what an entry of a list says about a resource."""
    return {key: entry[key] for key in _SHOWN if isinstance(entry.get(key), str | int)}


def _describe(listed: JsonObject) -> str:
    """Return sentences that name the first resources and the templates of addresses."""
    text = ""
    for kind, key, what in (
        ("resources", "uri", "Resources"),
        ("templates", "uriTemplate", "Addresses by template"),
    ):
        found = listed[kind]
        named = [one for one in found if _may_be_shown(one[key])][:_MOST_SHOWN]
        lines = [f"- {one[key]}{_about(one)}" for one in named]
        if len(found) > len(named):
            lines.append(f"- and {len(found) - len(named)} more, see list_resources")
        if lines:
            text += "\n".join((f"\n{what}:", *lines))
    return text


def _may_be_shown(address: str) -> bool:
    """Return True if an address may stand in a description: it is short, on one line."""
    return len(address) <= _LONGEST_ADDRESS and address.isprintable()


def _about(entry: JsonObject) -> str:
    """Return the description of a resource, or its name, after a colon; "" if it has neither."""
    said = entry.get("description") or entry.get("title") or entry.get("name")
    words = " ".join(str(said or "").split())
    shown = words if len(words) <= _LONGEST_ABOUT else f"{words[: _LONGEST_ABOUT - 1]}…"
    return f": {shown}" if shown else ""
