# tools: bfcl
# expect: none
# why: a contextmanager built around login and logout; the with-body may leave early by return inside a function, and the tool add is called with arguments only known at run time
from contextlib import contextmanager


@contextmanager
def session(username, password):
    state = trading_login(username=username, password=password)
    try:
        yield state.get("status", "unknown")
    finally:
        trading_logout()


def net_flow():
    with session("anna", "s3cret") as status:
        if "success" not in status.lower():
            return None
        total = 0.0
        history = get_transaction_history(start_date="2024-01-01", end_date="2024-12-31")
        for t in history.get("transaction_history", []):
            sign = {"deposit": 1, "withdrawal": -1}.get(t.get("type", ""), 0)
            total = add(a=total, b=sign * t.get("amount", 0)).get("result", total)
        return total


flow = net_flow()
print("no login" if flow is None else f"net flow: {flow:+,.2f}")
