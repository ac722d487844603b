# tools: bfcl
# expect: none
ticket_login(username="ann", password="x")
ticket = create_ticket(title="Broken", description="It broke", priority=3)
if ticket["priority"] > 2:
    resolve_ticket(ticket_id=ticket["id"], resolution="fixed")
print(get_ticket(ticket_id=ticket["id"])["status"])
