"""Names that a program may not use, each with why and what to use instead."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from string import Formatter

Problem = tuple[str, str]
"""What is refused and why, and what to do instead (empty where there is nothing)."""

NO_FILES = "print what you found, or use io.StringIO for text in memory instead"

BUILTINS: dict[str, Problem] = {
    "__import__": ("imports in a way that nobody can check", "use an import statement instead"),
    "breakpoint": ("needs somebody at a terminal", "use print instead"),
    "compile": ("makes code that nobody can check", "write the code itself, or use re.compile for a pattern instead"),
    "eval": ("runs text as code", "use ast.literal_eval for data, int or float for numbers instead"),
    "exec": ("runs text as code", "write the statements themselves instead"),
    "globals": ("gives more than the program's own names", "use a dict of your own instead"),
    "help": ("needs somebody at a terminal", "use the tool's documentation instead"),
    "input": ("is not available: nobody is there to answer", "use a value from the task, or from a tool instead"),
    "locals": ("gives more than the program's own names", "use a dict of your own instead"),
    "open": ("is not available: a program has no files", NO_FILES),
    "vars": ("gives more than an object's own data", "use the attributes by name, or dataclasses.asdict instead"),
}
"""Functions of Python that the policy refuses unless the program binds the name itself."""

_DENIED: dict[str, str] = {
    "__base__": "use isinstance or issubclass instead",
    "__bases__": "use isinstance or issubclass instead",
    "__builtins__": "use the functions by their names instead",
    "__closure__": "",
    "__code__": "",
    "__file__": "drop it: a program has no files",
    "__func__": "use the function by its name instead",
    "__globals__": "use the names themselves instead",
    "__import__": "use an import statement instead",
    "__loader__": "use an import statement instead",
    "__mro__": "use isinstance or issubclass instead",
    "__reduce__": "use the copy module instead",
    "__reduce_ex__": "use the copy module instead",
    "__self__": "use the object itself instead",
    "__spec__": "use an import statement instead",
    "__subclasses__": "keep a list of your own classes instead",
}
# Also where they stand alone as text: what else would a program do with such a string?

_CLASS = "use type(x) instead"

# What ordinary programs read: names and texts, the methods of the data model (to call those of a base class), and what
# dataclasses, enums and annotations leave. Whatever else looks like one of them is refused, as RestrictedPython does.
_ALLOWED = frozenset(
    """
    __name__ __qualname__ __doc__ __module__ __dict__ __annotations__ __slots__ __match_args__ __members__ __version__
    __all__ __author__ __class__ __debug__ __defaults__ __kwdefaults__ __wrapped__ __isabstractmethod__ __type_params__
    __abstractmethods__ __dataclass_fields__ __dataclass_params__ __args__ __origin__ __orig_bases__ __parameters__
    __total__ __required_keys__ __optional_keys__ __cause__ __context__ __traceback__ __notes__ __suppress_context__
    __new__ __init__ __post_init__ __del__ __repr__ __str__ __bytes__ __format__ __hash__ __bool__ __sizeof__ __dir__
    __lt__ __le__ __eq__ __ne__ __gt__ __ge__ __call__ __len__ __length_hint__ __contains__ __iter__ __next__
    __reversed__ __getitem__ __setitem__ __delitem__ __missing__ __getattr__ __getattribute__ __setattr__ __delattr__
    __get__ __set__ __delete__ __set_name__ __init_subclass__ __class_getitem__ __instancecheck__ __subclasscheck__
    __subclasshook__ __prepare__ __enter__ __exit__ __aenter__ __aexit__ __aiter__ __anext__ __await__ __copy__
    __deepcopy__ __replace__ __getstate__ __setstate__ __getnewargs__ __add__ __sub__ __mul__ __matmul__ __truediv__
    __floordiv__ __mod__ __divmod__ __pow__ __lshift__ __rshift__ __and__ __xor__ __or__ __radd__ __rsub__ __rmul__
    __rmatmul__ __rtruediv__ __rfloordiv__ __rmod__ __rdivmod__ __rpow__ __rlshift__ __rrshift__ __rand__ __rxor__
    __ror__ __iadd__ __isub__ __imul__ __imatmul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __ilshift__ __irshift__
    __iand__ __ixor__ __ior__ __neg__ __pos__ __abs__ __invert__ __complex__ __int__ __float__ __index__ __round__
    __trunc__ __floor__ __ceil__ _missing_ _generate_next_value_ _ignore_ _value_ _name_ __fspath__ __buffer__
    """.split()  # noqa: SIM905
)

_FRAMES = dict.fromkeys(("tb_frame", "tb_next"), "use traceback.format_exc() instead")


def is_dunder(name: str) -> bool:
    """Whether Python itself gives names like this one a meaning."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def attribute_problem(name: str, inspected: frozenset[str], own: frozenset[str] = frozenset()) -> Problem | None:
    """What is wrong with the attribute `name` of any object.

    `inspected` are the attributes of frames, code and generators, `own` the names that the program gives itself.
    """
    if name in inspected:
        return (f"{name!r} leads into the interpreter's own frames and code", _FRAMES.get(name, ""))
    if is_dunder(name) and name not in _ALLOWED and (name in _DENIED or name not in own):
        return (f"{name!r} leads to the interpreter's own objects", _DENIED.get(name, ""))
    return None


def class_problem() -> Problem:
    """What is wrong with `x.__class__` where it is not used as `type(x)` would be."""
    return ("'__class__' leads to the interpreter's own objects", _CLASS)


def path_problem(names: Sequence[str], inspected: frozenset[str]) -> Problem | None:
    """What is wrong with reading `names` one after the other, as `attrgetter("a.b")` does."""
    for at, name in enumerate(names):
        if name == "__class__" and at + 1 < len(names):
            continue
        problem = class_problem() if name == "__class__" else attribute_problem(name, inspected)
        if problem is not None:
            return problem
    return None


def text_problem(text: str, inspected: frozenset[str]) -> Problem | None:
    """What is wrong with a constant string: that it is such a name, in disguise or not, or a format that reads one."""
    if "__" in text:
        denied = [part for part in text.split(".") if part in _DENIED]
        if denied:
            return attribute_problem(denied[0], inspected)
    if not text.isascii() and len(text) < 64:
        plain = unicodedata.normalize("NFKC", text)
        if plain != text and (plain in inspected or is_dunder(plain)):
            return (f"{text!r} is {plain!r} in disguise", "")
    if "{" in text and "." in text and "_" in text:
        for names in fields(text):
            problem = path_problem(names, inspected)
            if problem is not None:
                return (f"in this format, {problem[0]}", problem[1])
    return None


def fields(text: str, depth: int = 2) -> Iterator[list[str]]:
    """The attributes that each field of `text.format(…)` reads, nested fields included."""
    try:
        for _, field, spec, _ in Formatter().parse(text):
            yield [re.split(r"[\[\]]", part)[0] for part in (field or "").split(".")[1:]]
            if spec and depth:
                yield from fields(spec, depth - 1)
    except ValueError:  # no format at all
        return
