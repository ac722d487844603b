"""Decoding that cannot go wrong: what a model may write next, known from its tools (ToolDec, and beyond it).

`formats.py` how a call is written · `grammar.py` grammars as values, `arguments/` those of a tool's arguments ·
`automaton.py` token masks for models with logits · `program/` what may follow in a program · `calls.py` and `write.py`
have a model behind an endpoint write a call, and a program · `reach.py` what ids calls one by one may refer to.
"""
