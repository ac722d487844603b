"""Calling the tools of MCP servers: over stdio and streamable HTTP, from any thread."""
