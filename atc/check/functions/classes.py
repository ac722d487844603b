"""Classes of the program: what their instances hold and what their methods give."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from atc.check.functions.arguments import Arguments
from atc.check.functions.arity import report_made
from atc.check.functions.functions import call_function
from atc.check.known.core import Core
from atc.check.known.frames import Frame
from atc.check.known.kinds import ANY, NEVER, Function, Library, Mapped, Type
from atc.check.known.lattice import join
from atc.check.known.objects import Bound, Class, ClassShape, Instance
from atc.check.report import listed, nearest, spelled

_OWN_WAYS = {"__getattr__", "__getattribute__", "__setattr__", "__new__", "__slots__", "__init_subclass__"}
"""Names in a class body after which we no longer know what an instance has."""
_HOW = {
    "property": "property",
    "functools.cached_property": "property",
    "staticmethod": "static",
    "classmethod": "class",
}
_SPECIAL = ("InitVar", "KW_ONLY", "init=", "kw_only=", "ClassVar")
"""Words in a class after which its fields need not be the parameters of its constructor."""
_OF_TUPLES = frozenset(dir(tuple)) | {"_asdict", "_replace", "_fields", "_make"}
_OF_OBJECTS = frozenset(dir(object)) | {"__dict__", "__module__", "__dataclass_fields__", "__annotations__", "__name__"}


def class_statement(core: Core, node: ast.ClassDef) -> None:
    """`class`: one that is not understood is unknown, and so is all that comes of it."""
    for part in [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]:
        core.evaluate(part)
    outer = core.frame
    core.frame = Frame(node, outer)
    core.execute(node.body)
    bound = dict(core.env.names)
    core.frame = outer
    core.bind(node.name, _class_type(core, node, bound))


def _class_type(core: Core, node: ast.ClassDef, bound: dict[str, Type]) -> Type:
    bases, decorators = [_named(core, base) for base in node.bases], [_named(core, d) for d in node.decorator_list]
    if bases == ["typing.TypedDict"]:
        return Library("dict")
    inherited = [base for base in bases if isinstance(base, ClassShape)]
    plain = all(base in ("object", "typing.NamedTuple") or isinstance(base, ClassShape) for base in bases)
    data = decorators == ["dataclasses.dataclass"]
    if not plain or len(bases) > 1 or (decorators and not data) or node.keywords or _OWN_WAYS & bound.keys():
        return ANY
    shape = core.class_shape(node, node.name)
    shape.frozen = "typing.NamedTuple" in bases or any(map(_freezes, node.decorator_list))
    for base in inherited:
        shape.frozen |= base.frozen
        shape.members.update(base.members)
        shape.attributes, shape.fields, shape.ordered = base.attributes, base.fields, base.ordered
    for name, value in bound.items():
        shape.members[name] = ("value", value)
    for part in node.body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            shape.members[part.name] = how, _ = _member(core, part)
            if how in ("method", "property"):
                core.owners[part] = Instance(shape)
    _wrap(shape, node.body)
    if data or "typing.NamedTuple" in bases:
        before = shape.fields or ()
        shape.fields = (*before, *(name for name in _field_names(node) if name not in before))
        shape.ordered = not data
        text = ast.unparse(node)
        shape.plain = not any(word in text for word in _SPECIAL) and all(base.plain for base in inherited)
    return Class(shape)


def _wrap(shape: ClassShape, body: list[ast.stmt]) -> None:
    """What a class makes of its functions after them: `make = classmethod(make)`."""
    functions = {part.name for part in body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)}
    for part in body:
        match part:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=wrapper), args=[ast.Name(id=inner)])
            ) if wrapper in _HOW and inner in functions:
                shape.members[name] = (_HOW[wrapper], shape.members[inner][1])
            case ast.Assign(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name) and target.id in functions:
                        shape.members[target.id] = ("value", ANY)


def _freezes(decorator: ast.expr) -> bool:
    """`@dataclass(frozen=True)`."""
    match decorator:
        case ast.Call(keywords=keywords):
            return any(
                k.arg == "frozen" and isinstance(k.value, ast.Constant) and k.value.value is True for k in keywords
            )
        case _:
            return False


def _named(core: Core, node: ast.expr) -> str | ClassShape | None:
    """The name of a base class or decorator of the standard library, or a class of the program."""
    with core.silence():
        value = core.evaluate(node.func if isinstance(node, ast.Call) else node)
    if isinstance(value, Class):
        return value.shape
    return value.name if isinstance(value, Library) else None


def _member(core: Core, node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, Type]:
    function = Function(node, core.frame)
    if not node.decorator_list:
        return "method", function
    names = [_named(core, part) for part in node.decorator_list]
    how = _HOW.get(str(names[0])) if len(names) == 1 else None
    return ("value", ANY) if how is None else (how, function)


def _field_names(node: ast.ClassDef) -> Iterable[str]:
    for part in node.body:
        match part:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                if "ClassVar" not in ast.unparse(annotation):
                    yield name


def construct(core: Core, shape: ClassShape, arguments: Arguments, node: ast.Call) -> Type:
    """What calling a class gives."""
    made = Instance(shape)
    shape.made = True
    if "__init__" in shape.members:
        _call_member(core, made, "__init__", arguments, node)
        return made
    if shape.fields is not None:
        if shape.plain and arguments.sure:
            report_made(core, shape, len(arguments.values), arguments.named, node)
        given = dict(zip(shape.fields, arguments.values, strict=False)) | arguments.named
        for name in shape.fields:
            default = shape.members.get(name, ("value", ANY))[1]
            core.hold(shape, name, given.get(name, default) if arguments.sure else ANY)
        if "__post_init__" in shape.members:
            # It may take fields that are only passed on to it (`InitVar`).
            alone = not _takes_more(shape.members["__post_init__"][1])
            _call_member(core, made, "__post_init__", Arguments([], [], {}, alone, []), node)
    return made


def _takes_more(method: Type) -> bool:
    """Whether a method has other parameters than the object."""
    return isinstance(method, Function) and len(method.node.args.args) > 1


def _call_member(core: Core, made: Instance, name: str, arguments: Arguments, node: ast.Call) -> Type:
    how, function = made.shape.members[name]
    if how != "method" or not isinstance(function, Function):
        core.escape(arguments.every())
        return ANY
    values = [made, *arguments.values]
    return call_function(core, function, values, arguments.named, sure=arguments.sure, call=node)


def attribute_of(core: Core, owner: Instance | Class, node: ast.Attribute) -> Type:
    """The type of `owner.attr`; reports an attribute that nothing in the program gives such objects."""
    shape, name = owner.shape, node.attr
    stored = isinstance(owner, Instance) and name in core.hints.attributes
    if stored and (core.unsettled(name) or (name not in shape.attributes and name not in shape.members)):
        return ANY
    if isinstance(owner, Instance) and name in shape.attributes:
        if (shown := dict(owner.refined).get(name)) is not None:
            return shown
        how, default = shape.members.get(name, ("value", NEVER))
        return join(shape.attributes[name], default if how == "value" and shape.fields is None else NEVER)
    if name in shape.members:
        return _of_class(core, owner, *shape.members[name])
    known = _OF_TUPLES if shape.ordered else _OF_OBJECTS
    if name in (shape.fields or ()) or not shape.made or shape.name in core.hints.bases:
        return ANY
    if name not in known and isinstance(owner, Instance) and not core.catches_by_name("AttributeError", "Exception"):
        _report(core, shape, node)
    return ANY


def _of_class(core: Core, owner: Instance | Class, how: str, value: Type) -> Type:
    if not isinstance(value, Function):
        return value
    match how:
        case "property" if isinstance(owner, Instance):
            return call_function(core, value, [owner], {})
        case "method" if isinstance(owner, Instance):
            return Bound(value, owner)
        case "class":
            return Bound(value, Class(owner.shape))
        case "static" | "method":
            return value
        case _:
            return ANY


def _report(core: Core, shape: ClassShape, node: ast.Attribute) -> None:
    names = list(dict.fromkeys([*(shape.fields or ()), *shape.attributes, *shape.members]))
    own = [name for name in names if not name.startswith("__")]
    near = nearest(node.attr, own)
    meant = f" Did you mean {near!r}?" if near else ""
    has = f"; it has {listed(own)}." if own else "."
    message = f"{spelled(node.value)} is a {shape.name} and has no attribute {node.attr!r}{has}{meant}"
    core.report("no-attribute", node, message, better=near)


def call_bound(core: Core, bound: Bound, arguments: Arguments, node: ast.Call) -> Type:
    """What calling a method gives."""
    values = [bound.owner, *arguments.values]
    return call_function(core, bound.function, values, arguments.named, sure=arguments.sure, call=node)


def named_tuple(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`collections.namedtuple(name, fields)`."""
    match node.args:
        case [ast.Constant(value=str(name)), ast.Constant(value=str(text))]:
            fields = tuple(text.replace(",", " ").split())
        case [ast.Constant(value=str(name)), ast.List(elts=parts) | ast.Tuple(elts=parts)]:
            fields = tuple(str(part.value) for part in parts if isinstance(part, ast.Constant))
        case _:
            return ANY
    if arguments.named:
        return ANY
    shape = core.class_shape(node, name)
    shape.fields, shape.ordered, shape.frozen, shape.plain = fields, True, True, True
    return Class(shape)


