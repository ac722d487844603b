"""The world of RestBench's tasks: the mocks of its APIs on loopback, and their tools."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from protocols.errors import SourceUnavailable
from protocols.invoke import Invoker
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from toolflow_bench.final_state import Snapshot
from toolflow_bench.restbench.data import PRESETS, RestBench
from toolflow_bench.restbench.mock import Mock
from toolflow_bench.services.serve import INSTALL, serve


class RestWorld:
    """One mock an API, served. Each worker of a run has a world of its own; close it, or use it as a context manager.

    Raises:
        SourceUnavailable: a package is missing, or a mock did not start.
    """

    def __init__(self, data: RestBench, *, seed: int = 0) -> None:
        self.mocks = {api: Mock(d, seed=seed, preset=PRESETS.get(api)) for api, d in data.documents.items()}
        with ExitStack() as stack:
            sources = []
            for api, mock in self.mocks.items():
                try:
                    app = mock.app()
                except ImportError as error:
                    raise SourceUnavailable(
                        f"the mock of {api} needs {error.name!r}, which is not installed; {INSTALL}"
                    ) from error
                sources.append(f"{api}={stack.enter_context(serve(app)).document_url}")
            invoker = Invoker()
            stack.callback(invoker.close)
            self.toolbox: Toolbox = load_tools(*sources, invoker=invoker)
            self._stack = stack.pop_all()

    def reset(self) -> None:
        """Forget what the last task searched for and wrote."""
        for mock in self.mocks.values():
            mock.reset()

    def snapshot(self) -> Snapshot:
        """Nothing: what a run left is not judged."""
        return {}

    def close(self) -> None:
        """Stop the mocks."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
