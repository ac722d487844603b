"""Control of a running service."""

from toolflow_bench.services.control import Control
from toolflow_bench.services.faults import Faults
from toolflow_bench.services.reply import ServiceReply


def test_a_key_keeps_its_first_reply():
    control, reply = Control(None), ServiceReply.from_value(200, {"a": 1})
    assert control.first_answer("k", "POST /notes") is None
    control.remember("k", "POST /notes", reply)
    assert control.first_answer("k", "POST /notes") == reply
    control.reset()
    assert control.first_answer("k", "POST /notes") is None


def test_faults_are_drawn_only_where_set():
    control = Control(None)
    assert control.draw() is None
    control.set_faults(Faults(rate_500=1))
    assert control.draw() is not None
