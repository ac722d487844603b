"""Real MCP servers, and one with every oddity: how many of their tools are listed and usable."""
