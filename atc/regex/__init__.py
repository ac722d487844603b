"""Regular expressions as trees: read from JSON Schema's and Rust's syntax, reckoned with, written as Rust's or GBNF's.

`tree.py` what they are made of · `parse.py` reads them · `anchors.py` what a search finds as what a whole string is ·
`bounds.py` how long they let a string get ·
`search.py` whether any string matches several · `tangled.py` which a lexer cannot follow · `write.py` writes them.
"""

from atc.regex.anchors import searched, sought
from atc.regex.bounds import lengths, widths
from atc.regex.parse import PatternError, parse
from atc.regex.search import disjoint, found
from atc.regex.tangled import tangled
from atc.regex.tree import ANY, Alternatives, Anchor, Chars, Repeated, Row, Tree, literal
from atc.regex.write import as_gbnf, as_rust

__all__ = [
    "ANY",
    "Alternatives",
    "Anchor",
    "Chars",
    "PatternError",
    "Repeated",
    "Row",
    "Tree",
    "as_gbnf",
    "as_rust",
    "disjoint",
    "found",
    "lengths",
    "literal",
    "parse",
    "searched",
    "sought",
    "tangled",
    "widths",
]
