"""Findings about imports of modules that a program does not have."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from atc.core.messages import make_finding
from atc.core.types import Finding
from atc.pipeline.check.syntax import caught_exceptions, children
from protocols.naming import split_words
from protocols.toolbox import Toolbox

NOT_LOADED = split_words("""
    aifc antigravity asynchat asyncore audioop bdb cProfile cgi cgitb chunk cmd code codeop
    compileall crypt curses dbm distutils doctest ensurepip filecmp fileinput ftplib
    getopt grp idlelib imaplib imghdr imp lib2to3 mailbox mailcap modulefinder msilib msvcrt
    multiprocessing netrc nis nntplib optparse ossaudiodev pdb pickletools pipes pkgutil plistlib
    poplib profile pstats pty py_compile pyclbr pydoc readline rlcompleter shelve smtpd
    smtplib sndhdr socketserver spwd sunau symtable syslog tabnanny tarfile telnetlib this tkinter
    trace tracemalloc tty turtle turtledemo uu venv wave webbrowser winreg winsound wsgiref xdrlib
    xmlrpc zipapp
""")
"""Modules of the standard library that no sandbox loads, see `sandbox.zygote.child.stdlib`."""

_CALL_TOOLS = "Call the tools instead: they are defined already."
_BUILT_IN = "Use dicts and lists, with collections, itertools and statistics."
_ADVICE = {
    **dict.fromkeys(
        [
            "requests", "httpx", "aiohttp", "urllib3", "httplib2", "ftplib", "smtplib", "boto3",
            "xmlrpc", "googleapiclient", "openai", "anthropic", "psycopg2", "sqlalchemy", "pymongo",
            "tools", "functions", "api", "default_api",
        ],
        _CALL_TOOLS,
    ),
    **dict.fromkeys(["pandas", "polars", "pyarrow"], _BUILT_IN),
    **dict.fromkeys(["numpy", "scipy", "sklearn", "sympy"], "Use math and statistics."),
    **dict.fromkeys(
        ["dateutil", "pytz", "pendulum", "arrow", "tzlocal", "dateparser"],
        "Use datetime and zoneinfo.",
    ),
    **dict.fromkeys(["bs4", "lxml", "html5lib"], "Use html.parser or xml.etree.ElementTree."),
    **dict.fromkeys(["simplejson", "orjson", "ujson", "json5"], "Use json."),
    **dict.fromkeys(["multiprocessing", "joblib"], "Use concurrent.futures.ThreadPoolExecutor."),
    **dict.fromkeys(["anyio", "trio", "gevent", "uvloop"], "Use asyncio."),
    **dict.fromkeys(["tqdm", "rich", "tabulate", "prettytable", "IPython"], "Use print."),
    **dict.fromkeys(["tenacity", "backoff", "retrying"], "Use a loop with try."),
    **dict.fromkeys(["pydantic", "attr", "attrs"], "Use plain dicts, or dataclasses."),
    "nest_asyncio": "Leave it out: await works without it.",
    "regex": "Use re.",
    "yaml": "Use json.",
    "more_itertools": "Use itertools.",
    "dotenv": "Leave it out: a program has no environment.",
}  # fmt: skip
"""What to use instead of a module, keyed by its name."""
_OTHERWISE = "Use the standard library of Python, and the tools for everything else."
_HANDLING = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def unavailable_imports(tree: ast.Module, tools: Toolbox) -> list[Finding]:
    """Return a finding for each import of a module that a program does not have.

    An import that a `try` handles is left out, and so is one of a tool's name: another finding
    says that the tool is there already.
    """
    found = []
    for node in _iter_unhandled(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif node.level or tools.keys() & {alias.name for alias in node.names}:
            continue
        else:
            modules = [node.module or ""]
        found += [_explain(node, module) for module in modules if not is_available(module)]
    return found


def is_available(module: str) -> bool:
    """Return True if a program can import a module. `module` is its dotted name."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names and top not in NOT_LOADED


def _iter_unhandled(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports in a program that no `try` handles, and that are executed."""
    match node:
        case ast.Import() | ast.ImportFrom():
            yield node
        case ast.Try(handlers=handlers) if any(_HANDLING & caught_exceptions(h) for h in handlers):
            for part in (*handlers, *node.orelse, *node.finalbody):
                yield from _iter_unhandled(part)
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return
        case ast.expr():
            return
        case _:
            for child in children(node):
                yield from _iter_unhandled(child)


def _explain(node: ast.Import | ast.ImportFrom, module: str) -> Finding:
    advice = _ADVICE.get(module.partition(".")[0], _OTHERWISE)
    message = f"the module {module!r} is not available in a program. {advice}"
    return make_finding("unavailable-import", node, message)
