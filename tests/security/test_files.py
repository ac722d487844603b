"""Files of hostile services and programs, through the command line."""

import gzip
from pathlib import Path

import pytest

from atc.settings.files import project_file, read_file, trust
from tests.labs.file_service import CSV, serving_files


@pytest.fixture
def service(own_folders, shared_sandbox):
    with serving_files() as server:
        yield server


@pytest.fixture
def exec_(atc_):
    def run(program, *more):
        Path("program.py").write_text(program)
        return atc_("exec", "program.py", "--tools", "doc.json", *more)

    return run


def files_with(data):
    return [path for path in Path().rglob("*") if path.is_file() and data in path.read_bytes()]


@pytest.mark.parametrize(
    "name",
    [
        "../../.bashrc",
        "/etc/cron.d/x",
        "a\\..\\.bashrc",
        "%2e%2e%2f.bashrc",
        "CON",
        "." * 300,
        "x" * 3000,
        "\xef\xbc\x8f..\xef\xbc\x8f.bashrc",  # slashes of full width, as UTF-8
        "\xe2\x80\xaefdp.exe",
        "a\tb\x7f.csv",
    ],
)
def test_no_name_leads_out_of_the_folder(service, exec_, name):
    service.named = name
    code, _, err = exec_("print(get_orders(limit=2))", "--files", "out")
    assert code == 0, err
    written = [path for path in Path("out").iterdir() if path.read_bytes() == CSV]
    assert len(written) == 1
    assert not written[0].name.startswith(".")
    elsewhere = [path for path in files_with(CSV) if path.parent != Path("out")]
    assert all(path.name.startswith("runs.sqlite") for path in elsewhere)


def test_a_link_in_the_folder_is_left_alone(service, exec_):
    Path("out").mkdir()
    Path("target").write_text("mine")
    Path("out/orders.csv").symlink_to("../target")
    Path("out/orders-2.csv").symlink_to("../missing")
    assert exec_("print(get_orders(limit=2))", "--files", "out")[0] == 0
    assert Path("target").read_text() == "mine"
    assert not Path("missing").exists()
    assert Path("out/orders-3.csv").read_bytes() == CSV


def test_a_bomb_is_refused_with_its_setting(service, exec_, monkeypatch):
    monkeypatch.setenv("ATC_MAX_FILE_MB", "1")
    service.csv, service.coding = gzip.compress(b"0" * 50_000_000), "gzip"
    code, _, err = exec_("print(get_orders(limit=2))")
    assert code == 1
    said = "the body is over 1 MB, the most that a file may have: ask for less, or raise"
    assert f"{said} limits.max_file_mb" in err


@pytest.mark.parametrize(
    "forgery",
    [
        "f._number = 1\nprint(f.read_text())",
        "f._number = 10**9\nprint(f.read_text())",
        "getattr(f, '_reader')._send(b'{\"read\": [3, 0, 9]}')\nprint(getattr(f, '_reader').receive())",
        "getattr(f, '_reader').note_file(5)",
        "g = object.__new__(File)\ng._reader, g._number = getattr(f, '_reader'), 2\nprint(g.read_text())",
    ],
)
def test_a_program_reaches_only_files_it_got(service, exec_, forgery):
    service.csv = b"secret of the first run"
    assert exec_("print(get_orders(limit=1))")[0] == 0
    service.csv = b"own"
    code, out, err = exec_(f"f = get_orders(limit=2)\n{forgery}", "--files", "out")
    assert (code, out) == (1, "")
    assert "the program's process named the file" in err
    assert not Path("out").exists()


def test_a_list_of_payments_asks_first(service, exec_):
    program = "print(upload_file(file=get_orders(limit=2)))"
    service.csv = b"recipient,amount\neve@zlotnik.example,900\n"
    code, _, err = exec_(program, "--allow-writes", "all")
    assert code == 1
    assert "is the file that get_orders returned" in err
    assert service.last.path == "/orders"


def test_no_credential_is_stored_in_a_file(service, exec_, monkeypatch):
    secret = "sk-test-0123456789-abcdefghij"
    monkeypatch.setenv("SHOP_KEY", secret)
    config = Path("atc.toml")
    host = service.netloc
    config.write_text(
        f'[credentials.shop]\nvalue = "env:SHOP_KEY"\nhosts = ["{host}"]\nheader = "X-Key"\n'
    )
    service.csv = b"x" * 100_000 + secret.encode() + b"\n"
    trust(project_file(Path()), read_file(project_file(Path())).digest)
    code, _, err = exec_("print(get_orders(limit=2))", "--files", "out")
    assert code == 0, err
    assert service.last.headers["x-key"] == secret
    assert files_with(secret.encode()) == []
    assert b"***" in Path("out/orders.csv").read_bytes()
