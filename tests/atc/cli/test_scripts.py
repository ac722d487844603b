"""Exported scripts at the command line."""

from contextlib import ExitStack

from tests.labs.terminal import CTRL_C, begin, finish
from tests.labs.user import User, service, writes


def test_an_interrupted_script_ends_in_one_sentence(tmp_path):
    user = User(tmp_path)
    with ExitStack() as stack:
        shop = service(stack, ("order", "post", "/order"))
        interrupt(user, shop)


def interrupt(user, shop):
    done = user.run_text(
        "print(order()['done'])", "--tools", f"{shop.url}/doc", "--allow-writes", "order"
    )
    assert done.returncode == 0, done
    done = user.atc("runs", "export", "last", "--python", "-o", "script.py")
    assert done.returncode == 0, done
    said, code = finish(*begin(user.work, user.env, script="script.py"), typed=[CTRL_C])
    assert (code, writes(shop)) == (130, ["/order"]), said
    assert said.endswith("\natc: interrupted; nothing was sent for this call.\n"), said
