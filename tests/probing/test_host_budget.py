"""The pace of calls to one host."""

import pytest

from probing.caller import NotCalled
from tests.labs.loopback import Reply
from tests.labs.probing_tools import lab


def test_calls_begin_no_faster_than_the_rate(tmp_path):
    with lab(tmp_path, lambda _: Reply(body=1), "find", requests_per_second=4) as probing:
        for value in range(5):
            probing.call("find", q=value)
        assert probing.clock.slept == pytest.approx([0.25] * 4)


def limited(clock, *, seconds, burst=1, header=True):
    """A service that takes `burst` calls, and another each so many seconds."""
    state = {"tokens": float(burst), "at": None}

    def answer(_):
        now = clock()
        if state["at"] is not None:
            state["tokens"] = min(burst, state["tokens"] + (now - state["at"]) / seconds)
        state["at"] = now
        if state["tokens"] >= 0.999:
            state["tokens"] -= 1
            return Reply(body=1)
        return Reply(
            429, {"error": "slow down"}, {"Retry-After": str(int(seconds))} if header else {}
        )

    return answer


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("burst", [1, 10])
def test_a_rate_limit_lets_all_be_called(tmp_path, header, burst):
    answers = []
    names = [f"t{n}" for n in range(8)]
    with lab(tmp_path, lambda seen: answers[0](seen), *names, per_tool=15) as probing:
        answers.append(limited(probing.clock, seconds=1, burst=burst, header=header))
        for value in range(10):
            for name in names:
                assert probing.call(name, q=value).done
        refused = len(probing.asked) - 80
        assert refused <= 8
        assert probing.log.sent_count == len(probing.asked)  # a call that was put off counts
        assert len(probing.log.samples) == 80  # but teaches nothing
        assert probing.clock.time - 1000 < 200
        assert any("fewer calls" in event for event in probing.events if isinstance(event, str))


def test_an_unavailable_service_is_asked_another_day(tmp_path):
    replies = [Reply(429, {"error": "no"})]
    with lab(tmp_path, lambda _: replies[0], "find", "list", "show") as probing:
        with pytest.raises(NotCalled, match="asks to wait"):
            probing.call("find")
        assert len(probing.asked) == 8
        assert 60 < sum(probing.clock.slept) < 120
        assert set(probing.caller.stopped) == {"find", "list", "show"}
        replies[0] = Reply(body=1)
        probing.again()
        assert probing.call("find").done


def test_retry_after_is_waited_for_in_full(tmp_path):
    replies = [Reply(503, {}, {"Retry-After": "40"}), Reply(body=1)]
    with lab(tmp_path, lambda _: replies.pop(0), "find") as probing:
        assert probing.call("find").done
        assert probing.clock.slept == pytest.approx([40])
