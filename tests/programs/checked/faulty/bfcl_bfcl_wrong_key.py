# tools: bfcl
# expect: missing-key line 5
# says: priority
ticket = get_ticket(ticket_id=7)
print(ticket["prio"])
