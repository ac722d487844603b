"""Grammars of a tool's arguments, made from its input schema: what they derive conforms to it.

`build.py` arguments and single values · `calls.py` whole calls and names · `read.py` and `keywords.py` schemas to
alternatives without references (`shape.py`) · `compile.py` these to rules (`strings.py`, `numbers.py`, `arrays.py`,
`objects.py`) · `room.py` how long each part may get.
"""

from atc.decode.arguments.build import arguments_grammar, value_grammar
from atc.decode.arguments.calls import call_grammar, names_grammar

__all__ = ["arguments_grammar", "call_grammar", "names_grammar", "value_grammar"]
