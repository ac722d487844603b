"""ToolDec: constrained decoding of tool calls, so that every call is valid.

- `formats.py`: how a call is written
- `schema.py`: prepares schemas; `grammar.py`: builds grammars from them
- `matcher.py`: token masks, for models whose logits are accessible
- `write_call.py`: asks a model behind an endpoint for one call; `prompt.py`: its prompt
- `parse.py` and `literals.py`: read the calls in a reply
- `known_ids.py`: restricts ids to those that are known
"""
