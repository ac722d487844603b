"""What kinds of values functions of the standard library and methods of strings take."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from atc.check.functions.arguments import Arguments
from atc.check.known.core import Core
from atc.check.known.kinds import Type
from atc.check.known.lattice import members, not_none
from atc.check.known.words import described
from atc.check.operations.operators import category
from atc.check.report import spelled

NUMBER, TEXT, TEXTS, CLASS = "a number", "a string", "a string or a tuple of strings", "a class"
DIVISIBLE = "numbers"

_KINDS = {"number", "str", "list", "dict", "tuple", "function", "date", "datetime", "time", "timedelta"}
"""What `category` tells for sure; of anything else nothing is said."""
_FITTING: dict[str, set[str]] = {
    NUMBER: {"number"},
    DIVISIBLE: {"number", "timedelta"},
    TEXT: {"str"},
    TEXTS: {"str", "tuple"},
    CLASS: {"tuple", "function"},
}

_OF_NUMBERS = """
math.sqrt math.log math.log2 math.log10 math.exp math.hypot math.radians math.degrees math.sin math.cos math.tan
math.asin math.acos math.atan math.atan2 math.fabs math.pow math.isnan math.isfinite math.isclose math.gcd math.comb
math.perm math.factorial math.copysign math.fmod math.floor math.ceil math.trunc
time.sleep chr bin hex oct random.randint random.uniform random.randrange
datetime.date datetime.datetime datetime.time datetime.timedelta datetime.date.fromordinal datetime.date.fromisocalendar
"""
"""By the names of functions, all of whose arguments they are."""
_OF_TEXTS = "re.escape textwrap.dedent html.unescape urllib.parse.quote ord"
_SEARCHING = "re.search re.match re.fullmatch re.findall re.finditer re.split"

_TAKES: dict[str, tuple[str | None, ...]] = {
    **dict.fromkeys(_OF_NUMBERS.split(), (NUMBER,) * 7),
    **dict.fromkeys(_OF_TEXTS.split(), (TEXT,)),
    **dict.fromkeys(_SEARCHING.split(), (None, TEXT)),
    **dict.fromkeys(["divmod", "pow"], (DIVISIBLE, DIVISIBLE)),
    **dict.fromkeys(["datetime.datetime.fromtimestamp", "datetime.date.fromtimestamp"], (NUMBER,)),
    **dict.fromkeys(["re.sub", "re.subn"], (None, None, TEXT)),
    **dict.fromkeys(["textwrap.shorten", "textwrap.fill", "textwrap.wrap"], (TEXT, NUMBER)),
    **dict.fromkeys(["heapq.nlargest", "heapq.nsmallest"], (NUMBER,)),
    **dict.fromkeys(["isinstance", "issubclass"], (None, CLASS)),
    **dict.fromkeys(["enumerate", "round", "random.sample", "itertools.batched"], (None, NUMBER)),
    "itertools.islice": (None, NUMBER, NUMBER, NUMBER),
}
_PARTS = "year month day hour minute second microsecond weeks days hours minutes seconds milliseconds microseconds"
_MOMENTS = ("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta")
_BY_NAME = {"enumerate": ("start",), "round": ("ndigits",), **{name: tuple(_PARTS.split()) for name in _MOMENTS}}
"""Numbers that often go by name."""

_METHODS: dict[str, tuple[str | None, ...]] = {
    **dict.fromkeys(["strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "partition", "rpartition"], (TEXT,)),
    **dict.fromkeys(["find", "rfind", "index", "rindex", "count"], (TEXT, NUMBER, NUMBER)),
    **dict.fromkeys(["startswith", "endswith"], (TEXTS, NUMBER, NUMBER)),
    **dict.fromkeys(["ljust", "rjust", "center"], (NUMBER, TEXT)),
    **dict.fromkeys(["split", "rsplit"], (TEXT, NUMBER)),
    "replace": (TEXT, TEXT, NUMBER),
    "zfill": (NUMBER,),
}


def check_taken(core: Core, name: str, node: ast.Call, arguments: Arguments) -> None:
    """Report what a function of the standard library does not take: a text for a number, a list for a text."""
    if arguments.sure:
        _check(core, node, _TAKES.get(name, ()), arguments, _BY_NAME.get(name, ()))


def check_taken_by_text(core: Core, method: str, node: ast.Call, arguments: Arguments) -> None:
    """The same of a method of strings."""
    if arguments.sure:
        _check(core, node, _METHODS.get(method, ()), arguments, ())


def _check(
    core: Core, node: ast.Call, wanted: Iterable[str | None], arguments: Arguments, numbers: Sequence[str]
) -> None:
    pairs = [*zip(arguments.values, arguments.nodes, wanted, strict=False)]
    pairs += [
        (arguments.named[k.arg], k.value, NUMBER) for k in node.keywords if k.arg is not None and k.arg in numbers
    ]
    for value, where, want in pairs:
        if want is not None and _unfit(value, want) and not core.catches("TypeError"):
            given = not_none(value)
            better = f"{_reader(node)}({spelled(where)})" if want == NUMBER and category(given) == "str" else None
            then = f" Write {better}." if better else ""
            what = f"{spelled(where)} is {described(members(given)[0])}"
            message = f"{spelled(node.func)}() takes {want} here, and {what}.{then}"
            core.report("wrong-operand", where, message, better=better)
            return


def _reader(node: ast.Call) -> str:
    """What makes of a text what the function gives, or what it takes."""
    moment = isinstance(node.func, ast.Attribute) and node.func.attr == "fromtimestamp"
    return "datetime.fromisoformat" if moment else "float"


def _unfit(value: Type, want: str) -> bool:
    kind = category(not_none(value))
    return kind in _KINDS and kind not in _FITTING[want]
