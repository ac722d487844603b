"""Documents that a probing makes of tools."""

from probing.document import protocols_of
from probing.probe import probe
from probing.samples import Log, ProbeSettings
from protocols.files import file_of_bytes
from tests.labs.fake_tools import Fakes, refuse

FREE = ProbeSettings(requests_per_second=None)


def test_other_refusals_stay_quoted(tmp_path):
    fakes = Fakes()
    fakes.add("stats", lambda _: {"n": 1}, "/stats")

    def answer(_):
        raise refuse(400, "the stars are not right")

    fakes.add("ask", answer, "/ask", "city")
    with Log(tmp_path) as log:
        probed = probe(fakes.toolbox, log, settings=FREE)
    (outcome,) = protocols_of(probed)["ask"].errors
    assert "the stars are not right" in outcome.description


def test_responses_that_are_files_are_files(tmp_path):
    fakes = Fakes()
    fakes.add("chart", lambda _: file_of_bytes(b"\x89PNG", "a.png", "image/png"), "/chart")
    with Log(tmp_path) as log:
        probed = probe(fakes.toolbox, log, settings=FREE)
    assert protocols_of(probed)["chart"].output_schema == {"type": "string", "format": "binary"}
