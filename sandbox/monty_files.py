"""Files in the monty backend: objects of the host, of which programs may use some methods."""

from __future__ import annotations

import importlib
from typing import Any

from sandbox.file_objects import File, Sequential, place_files

LARGEST_BYTES = 32 * 2**20
"""Maximum size of a file that a program in this backend can read.

The interpreter gets what a method returns as a whole, so it passes through the memory of the host.
"""
_ATTRIBUTES = ("name", "media_type", "size", "sha256")
_METHODS = ("read_text", "read_bytes", "lines", "rows", "json")


def with_monty_files(reader: Any, value: Any, files: list[Any]) -> Any:
    """Return the value of a reply with its files in their places, in the form that monty takes."""
    return _wrapped(place_files(reader, value, files), _instance_class())


def with_texts(value: Any) -> Any:
    """Return a value of a program with a text in the place of each file."""
    if type(value) is File:
        return repr(value)
    if type(value) in (list, tuple):
        return [with_texts(item) for item in value]
    if type(value) is dict:
        return {key: with_texts(item) for key, item in value.items()}
    return value


def _wrapped(value: Any, instance: Any) -> Any:
    """Return a value in which each file is wrapped for monty."""
    if type(value) is File:
        return instance(value, eager_attrs=_ATTRIBUTES, allowed_methods=_METHODS)
    if type(value) is list:
        return [_wrapped(item, instance) for item in value]
    if type(value) is dict:
        return {key: _wrapped(item, instance) for key, item in value.items()}
    return value


def _instance_class() -> Any:
    """Return the class that exposes a file. `pydantic_monty` is an optional dependency."""
    base: Any = importlib.import_module("pydantic_monty").ClassInstance

    class FileInstance(base):  # type: ignore[misc]  # its type is not known without monty
        """A file: methods that read lines or rows return lists, and a large file is refused."""

        def call_method(self, name: str, *args: Any, **kwargs: Any) -> Any:
            if self.value.size > LARGEST_BYTES:
                most = f"{LARGEST_BYTES / 2**20:.0f} MB"
                raise ValueError(
                    f"the monty sandbox reads files of at most {most}, and {self.value.name!r} has"
                    f" {self.value.size:,} bytes; use the zygote or docker sandbox"
                )
            return super().call_method(name, *args, **kwargs)

        def convert_value(self, name: str, value: Any) -> Any:
            plain = list(value) if isinstance(value, Sequential) else value
            return super().convert_value(name, plain)

    return FileInstance