def as_dict(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`dataclasses.asdict(x)`."""
    value = arguments.values[0] if arguments.values else ANY
    return dict_of(core, value, node, arguments.nodes[0]) if isinstance(value, Instance) else ANY


def dict_of(core: Core, value: Instance, node: ast.Call, owner: ast.expr) -> Type:
    """The fields of a dataclass or named tuple as a dict; `owner` is where it comes from."""
    if value.shape.fields is None:
        return ANY
    made: Mapped = core.mapped(node)
    for name in value.shape.fields:
        core.put(made.cell, name, _field_of(core, value, name, owner))
    return made


def _field_of(core: Core, value: Instance, name: str, owner: ast.expr) -> Type:
    """What stands under a field, after the tests that were made of it."""
    if not isinstance(owner, ast.Name):
        return value.shape.attributes.get(name, ANY)
    with core.silence():
        return core.evaluate(ast.copy_location(ast.Attribute(owner, name, ast.Load()), owner))


def dataclass_field(core: Core, node: ast.Call, arguments: Arguments) -> Type:
    """`dataclasses.field(…)`: its default, as far as it is known."""
    factory = arguments.named.get("default_factory")
    if isinstance(factory, Library) and factory.name in ("list", "set"):
        return core.listing(node, join(), factory.name)
    if isinstance(factory, Library) and factory.name == "dict":
        return core.mapped(node)
    return arguments.named.get("default", ANY)
