"""How a tool is called, in a few words for a person."""

from __future__ import annotations

from protocols.protocol import Binding, HttpBinding, McpBinding, ProgramBinding, PythonBinding


def spelled(binding: Binding | None) -> str:
    """`GET https://api.example.org/users/{id}`, `Python shop:find`, `MCP git:git_log`; empty where there is none."""
    match binding:
        case HttpBinding() as http:
            return f"{http.method} {http.url}"
        case McpBinding() as mcp:
            return f"MCP {mcp.server}:{mcp.tool}"
        case PythonBinding() as python:
            return f"Python {python.module}:{python.function}"
        case ProgramBinding() as program:
            return f"a saved program that calls {', '.join(program.tools) or 'no tool'}"
        case None:
            return ""
