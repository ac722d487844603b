"""The gateway: other agents act on APIs by sending programs over MCP.

The module `gateway` implements its operations, `server` offers them over MCP, and `http` checks who
may connect.
"""
