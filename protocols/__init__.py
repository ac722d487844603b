"""Descriptions of tools (`ToolProtocol`): their format, where they are read from, and calls."""
