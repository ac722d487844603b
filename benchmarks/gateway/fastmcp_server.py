"""FastMCP's CodeMode over OpenAPI documents. Runs in a Python that has `fastmcp[code-mode]`, by itself.

    python fastmcp_server.py [--plain] [--http PORT] DOCUMENT_URL …

Its settings are FastMCP's own but for two: there is no limit of 50 calls a program, which the longest gold programs
exceed, and schemas keep their references, which FastMCP otherwise resolves in all tools at each call of a program.
`--plain` offers the operations as tools, without CodeMode: what other gateways take as their upstream.
"""

import argparse
import json
from urllib.request import urlopen

import httpx2
from fastmcp import FastMCP
from fastmcp.experimental.transforms.code_mode import CodeMode

parser = argparse.ArgumentParser()
parser.add_argument("--plain", action="store_true")
parser.add_argument("--http", type=int, metavar="PORT")
parser.add_argument("documents", nargs="+")
given = parser.parse_args()

server = FastMCP("rival", dereference_schemas=False)
for url in given.documents:
    with urlopen(url) as answer:
        document = json.load(answer)
    client = httpx2.AsyncClient(base_url=document["servers"][0]["url"], timeout=60)
    server.mount(FastMCP.from_openapi(document, client, dereference_schemas=False))
if not given.plain:
    server.add_transform(CodeMode(max_tool_calls=None))
if given.http:
    server.run(transport="http", host="127.0.0.1", port=given.http, show_banner=False, log_level="critical")
else:
    server.run(show_banner=False)
