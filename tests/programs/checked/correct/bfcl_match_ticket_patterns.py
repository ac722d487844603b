# tools: bfcl
# expect: none
# why: A match statement takes keys out of a response whose keys may all be absent; every shape is caught by a later case.
def describe(ticket) -> str:
    match ticket:
        case {"id": int(number), "status": "Closed" | "Resolved" as status}:
            return f"#{number} is done ({status.lower()})"
        case {"id": int(number), "priority": 4 | 5 as level, **rest}:
            return f"#{number} is pressing (level {level}): {rest.get('title', 'no title')}"
        case {"id": int(number), "title": str(title)} if title:
            return f"#{number} {title}"
        case {}:
            return "no usable ticket"
        case _:
            return "not a ticket"


lines = [describe(get_ticket(ticket_id=number)) for number in range(1, 6)]
print(*lines, sep="\n")
