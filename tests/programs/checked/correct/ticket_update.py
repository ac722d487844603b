# tools: bfcl:ticket_api
# expect: none
ticket = create_ticket(title="Broken link", description="On the start page", priority=3)
changes = {"priority": min(5, ticket["priority"] + 1), "status": "In Progress"}
print(edit_ticket(ticket_id=ticket["id"], updates=changes)["status"])
again = get_ticket(ticket_id=ticket["id"])
print(again["status"].casefold() == "in progress", again.get("created_by", "nobody"))
resolve_ticket(ticket_id=again["id"], resolution="")
