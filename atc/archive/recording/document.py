"""Reading and writing recordings as JSON documents."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from atc.archive.recording import InvalidRecording, Recording
from atc.store.stored import first_problem, type_adapter
from protocols.protocol import dump, load
from protocols.schema import Json, as_mapping
from sandbox.arguments import shorten
from sandbox.trace import Trace

FORMAT = 2
_FORMAT = "atc recording "


def to_document(recording: Recording) -> dict[str, Any]:
    """Return the recording as a JSON object. `parse_recording` reads the text of this object."""
    return {
        "format": f"{_FORMAT}{FORMAT}",
        **type_adapter(Recording).dump_python(recording, exclude={"tools", "trace"}),
        "end": type_adapter(Trace).dump_python(recording.trace, exclude_defaults=True),
        "tools": {alias: dump(protocol) for alias, protocol in recording.tools.items()},
    }


def parse_recording(text: str, *, where: str) -> Recording:
    """Read a recording from the text of a file. `where` names the file in messages.

    Raises:
        InvalidRecording: The text is not a recording, has an unsupported format, or a part is
            missing or wrong.
        InvalidProtocol: The protocol of a tool in it is invalid.
    """
    try:
        document: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"it is not JSON ({error}); it may have been cut off. Export the run anew."
        raise InvalidRecording(where, problem) from error
    found = re.fullmatch(rf"{_FORMAT}(\d{{1,6}})", str(as_mapping(document).get("format")))
    if found is None:
        raise InvalidRecording(
            where, "it is no recording of a run; 'atc runs export RUN -o FILE' writes one."
        )
    if int(found[1]) != FORMAT:
        raise InvalidRecording(
            where, f"its format is {found[1]}, and this atc reads {FORMAT}; export the run anew."
        )
    tools = as_mapping(document.get("tools"))
    if reserved := [alias for alias in tools if alias.startswith("__")]:
        raise InvalidRecording(where, f"tools: {reserved[0]!r} is no name for a tool.")
    tools = {alias: load(tool, where=f"{where}: tool {alias!r}") for alias, tool in tools.items()}
    try:
        recording: Recording = type_adapter(Recording).validate_python({**document, "tools": tools})
    except ValidationError as error:
        raise InvalidRecording(
            where, f"{shorten(first_problem(error), 200)}; export the run anew."
        ) from error
    return recording
