"""KAMEL: questions about entities, each answered by one relation of many (ToolkenGPT's data, ToolDec's figure 4b)."""
