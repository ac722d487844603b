"""Loads modules and time zones for programs, before the process loses access to files.

This module imports only the standard library.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import zoneinfo
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

PRELOADED = (  # noqa: SIM905 - a hundred names in quotes would fill two screens
    "_strptime abc argparse array ast asyncio base64 binascii bisect builtins bz2 calendar cmath "
    "codecs collections.abc colorsys concurrent.futures configparser contextlib contextvars copy "
    "copyreg csv ctypes dataclasses datetime decimal difflib email.generator email.message "
    "email.mime.application email.mime.multipart email.mime.text email.utils enum fnmatch "
    "fractions functools gc getpass gettext glob graphlib gzip hashlib heapq hmac html "
    "html.entities html.parser http http.cookies importlib.util inspect io ipaddress itertools "
    "json keyword linecache locale logging lzma math mimetypes numbers operator os os.path "
    "pathlib pickle platform pprint queue quopri random re reprlib resource sched secrets "
    "selectors shlex shutil signal socket sqlite3 stat statistics string stringprep struct "
    "subprocess sys sysconfig tempfile textwrap threading time timeit token tokenize tomllib "
    "traceback types typing unicodedata unittest urllib.error urllib.parse urllib.request uuid "
    "warnings weakref xml.dom.expatbuilder xml.dom.minidom xml.etree.ElementTree "
    "xml.sax.expatreader xml.sax.saxutils zipfile zlib zoneinfo encodings.ascii "
    "encodings.base64_codec encodings.cp1252 encodings.cp437 encodings.hex_codec encodings.idna "
    "encodings.iso8859_15 encodings.latin_1 encodings.punycode encodings.raw_unicode_escape "
    "encodings.rot_13 encodings.unicode_escape encodings.utf_16 encodings.utf_16_be "
    "encodings.utf_16_le encodings.utf_32 encodings.utf_8_sig"
).split()
"""Modules that are imported in advance. A program cannot import any others."""

_zones: dict[str, bytes] = {}


def load(zone_folders: Iterable[str] = ()) -> None:
    """Import the modules that programs may import, and read the time zones.

    The time zones are those of the system, or else those in the first usable one of `zone_folders`.
    """
    # After a fork, modules would repair what threads left (there are none) and reseed `random`.
    os.register_at_fork = lambda **_: None
    for name in PRELOADED:
        with suppress(ImportError):  # some builds of Python lack a module or two
            importlib.import_module(name)
    for folder in (*zoneinfo.TZPATH, *zone_folders):
        if not _zones and Path(folder).is_dir():
            _read_zones(Path(folder))
    zoneinfo.reset_tzpath(to=())
    patched: Any = zoneinfo
    patched.available_timezones = lambda: set(_zones)
    patched._common.load_tzdata = _zone_file  # noqa: SLF001 - where both implementations look


def posix_rule(zone: str) -> str:
    """Return the POSIX rule of a time zone, such as `CET-1CEST,M3.5.0,M10.5.0/3`.

    The C library can use such a rule without reading a file. If the zone has no rule, return its
    name.
    """
    data = _zones.get(zone, b"")
    footer = data.rstrip(b"\n").rpartition(b"\n")[2]
    return footer.decode("ascii") if data[4:5] >= b"2" and footer else zone


def leave_files() -> None:
    """Make the process independent of files, because it is about to lose access to them.

    No modules are searched any more, and the standard streams become buffers in memory.
    """
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.stdin = sys.__stdin__ = _memory_stream()  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _memory_stream()  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _memory_stream()  # type: ignore[misc]


def _memory_stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def _read_zones(folder: Path) -> None:
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in ("posix", "right", "__pycache__")]
        for name in files:
            with suppress(OSError):
                data = Path(path, name).read_bytes()
                if data.startswith(b"TZif"):
                    _zones[Path(path, name).relative_to(folder).as_posix()] = data


def _zone_file(key: str) -> io.BytesIO:
    if key not in _zones:
        raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
    return io.BytesIO(_zones[key])
