"""Files through the command line, with a real HTTP service."""

import json
import os
from pathlib import Path

import pytest

from tests.labs.file_service import CSV, PNG, serving_files


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


def test_a_file_is_written_to_the_folder(service, exec_):
    code, out, err = exec_("print(get_orders(limit=2))", "--files", "out")
    assert (code, out) == (0, "orders.csv (text/csv, 20 bytes)\n"), err
    assert Path("out/orders.csv").read_bytes() == CSV
    exec_("f'{get_orders(limit=2)}'", "--files", "out")
    assert {path.name for path in Path("out").iterdir()} == {"orders-2.csv", "orders.csv"}


def test_a_kept_file_is_listed_and_fetched(service, exec_, atc_):
    code, _, err = exec_("get_orders(limit=2)")
    assert code == 0
    assert "Kept with the run: orders.csv. To have them: atc runs files" in err
    (listed,) = json.loads(atc_("runs", "files", "last", "--json")[1])
    assert (listed["name"], listed["media_type"], listed["size"]) == ("orders.csv", "text/csv", 20)
    assert atc_("runs", "files", "last", "-o", "out")[1] == "out/orders.csv\n"
    assert Path("out/orders.csv").read_bytes() == CSV


def test_the_json_of_an_answer_describes_its_files(service, exec_):
    _, out, _ = exec_("print(get_orders(limit=2))", "--json", "--files", "out")
    answer = json.loads(out)
    (file,) = answer["files"]
    assert (file["name"], file["size"], len(file["sha256"])) == ("orders.csv", 20, 64)
    assert file["path"] == "out/orders.csv"
    assert answer["answer"] == "orders.csv (text/csv, 20 bytes)"
    assert "Ann" not in out


def test_a_picture_is_passed_on_with_consent_alone(service, exec_):
    program = "print(upload_file(file=get_image())['bytes'])"
    code, out, err = exec_(program, "--allow-writes", "upload_file")
    assert code == 0, err
    assert int(out) > len(PNG)
    assert PNG in service.last.body


def test_purged_files_are_said_and_others_stay(service, exec_, atc_):
    exec_("print(get_orders(limit=2))")
    atc_("runs", "purge", "last", "--yes")
    assert atc_("runs", "files", "last")[0] == 2


def test_the_store_table_sets_how_long_files_stay(own_folders, atc_):
    Path(os.environ["XDG_CONFIG_HOME"], "atc").mkdir(parents=True, exist_ok=True)
    settings = Path(os.environ["XDG_CONFIG_HOME"], "atc/config.toml")
    settings.write_text("[store]\nkeep_days = 7\n")
    assert json.loads(atc_("config", "show", "--json")[1])["keep_days"]["value"] == 7


def test_a_recording_has_no_bytes_and_says_so(service, exec_, atc_):
    exec_("print(get_orders(limit=2).name)")
    atc_("runs", "export", "last", "-o", "run.json")
    assert atc_("runs", "replay", "run.json")[0] == 0
    exec_("print(len(get_orders(limit=2).rows()))")
    atc_("runs", "export", "last", "-o", "other.json")
    code, _, err = atc_("runs", "replay", "other.json")
    assert code == 1
    assert "the bytes of 'orders.csv' are not stored" in err


def test_a_single_call_writes_its_file(service, atc_):
    words = ("tools", "call", "get_orders", "limit=2", "--tools", "doc.json")
    code, out, err = atc_(*words)
    assert (code, json.loads(out)["name"]) == (0, "orders.csv")
    assert "orders.csv is a file, whose bytes --files DIR writes: a response over limits." in err
    assert "departs" not in err
    assert "Written: out/orders.csv" in atc_(*words, "--files", "out")[2]
    assert Path("out/orders.csv").read_bytes() == CSV
