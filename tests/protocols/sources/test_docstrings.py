"""What docstrings say of arguments, results and everything else."""

import pytest

from protocols.sources.docstrings import documented_type, read_docstring

GOOGLE = """Plot visits

Args:
    kind (Literal["a", "b"], optional): Which one.
        Be careful: lower case.
    data (array_like of shape (n,)): The data.

Returns:
    dict: with the keys:
        - path: where it is

Note:
    Slow.

Example:
    >>> plot("a")
    {"path": "x.png"}
"""
NUMPY = """Plot visits.

Parameters
----------
x, y : int
    Coordinates.
kind : {'a', 'b'}, default 'a'
    Which one.

Returns
-------
path : str
    Where it is.

Warnings
--------
Slow.

Examples
--------
>>> plot("a")
"x.png"
"""
SPHINX = """Plot visits.

:param str kind: Which one.
:param limit: How many,
    at most 10.
:type limit: int or None
:returns: Where it is.
:rtype: str

.. warning:: Slow.

Use it rarely.
"""


def test_nothing_of_a_google_docstring_is_lost():
    read = read_docstring(GOOGLE)
    assert read.description == (
        "Plot visits. Returns: dict: with the keys: - path: where it is. Note: Slow."
        ' Example: >>> plot("a") {"path": "x.png"}'
    )
    assert read.arguments == {
        "kind": "Which one. Be careful: lower case.",
        "data": "The data.",
    }
    assert read.types == {"kind": 'Literal["a", "b"]', "data": "array_like of shape (n,)"}
    assert read.returns == "dict"


def test_nothing_of_a_numpy_docstring_is_lost():
    read = read_docstring(NUMPY)
    assert read.description == (
        "Plot visits. Returns: path : str Where it is. Warnings: Slow."
        ' Examples: >>> plot("a") "x.png"'
    )
    assert read.arguments == {
        "x": "Coordinates.",
        "y": "Coordinates.",
        "kind": "Which one. (default: 'a')",
    }
    assert read.types == {"x": "int", "y": "int", "kind": "{'a', 'b'}"}
    assert read.returns == "str"


def test_nothing_of_a_sphinx_docstring_is_lost():
    read = read_docstring(SPHINX)
    assert read.description == ("Plot visits. Returns: Where it is. Warning: Slow. Use it rarely.")
    assert read.arguments == {"kind": "Which one.", "limit": "How many, at most 10."}
    assert read.types == {"kind": "str", "limit": "int or None"}
    assert read.returns == "str"


def test_unreadable_sections_stay_in_the_description():
    text = "Do it.\n\nArgs:\n    no colon here\n\nread_only = True"
    read = read_docstring(text)
    assert (read.description, read.marks) == ("Do it. Args: no colon here", {"read_only"})


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        ("str, optional", {"type": "string"}),
        ("list of int", {"type": "array", "items": {"type": "integer"}}),
        ("Dict[str, float]", {"type": "object", "additionalProperties": {"type": "number"}}),
        ("datetime.date", {"type": "string", "format": "date"}),
        ("a list of names", None),
        ("np.ndarray", None),
        ("{'a', 'b'}, default 'a'", {"enum": ["a", "b"]}),
        ("int or None", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("str | Foo", None),
        ("", None),
    ],
)
def test_types_are_read_only_where_understood(text, schema):
    assert documented_type(text) == schema
