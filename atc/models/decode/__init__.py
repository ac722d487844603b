"""Constrained decoding of tool calls, so that every call is valid (the method of ToolDec's paper).

- `formats.py`: how a call is written
- `schema.py` and `bound_schema.py`: prepare schemas; `grammar.py`: builds grammars from them
- `matcher.py`: computes the tokens that may come next, for models whose logits are accessible
- `write_call.py`: asks a model behind an endpoint for one call; `prompt.py`: its prompt
- `find_calls.py`, `literals.py` and `parse.py`: find, read and check the calls in a reply
- `known_ids.py`: restricts ids to those that are known
"""
