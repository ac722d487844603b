"""The gateway: any agent acts on APIs by sending programs over MCP. `gateway` is what it does, `server` how MCP says it."""
