"""Modules that a program may import, and what to use instead of those that it may not."""

from __future__ import annotations

import sys
from difflib import get_close_matches

from sandbox.policy.names import BUILTINS, NO_FILES, Problem

ALLOWED = frozenset(
    """
    __future__ abc array ast asyncio asyncio.exceptions asyncio.locks asyncio.queues asyncio.tasks base64 binascii
    bisect calendar cmath codecs collections collections.abc colorsys concurrent.futures configparser contextlib
    contextvars copy csv dataclasses datetime decimal difflib email.utils enum errno fnmatch fractions functools
    graphlib gzip hashlib heapq hmac html html.entities html.parser http inspect io ipaddress itertools json
    json.decoder json.encoder keyword logging math numbers operator pathlib pprint queue quopri random re reprlib
    secrets shlex statistics string struct sys textwrap threading time tomllib traceback types typing unicodedata
    urllib.parse uuid warnings weakref xml.etree.ElementTree zlib zoneinfo
    """.split()  # noqa: SIM905
)
"""The part of the standard library that is of use without files, network and processes."""

PACKAGES = frozenset(name.rpartition(".")[0] for name in ALLOWED if "." in name) - ALLOWED | {"xml"}
"""Those above them, which hold nothing else that a program may use."""

ONLY: dict[str, frozenset[str]] = {
    name: frozenset(names.split())
    for name, names in {
        "ast": "literal_eval",
        "gzip": "compress decompress BadGzipFile",
        "http": "HTTPStatus HTTPMethod",
        "inspect": "Parameter Signature signature cleandoc getdoc isawaitable isclass iscoroutine iscoroutinefunction "
        "isfunction isgenerator isgeneratorfunction ismethod isbuiltin isabstract isasyncgenfunction",
        "pathlib": "PurePath PurePosixPath PureWindowsPath",
        "sys": "argv byteorder exc_info exception exit float_info float_repr_style getrecursionlimit getsizeof "
        "hash_info hexversion implementation int_info intern maxsize maxunicode platform setrecursionlimit stderr "
        "stdout version version_info",
        "threading": "Barrier BoundedSemaphore Condition Event Lock RLock Semaphore current_thread get_ident local "
        "main_thread",
    }.items()
}
"""Of these modules a program may use so much."""

_CHILDREN_AND_SOCKETS = (  # noqa: SIM905
    "create_subprocess_exec create_subprocess_shell open_connection open_unix_connection start_server "
    "start_unix_server subprocess"
).split()

WITHOUT: dict[str, dict[str, str]] = {
    "asyncio": dict.fromkeys(_CHILDREN_AND_SOCKETS, "call the declared tools instead"),
    "concurrent.futures": dict.fromkeys(("process", "thread"), "use concurrent.futures.ThreadPoolExecutor instead"),
    "codecs": {"open": NO_FILES, "EncodedFile": NO_FILES},
    "enum": {"bltns": ""},
    "io": dict.fromkeys(("open", "open_code", "FileIO"), NO_FILES),
    "logging": dict.fromkeys(("FileHandler", "handlers", "config"), "use print instead"),
    "string": {"Formatter": "use str.format or an f-string instead"},
    "types": {"CodeType": "", "FrameType": ""},
    "typing": {"stdlib_re": "use the re module instead"},
    "xml.etree.ElementTree": dict.fromkeys(("parse", "iterparse"), "use fromstring instead"),
}
"""Of these, everything but what stands here, with what to use instead."""

# Functions and classes that have the name of a module of the standard library; `calendar.calendar` and its like aside.
_NO_MODULES = {("datetime", "time"), ("unicodedata", "decimal"), ("sys", "platform")}

_TOOLS = "call the declared tools instead"
_DEFINED = "call the tools by their names: they are defined already; drop the import instead"
_NUMBERS = "use statistics, math, lists and dicts instead"
_TABLES = "use lists of dicts, csv and statistics instead"
_CONCURRENT = "use asyncio.gather with asyncio.to_thread instead"
_DATES = "use datetime and zoneinfo instead"
_JSON = "use json instead"
_MODELS = "use dataclasses instead"
_PARSE = "use html.parser, xml.etree.ElementTree or re instead"
_PRINT = "use print and f-strings instead"
_IMPORT = "use an import statement instead"
_ARGUMENTS = "write the values into the program instead"

