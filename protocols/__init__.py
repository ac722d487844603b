"""Descriptions of tools (`ToolProtocol`): reading them from tool sources, and calling the tools."""
