"""Probing a service that keeps none of HTTP's rules: as it sees it, only what carries the run's mark is touched."""

import copy
import json
import os
import re
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from tests.labs import commands
from tests.labs.loopback import Reply, serving
from tests.labs.paths import ROOT

PROBE = ("probe", "bare", "-o", "out", "--model", "none", "--rate", "1000")
MARK = re.compile(r"([a-z]{8})-atc-probe")

ACTIONS = [
    "/logout",
    "/users/logOut",
    "/log-out",
    "/emails/send",
    "/send-email",
    "/sendemail",
    "/emails/sending",
    "/orders/{id}/pay",
    "/orders/{id}/refund",
    "/jobs/{id}/retry",
    "/jobs/{id}:cancel",
    "/posts/{id}/like",
    "/flights/{id}/book",
    "/notifications/mark-read",
    "/unsubscribe/{token}",
    "/cart/checkout",
    "/admin/wipe",
    "/users.delete",
    "/removeUser/{id}",
    "/pets/{id}/frobnicate",
    "/light/on",
    "/index.php?action=delete",
    "/run.cgi?cmd=reboot",
    "/items/{id}?_method=DELETE",
    "/me?logout=true",
]
READS = [
    "/orders/{id}/status",
    "/orders/{id}/history",
    "/orders/{id}/items",
    "/users/me",
    "/search",
    "/stats",
    "/posts",
    "/likes",
    "/checkouts",
    "/run/{id}",
    "/runs",
    "/order/{id}",
    "/cancelled_flights",
    "/airports/{code}/nearby",
    "/teams/{id}/roster",
    "/votes/count",
    "/api?action=list",
    "/emails",
    "/payments",
    "/users/{id}/posts",
]
TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    for variable in [name for name in os.environ if name.startswith(("ATC_", "OPENAI_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("ATC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # this checkout, whatever is installed
    monkeypatch.chdir(tmp_path)
    return tmp_path


def describe(tools):
    folder = Path("bare")
    folder.mkdir()
    for name, told in tools.items():
        (folder / f"{name}.json").write_text(json.dumps({name: told}))


def probe(*options, code=0):
    done = commands.run([*PROBE, *options], capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def path_of(target):
    return re.sub(r"\{\w+\}", "[^/?:]+", re.escape(target).replace(r"\{", "{").replace(r"\}", "}"))


def test_acting_gets_are_listed_and_not_called(here):
    with serving(lambda _: Reply(body={"items": [{"id": "x1", "code": "x1"}]})) as server:
        describe(
            {f"t{n}": f"GET {server.url}{target}" for n, target in enumerate([*ACTIONS, *READS])}
        )
        report = probe("--per-tool", "3")
        called = {seen.target.partition("?")[0] for seen in server.seen}
        for target in ACTIONS:
            assert not [
                path for path in called if re.fullmatch(path_of(target.partition("?")[0]), path)
            ], target
        for target in READS:
            assert [
                path for path in called if re.fullmatch(path_of(target.partition("?")[0]), path)
            ], target
        plan = commands.run(
            ["probe", "bare", "--dry-run"], capture_output=True, text=True, check=True
        ).stdout
    for n, target in enumerate(ACTIONS):
        assert re.search(rf"^t{n} +writes +not called: .*--allow-writes", plan, re.MULTILINE), (
            target
        )
        assert f"\n  t{n}: " in report or f"**t{n}**" in Path("out/COVERAGE.md").read_text()


def test_what_a_document_says_of_a_get_counts(here):
    def operation(summary):
        return {"get": {"summary": summary, "responses": {"200": {"description": "done"}}}}

    acting = {
        "/session": "Log out the current user",
        "/mail": "Sends the mail to everybody",
        "/door": "Open the door",
    }
    with serving() as server:
        paths = {
            path: operation(summary)
            for path, summary in {**acting, "/mails": "Lists what was sent"}.items()
        }
        document = {"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": paths}
        Path("bare").write_text(json.dumps({**document, "servers": [{"url": server.url}]}))
        probe()
        assert {seen.path for seen in server.seen} == {"/mails"}


class Service:
    """Records of a user, and tools that write over them where one lets it."""

    def __init__(self):
        self.lock = threading.RLock()
        self.notes = {"untitled": "mine", "plans": "mine", "test": "mine", "x1": "mine"}
        self.contacts = {
            n: {"id": n, "email": f"{who}@x.org", "city": "Bonn"}
            for n, who in ((1, "ann"), (2, "ben"))
        }
        self.labels = {"red": {"label_id": "L1", "color": "red", "contact_id": 1}}
        self.profile = {"bio": "mine"}
        self.sent = []
        self.stored = []
        self.left = None

    def user(self):
        kept = copy.deepcopy((self.notes, self.contacts, self.labels, self.profile))
        return {json.dumps(one, sort_keys=True) for part in kept[:3] for one in part.items()} | {
            json.dumps(kept[3])
        }

    def made(self):
        """What is there beyond what the user had."""
        return self.user() - Service().user() | set(map(json.dumps, [*self.sent, *self.stored]))

    def __call__(self, seen):
        with self.lock:
            if self.left is not None and seen.method != "GET":
                self.left()
            body = json.loads(seen.body or b"{}")
            return self.answer(
                seen.method,
                *seen.path.strip("/").split("/"),
                body=body if isinstance(body, dict) else {},
            )

    def answer(self, method, head, *rest, body):  # noqa: C901, PLR0912 - a route a case
        match method, head, *rest:
            case "GET", "notes":
                # A page: the others are there and not shown.
                return Reply(
                    body={
                        "notes": [
                            {"name": n, "text": t} for n, t in sorted(self.notes.items())[-3:]
                        ]
                    }
                )
            case "GET", "notes", name if name in self.notes:
                return Reply(body={"name": name, "text": self.notes[name]})
            case ("POST", "notes") | ("PUT", "notes", _):
                name = rest[0] if rest else str(body.get("name", "untitled"))
                self.notes[name] = str(body.get("text", ""))
                return Reply(201, {"name": name, "text": self.notes[name]})
            case "PATCH", "notes", name if name in self.notes:
                self.notes[name] = str(body.get("text", ""))
                return Reply(body={"name": name, "text": self.notes[name]})
            case "DELETE", "notes", name if name in self.notes:
                return Reply(body={"deleted": self.notes.pop(name)})
            case "DELETE", "notes":
                self.notes.clear()
                return Reply(body={"cleared": True})
            case "GET", "contacts":
                return Reply(body=list(self.contacts.values()))
            case "POST", "contacts":
                old = next(
                    (n for n, one in self.contacts.items() if one["email"] == body.get("email")),
                    None,
                )
                number = old or max(self.contacts) + 1
                self.contacts[number] = {
                    "id": number,
                    "email": body.get("email"),
                    "city": str(body.get("city")),
                }
                return Reply(201, {"id": number, "owner_id": 1})
            case "DELETE", "contacts", number if number.isdigit() and int(number) in self.contacts:
                return Reply(body=self.contacts.pop(int(number)))
            case "GET", "labels":
                return Reply(body={"labels": list(self.labels.values())})
            case "POST", "labels":
                if body.get("color") not in ("red", "green"):
                    return Reply(422, {"detail": "color must be one of: red, green"})
                fresh = {"label_id": f"L{len(self.labels) + 7}", "color": body["color"]}
                self.labels[body["color"]] = fresh | {"contact_id": body.get("contact_id")}
                return Reply(201, fresh)
            case ("POST", "profile") | ("PUT", "profile"):
                self.profile["bio"] = str(body.get("bio", ""))
                return Reply(body=self.profile)
            case "GET", "profile":
                return Reply(body=self.profile)
            case "POST", "messages":
                self.sent.append({"text": body.get("text")})
                return Reply(202, {"accepted": True})
            case "POST", "tickets":  # stored, although the answer says that it failed
                self.stored.append({"subject": body.get("subject")})
                return Reply(500, {"error": "oops"})
        return Reply(404, {"detail": "no such thing"})

    def tools(self, url):
        def tool(method, path, **arguments):
            told = {name: {**schema, "required": True} for name, schema in arguments.items()}
            return {"url": url + path, "method": method, "arguments": told}

        return {
            "list_notes": tool("GET", "/notes"),
            "get_note": tool("GET", "/notes/{name}"),
            "create_note": tool("POST", "/notes", name={**TEXT, "example": "plans"}, text=TEXT),
            "put_note": tool("PUT", "/notes/{name}", text=TEXT),
            "edit_note": tool("PATCH", "/notes/{name}", text=TEXT),
            "delete_note": tool("DELETE", "/notes/{name}"),
            "clear_notes": tool("DELETE", "/notes"),
            "list_contacts": tool("GET", "/contacts"),
            "add_contact": tool("POST", "/contacts", email=TEXT, city=TEXT),
            "remove_contact": tool("DELETE", "/contacts/{id}", id=NUMBER),
            "list_labels": tool("GET", "/labels"),
            "add_label": tool("POST", "/labels", color={**TEXT, "enum": ["red", "green"]}),
            "get_profile": tool("GET", "/profile"),
            "set_bio": tool("POST", "/profile", bio=TEXT),
            "update_profile": tool("PUT", "/profile", bio=TEXT),
            "send_message": tool("POST", "/messages", text=TEXT),
            "open_ticket": tool("POST", "/tickets", subject=TEXT),
        }


def told():
    """What the report names as made: in the file, and in the summary of the command as JSON."""
    return json.loads(Path("out/coverage.json").read_text())["made"]


def test_writing_probes_touch_only_their_records(
    here,
):
    service = Service()
    with serving(service) as server:
        describe(service.tools(server.url))
        out = probe("--allow-writes")
    assert Service().user() <= service.user()
    marks = {mark for one in service.made() for mark in MARK.findall(one)}
    assert len(marks) == 1
    sent = [
        seen.target + seen.body.decode()
        for seen in server.seen
        if seen.method not in ("GET", "DELETE")
    ]
    assert sent
    assert [one for one in sent if not MARK.search(one) and "/labels" not in one] == []
    # What a delete is known for is gone again; what is left is named, in both reports.
    assert service.notes.keys() == Service().notes.keys()
    assert service.contacts.keys() == Service().contacts.keys()
    assert {one["label_id"] for one in service.labels.values()} - {"L1"} <= {
        i for one in told() for i in one["ids"]
    }
    assert service.sent
    assert service.stored
    left = {one["tool"]: one["marks"] for one in told() if not one["removed"]}
    assert left.keys() == {"add_label", "send_message", "open_ticket"}, told()
    assert all(
        marks & set(MARK.findall(" ".join(texts)))
        for tool, texts in left.items()
        if tool != "add_label"
    )
    removed = {one["tool"] for one in told() if one["removed"]}
    assert {"create_note", "add_contact"} <= removed
    readable = Path("out/COVERAGE.md").read_text()
    for one in told():
        assert one["tool"].replace("_", r"\_") in readable
        assert one["tool"] in out


def test_unmarked_records_are_removed_by_their_id(
    here,
):
    orders = {7: {"order_id": 7, "amount": 3}}
    kept = {"writable": True}

    def answer(seen):
        match seen.method, *seen.path.strip("/").split("/"):
            case "GET", "orders":
                return Reply(
                    body={"orders": list(orders.values()) if kept["writable"] else [orders[7]]}
                )
            case "POST", "orders":
                number = max(orders) + 5
                orders[number] = {
                    "order_id": number,
                    "amount": json.loads(seen.body or b"{}").get("amount"),
                }
                return Reply(201, {"order_id": number})
            case "DELETE", "orders", number if int(number) in orders:
                return Reply(body=orders.pop(int(number)))
        return Reply(404, {"detail": "no such order"})

    amount = {"amount": {"type": "integer", "minimum": 1, "maximum": 3, "required": True}}
    for writable, folder in ((True, "shown"), (False, "hidden")):
        kept["writable"] = writable
        Path(folder).mkdir()
        os.chdir(folder)
        with serving(answer) as server:
            describe(
                {
                    "list_orders": f"GET {server.url}/orders",
                    "add_order": {
                        "url": f"{server.url}/orders",
                        "method": "POST",
                        "arguments": amount,
                    },
                    "delete_order": {
                        "url": f"{server.url}/orders/{{order_id}}",
                        "method": "DELETE",
                    },
                }
            )
            probe("--allow-writes")
        os.chdir(here)
        ids = {
            text
            for one in json.loads(Path(folder, "out/coverage.json").read_text())["made"]
            for text in one["ids"]
        }
        assert orders[7] == {"order_id": 7, "amount": 3}
        assert ids
        assert (set(orders) == {7}) is writable
        assert {str(number) for number in orders} - {"7"} <= ids


@pytest.mark.parametrize("end", ["interrupt", "kill", "budget"])
def test_made_records_are_removed_or_named(here, end):
    service = Service()
    process = None

    def stop():
        if len(service.notes) > len(Service().notes):
            service.left = None
            process.send_signal(signal.SIGINT if end == "interrupt" else signal.SIGKILL)

    with serving(service) as server:
        tools = service.tools(server.url)
        wanted = (
            "list_notes",
            "get_note",
            "create_note",
            "put_note",
            "delete_note",
            "send_message",
        )
        describe({name: tools[name] for name in wanted})
        if end == "budget":
            for budget in range(8, 40, 4):
                probe("--allow-writes", "--budget", str(budget))
                assert Service().user() <= service.user()
                check(service)
                assert not service.user() - Service().user()
            return
        service.left = stop
        words = [*PROBE, "--allow-writes"]
        process = commands.Command(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert process.wait() == (130 if end == "interrupt" else -9)
        if end == "kill":
            assert service.made()
            probe("--allow-writes")  # goes on from the log
    assert Service().user() <= service.user()
    assert not service.user() - Service().user()
    check(service)


def check(service):
    """Each record that is left is named in the report, by its mark."""
    named = {
        mark
        for one in told()
        if not one["removed"]
        for text in one["marks"]
        for mark in MARK.findall(text)
    }
    assert {mark for one in service.made() for mark in MARK.findall(one)} <= named
