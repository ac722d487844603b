"""Links and types from observed values."""

from probing.document import protocols_of
from probing.probe import probe
from probing.samples import Log, ProbeSettings
from tests.labs.fake_tools import Fakes, need, refuse

FREE = ProbeSettings(requests_per_second=None)


def test_list_values_reach_paths_and_become_links(tmp_path):
    plugins = {
        name: {"percent": number, "unit": "s"}
        for number, name in enumerate(("cpu", "fan2", "load", "raid"))
    }
    fakes = Fakes()
    fakes.add("names", lambda _: list(plugins), "/names")

    def one(given):
        if given["plugin"] not in plugins:
            raise refuse(404, "nothing here")
        return plugins[given["plugin"]]

    fakes.add("one", one, "/plugins/{plugin}")
    fakes.add(
        "desks", lambda _: [{"name": "left", "load": 3}, {"name": "right", "load": 4}], "/desks"
    )
    fakes.add(
        "desk", lambda given: one({"plugin": {"left": "cpu"}.get(given["place"])}), "/desks/{place}"
    )
    with Log(tmp_path) as log:
        protocols = protocols_of(probe(fakes.toolbox, log, settings=FREE))
    assert {(link.argument, link.tool, link.path) for link in protocols["one"].links} == {
        ("plugin", "names", "[]")
    }
    assert (
        protocols["desk"].output_schema is not None
    )  # what the list one step above calls its items


def test_sent_values_become_no_types(tmp_path):
    fakes = Fakes()
    fakes.add("scores", lambda _: [{"score": 5}, {"score": 7}], "/scores", "score", strict=False)

    def found(given):
        if len(str(need(given, "words"))) < 3:
            raise refuse(422, "argument 'words' must have at least 3 characters.")
        return {"rows": [{"name": "Lobo"}]}

    fakes.add("found", found, "/found", "words")
    with Log(tmp_path) as log:
        protocols = protocols_of(probe(fakes.toolbox, log, settings=FREE))
    assert protocols["scores"].parameters.keys() == {"score"}
    assert protocols["scores"].parameters["score"].get("type") in (None, "integer")
    assert protocols["found"].parameters["words"]["type"] == "string"
