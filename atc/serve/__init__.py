"""The gateway: other agents act on APIs by sending programs over MCP.

`gateway` implements its operations, `server` offers them over MCP, and `http` decides who may
connect.
"""
