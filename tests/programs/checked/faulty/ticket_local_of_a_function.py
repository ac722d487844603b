# tools: bfcl:ticket_api
# kind: name before assignment
# expect: undefined-name line 10
def open_ticket(title):
    made = create_ticket(title=title, priority=2)
    return made["id"]


open_ticket("Printer is on fire")
print(made["status"])
