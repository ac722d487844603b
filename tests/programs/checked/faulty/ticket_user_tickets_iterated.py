# tools: bfcl:ticket_api
# kind: object iterated as list of objects
# expect: not-a-list line 7
if not ticket_get_login_status()["login_status"]:
    ticket_login(username="jdoe", password="pw12345")
closed = 0
for ticket in get_user_tickets(status="Open"):
    if ticket["priority"] >= 4:
        close_ticket(ticket_id=ticket["id"])
        closed += 1
print(f"{closed} tickets closed")
