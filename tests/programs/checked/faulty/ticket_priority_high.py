# tools: bfcl:ticket_api
# kind: word for a number inside an object argument
# expect: wrong-argument-type line 7
new = create_ticket(title="VPN down", description="Cannot reach the office network", priority=3)
ticket = get_ticket(ticket_id=new["id"])
if ticket["status"] == "Open":
    outcome = edit_ticket(ticket_id=ticket["id"], updates={"priority": "high", "title": ticket["title"].upper()})
    print(outcome["status"])
else:
    print("already handled")
