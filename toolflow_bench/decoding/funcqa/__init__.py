"""FuncQA: arithmetic in words, answered by a call of one of 13 operations (ToolkenGPT's data, ToolDec's table 4)."""
