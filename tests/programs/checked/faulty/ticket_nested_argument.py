# tools: bfcl:ticket_api
# kind: wrong literal type
# expect: bad-literal line 4
print(edit_ticket(ticket_id=7, updates={"priority": "high", "status": "Open"})["status"])
