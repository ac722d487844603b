"""The tools of ToolFlow's services as their documents describe them."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from toolflow_bench.services.document import document
from toolflow_bench.services.service import NAMES, find_service


def service_tools() -> Toolbox:
    """The tools of the four services out of their documents; no service runs, so none of them can be called."""
    with TemporaryDirectory() as folder:
        sources = []
        for name in NAMES:
            service = find_service(name)
            content = document(
                service.operations, info=service.info, schemas=service.schemas, server="http://localhost"
            )
            path = Path(folder) / f"{name}.json"
            path.write_text(json.dumps(content), encoding="utf-8")
            sources.append(f"{name}={path}")
        return load_tools(*sources)
