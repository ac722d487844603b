"""Which operation a request is for."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

from toolflow_bench.services.operation import Operation, Refusal

_Methods = dict[str, Operation]


class Routes:
    """Operations by path. Concrete paths go before templates: `/airlines/search` is no airline's code."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._exact: dict[tuple[str, ...], _Methods] = {}
        self._templates: dict[int, dict[tuple[str, ...], _Methods]] = {}
        for operation in sorted(operations, key=lambda operation: operation.path.count("{")):
            template = tuple(operation.path.split("/")[1:])
            table = self._templates.setdefault(len(template), {}) if "{" in operation.path else self._exact
            table.setdefault(template, {})[operation.method] = operation

    def find(self, method: str, path: bytes) -> tuple[Operation, list[tuple[str, str]]]:
        """The operation for `method` and `path` (percent-encoded), and its path arguments as pairs of name and text.

        Raises:
            Refusal: 404, no operation has this path; 405, another method has.
        """
        steps = tuple(map(unquote, path.decode("latin-1").split("/")[1:]))
        methods, texts = self._exact.get(steps), []
        if methods is None:
            for template, offered in self._templates.get(len(steps), {}).items():
                if all(step == part or (part[:1] == "{" and step) for step, part in zip(steps, template, strict=True)):
                    methods = offered
                    texts = [(part[1:-1], step) for step, part in zip(steps, template, strict=True) if part[:1] == "{"]
                    break
        if methods is None:
            raise Refusal(404, "Not Found")
        operation = methods.get("GET" if method == "HEAD" else method)
        if operation is None:
            allowed = ", ".join(sorted(methods))
            raise Refusal(405, "Method Not Allowed", headers=((b"allow", allowed.encode()),))
        return operation, texts
