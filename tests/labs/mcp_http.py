"""An MCP server over streamable HTTP that lists, gives and forgets what it is told."""

import json
import uuid

from tests.labs.loopback import Reply

OBJECT = {"type": "object"}
READS = {"readOnlyHint": True}


def tool(name, schema=OBJECT, hints=READS, **more):
    return {"name": name, "inputSchema": schema, "annotations": hints, **more}


class McpAnswers:
    """What an MCP server answers, for `serving`.

    `results` has the result of each method, or a function of its parameters. With `sessions`, the
    server refuses requests of sessions that it does not know, as `gone` says. `taken` are the
    names of the tools that were called.
    """

    def __init__(self, results, *, introduction=None, sessions=False, gone=None):
        self.results = results
        self.introduction = introduction or {
            "protocolVersion": "2025-06-18",
            "capabilities": {
                "tools": {},
                **({"resources": {}} if "resources/list" in results else {}),
            },
            "serverInfo": {"name": "stub", "version": "1"},
        }
        self.sessions = set() if sessions else None
        self.gone = gone or (lambda message: Reply(status=404))
        self.begun = 0
        self.taken = []

    def message(self, message):
        """The JSON-RPC response to a request."""
        whole = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "initialize":
            return whole | {"result": self.introduction}
        found = self.results.get(message["method"])
        if found is None:
            return whole | {"error": {"code": -32601, "message": "no such method"}}
        if message["method"] == "tools/call":
            self.taken.append(message["params"]["name"])
        result = found(message.get("params", {})) if callable(found) else found
        return whole | (result if "error" in result else {"result": result})

    def __call__(self, seen):
        if seen.method != "POST":
            return Reply(status=405)
        message = json.loads(seen.body)
        if self.sessions is None or message["method"] == "server/discover":
            return (
                Reply(body=self.message(message))
                if "id" in message
                else Reply(status=202, body=b"")
            )
        if message["method"] == "initialize":
            self.begun += 1
            session = uuid.uuid4().hex
            self.sessions.add(session)
            return Reply(body=self.message(message), headers={"Mcp-Session-Id": session})
        if seen.headers.get("mcp-session-id") not in self.sessions:
            return self.gone(message)
        return Reply(body=self.message(message)) if "id" in message else Reply(status=202, body=b"")
