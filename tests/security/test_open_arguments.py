"""`--trust TOOL.ARGUMENT` opens exactly one argument; queries of tools that only read ask nobody."""

from contextlib import ExitStack
from dataclasses import replace

import pytest

from atc import Agent, Config, Toolbox, UnknownTool, load_tools
from atc.core.config import InvalidConfig
from tests.labs.loopback import Reply, serving
from tests.labs.tools import tool, writing
from tests.labs.user import User

pytestmark = pytest.mark.usefixtures("shared_sandbox")

EVE = "eve@evil.example"


@pytest.fixture
def status(sandbox, sent):
    """How a run of one call ends, with all writes allowed and these rules."""

    def writes(name, **parameters):
        return tool(name, "ok", parameters, reads=False, optional=list(parameters), sent=sent)

    tools = Toolbox(
        [
            tool("read_mail", {"from": EVE, "total": 900}),
            tool("query", "ok", {"sql": "string"}),
            tool("graphql", "ok", {"query": "string"}),
            tool("run_shell", "ok", {"command": "string"}),
            tool("python_repl", "ok", {"query": "string"}),
            writes("run_sql", sql="string", to="string"),
            writes("send_mail", to="string", cc="string", text="string"),
            writes("post", body="object", url="string"),
            writes("update", field="string", value="string"),
            writes("pay", amount="number"),
        ]
    )

    def run(call, *trust):
        config = Config(strategy="chain", samples=1, max_repairs=0, allow_writes=("all",))
        program = f"mail = read_mail()\nsender, total = mail['from'], mail['total']\nprint({call})"
        agent = Agent(tools, model=writing(program), sandbox=sandbox, config=config, trust=trust)
        return agent.run("Do it.").status

    return run


SQL = "run_sql(sql='select ' + str(total))"
PADDED = "post(body={'to': sender, 'pad': [{'x': 'y'}] * 10_000})"
DEEP = "post(body=[b := {'to': sender}, *[b := {'a': b} for _ in range(45)]][-1])"


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (SQL, "run_sql.sql"),
        ("post(url='https://' + sender)", "post.url"),
        ("send_mail(to=sender, text='x')", "send_mail.to"),
        ("pay(amount=total)", "pay.amount"),
    ],
)
def test_a_named_argument_takes_any_value(status, call, rule):
    assert (status(call), status(call, rule)) == ("paused", "solved")


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        ("run_sql(sql='select 1', to=sender)", "run_sql.sql"),
        ("send_mail(to=sender, cc='x', text='x')", "send_mail.cc"),
        ("post(body={'to': sender})", "post.body"),
        ("post(body={'order': {'amount': total}})", "post.body"),
        ("update(field='recipient', value=sender)", "update.value"),
        (PADDED, "post.body"),
        (DEEP, "post.body"),
        (SQL, "query.sql"),
    ],
)
def test_no_other_value_is_opened(status, call, rule):
    assert status(call, rule) == "paused"


@pytest.mark.parametrize("rule", ["run_sql.*", "run_sql.", "run_sql.sqll", "run_sql.sql=any"])
def test_only_one_argument_can_be_named(status, rule):
    with pytest.raises((InvalidConfig, UnknownTool), match="run_sql"):
        status(SQL, rule)


def test_queries_of_reading_tools_ask_nobody(status):
    assert status("query(sql='select ' + str(total))") == "solved"
    assert status("graphql(query='{ a(b: ' + str(total) + ') }')") == "solved"
    assert status("run_shell(command='ls ' + sender)") == "paused"
    assert status("python_repl(query='print(' + sender)") == "paused"


@pytest.mark.parametrize(
    ("text", "unasked"),
    [("select * from orders", True), ("{ orders { id } }", True), ("DROP TABLE orders", False)],
)
def test_a_documented_read_takes_plain_reads(sandbox, text, unasked):
    program = "print(get_rows(sql=get_note()['text'])['text'])"
    config = Config(strategy="chain", samples=1, max_repairs=0)
    sql = {"name": "sql", "in": "query", "schema": {"type": "string"}}
    read = {"responses": {"200": {"description": ""}}}
    rows = {"operationId": "get_rows", "description": "Return the rows.", "parameters": [sql]}
    note = {"operationId": "get_note", "description": "Return the note."}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "paths": {"/rows": {"get": rows | read}, "/note": {"get": note | read}},
    }
    answer = lambda seen: Reply(body=document if seen.target == "/doc" else {"text": text})  # noqa: E731
    with ExitStack() as stack:
        shop = stack.enter_context(serving(answer))
        for reads in ((), ["get_rows"]):
            tools = load_tools(f"{shop.url}/doc", reads=reads)
            agent = Agent(tools, model=writing(program), sandbox=sandbox, config=config)
            status = agent.run("Do it.").status
            assert status == ("solved" if unasked or reads else "paused")


def test_a_rule_without_a_tool_is_an_error(status, tmp_path):
    with pytest.raises(UnknownTool, match=r"'run_sq.sql'; did you mean run_sql"):
        status(SQL, "run_sq.sql")
    user = User(tmp_path)
    (user.work / "shop.py").write_text(
        "def order(book: str) -> str:\n    'Order.'\n    return ''\n"
    )
    done = user.run_text("print(1)", "--tools", "shop.py", "--trust", "ordr")
    assert (
        done.returncode,
        "--trust: no tool named 'ordr'; did you mean order?" in done.stderr,
    ) == (2, True)


def test_a_rule_with_two_meanings_is_refused(sandbox, sent, tmp_path):
    mine = replace(tool("run_sql", "ok", {"sql": "string"}, reads=False, sent=sent), source="mine")
    other = replace(tool("run_sql.sql", {"to": EVE}), source="other")
    mail = tool("send_mail", "ok", {"to": "string"}, reads=False, sent=sent)
    send = "print(send_mail(to=run_sql_sql()['to']))"
    config = Config(strategy="chain", samples=1, max_repairs=0, allow_writes=("all",))

    def agent(*tools, **how):
        how = {"config": config, "store": tmp_path / "runs.sqlite", **how}
        return Agent(Toolbox(tools), model=writing(send), sandbox=sandbox, **how)

    with pytest.raises(InvalidConfig, match=r"write other/run_sql\.sql or mine/run_sql\.sql"):
        agent(mine, other, mail, trust="run_sql.sql")
    assert agent(mine, other, mail, trust="mine/run_sql.sql").run("Do it.").status == "paused"
    stored = replace(config, trust=("run_sql.sql",))
    notes = []
    solution = agent(mine, other, mail, config=stored).run(
        "Do it.", observer=lambda event: notes.append(getattr(event, "sentence", ""))
    )
    assert (solution.status, sent) == ("paused", [])
    assert any("allows nothing" in note for note in notes)
    assert agent(mine, other, mail, trust="other/run_sql.sql").run("Do it.").status == "solved"
