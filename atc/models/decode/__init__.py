"""ToolDec: decoding that holds a model to its tools, so that every call is valid.

`formats.py` how a call is written · `schema.py` prepares schemas, `grammar.py` makes grammars of them · `matcher.py`
token masks for models with logits · `call.py` has a model behind an endpoint write a call · `prompt.py` what it is
asked · `read.py` and `literals.py` what it wrote · `reach.py` which ids it may use.
"""
