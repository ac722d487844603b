"""Handlers of ToolFlow's services, and the operations that they answer."""

from types import FunctionType, ModuleType

from toolflow_bench.services.service import find_service


def unused_handlers(service: str, handlers: ModuleType) -> list[str]:
    """Return the public functions of a module of handlers that answer no operation."""
    operations = {operation.id for operation in find_service(service).operations}
    return [
        name
        for name, value in vars(handlers).items()
        if isinstance(value, FunctionType)
        and value.__module__ == handlers.__name__
        and name[0] != "_"
        and name not in operations
    ]
