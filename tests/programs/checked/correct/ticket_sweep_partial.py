# tools: bfcl:ticket_api
# expect: none
from functools import partial

actions = {
    5: partial(resolve_ticket, resolution="Escalated to on-call"),
    1: close_ticket,
}

def downgrade(ticket_id, step=1):
    current = get_ticket(ticket_id=ticket_id)
    return edit_ticket(ticket_id=ticket_id, updates={"priority": max(1, current["priority"] - step)})

log = {}
for ident in range(101, 106):
    ticket = get_ticket(ticket_id=ident)
    act = actions.get(ticket["priority"], downgrade)
    log[ident] = (ticket["title"], act(ticket_id=ident)["status"])
print(*(f"#{i}: {title!r} -> {status}" for i, (title, status) in log.items()), sep="\n")
logged_out = logout()["success"]
print("bye" if logged_out else "still in")
