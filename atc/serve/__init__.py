"""The gateway: other agents act on APIs by sending programs over MCP.

`gateway` is what it does, `server` how MCP says it, `http` who may connect.
"""