_INSTEAD: dict[str, str] = {
    name: instead
    for names, instead in {
        "requests httpx aiohttp urllib3 urllib.request urllib.error http.client http.server socket ssl ftplib smtplib "
        "imaplib poplib telnetlib xmlrpc websocket websockets paramiko boto3 openai anthropic googleapiclient stripe "
        "slack_sdk tweepy selenium playwright webbrowser email socketserver select selectors": _TOOLS,
        "tools tool api apis functions toolbox client sdk services mcp my_tools tool_functions": _DEFINED,
        "numpy scipy sympy mpmath torch tensorflow sklearn numba": _NUMBERS,
        "pandas polars pyarrow openpyxl xlrd sqlite3 sqlalchemy dbm duckdb": _TABLES,
        "matplotlib seaborn plotly": _PRINT,
        "multiprocessing subprocess _thread trio anyio gevent joblib concurrent.futures.process": _CONCURRENT,
        "dateutil pytz arrow pendulum tzlocal": _DATES,
        "pickle marshal shelve yaml simplejson orjson ujson dill toml copyreg": _JSON,
        "pydantic attr attrs marshmallow": _MODELS,
        "typing_extensions": "use typing instead",
        "bs4 lxml html5lib xml.dom xml.sax": _PARSE,
        "rich tabulate tqdm colorama termcolor prettytable click": _PRINT,
        "os": "get data from the declared tools, and print results: a program has no files, processes and environment; "
        "for paths use string methods instead",
        "os.path posixpath ntpath": "use string methods such as rpartition('/') instead",
        "shutil tempfile glob fileinput zipfile tarfile mmap filecmp fcntl": NO_FILES,
        "dotenv getpass keyring": "drop it: the host adds credentials to the calls; call the declared tools instead",
        "importlib pkgutil imp runpy zipimport builtins __main__ site": _IMPORT,
        "argparse optparse getopt": _ARGUMENTS,
        "timeit cProfile profile": "use time.perf_counter instead",
        "atexit": "use try/finally instead",
        "signal": "drop it: the sandbox keeps the time, and ends a program that takes too long",
        "tenacity retrying backoff": "use a loop with try/except ToolError instead",
        "nest_asyncio": "drop it: await at top level works, and so does asyncio.run",
        "platform locale": "write the values that you expect instead",
        "pdb code dis gc tracemalloc faulthandler": "use print and traceback.format_exc instead",
        "unittest doctest pytest": "use assert instead",
        "ctypes cffi": "write it in Python instead",
        "sched": "use heapq and time.sleep instead",
        "more_itertools toolz": "use itertools instead",
        "regex": "use re instead",
        "cachetools": "use functools.lru_cache instead",
        "mimetypes": "write the content type itself instead",
    }.items()
    for name in names.split()
}


def module_problem(path: str) -> Problem | None:
    """What is wrong with importing the module at the dotted `path`."""
    if path in ALLOWED or path in PACKAGES:
        return None
    return (f"the module {path!r} is not available in a program", _instead(path))


def member_problem(path: str, name: str) -> Problem | None:
    """What is wrong with `name` of the module at `path`, which may be a part of one that may be imported."""
    full = f"{path}.{name}"
    if full in ALLOWED or full in PACKAGES:
        return None
    if path in PACKAGES:
        return (f"the module {full!r} is not available in a program", _instead(full))
    if name in WITHOUT.get(path, ()):
        return (f"{full!r} is not available in a program", WITHOUT[path][name])
    if path in ONLY and name not in ONLY[path] and not name.startswith("_"):
        return (f"{full!r} is not available in a program", _member_instead(path, name))
    if name.startswith("_") and name not in ("__name__", "__doc__", "__version__", "__all__", "__annotations__"):
        return (f"{full!r} is private to the module {path!r}", "")
    if _leads_elsewhere(path, name):
        instead = f"import {name} by itself instead" if name in ALLOWED else _instead(name)
        return (f"{full!r} leads to another module", instead)
    return None


def _leads_elsewhere(path: str, name: str) -> bool:
    last = path.rpartition(".")[2]
    return name in sys.stdlib_module_names and name != last and (path.split(".")[0], name) not in _NO_MODULES


def _instead(path: str) -> str:
    for end in range(path.count(".") + 1):
        prefix = path.rsplit(".", end)[0]
        if prefix in _INSTEAD:
            return _INSTEAD[prefix]
    if path.split(".")[0] in sys.stdlib_module_names:
        return ""
    near = get_close_matches(path, ALLOWED, n=1, cutoff=0.8)
    return f"use {near[0]} instead" if near else "use the standard library, or call the declared tools instead"


def _member_instead(path: str, name: str) -> str:
    if path == "sys" and name == "stdin":
        return BUILTINS["input"][1]
    if path == "threading":
        return _CONCURRENT
    if path == "pathlib":
        return "use pathlib.PurePath, which needs no files, instead"
    near = get_close_matches(name, ONLY[path], n=1, cutoff=0.7)
    return f"use {path}.{near[0]} instead" if near else ""
