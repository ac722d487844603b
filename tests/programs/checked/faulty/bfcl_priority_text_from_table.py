# tools: bfcl
# expect: wrong-argument-type line 21
# fault: The table holds the priorities as text ("5"), and create_ticket takes priority as an integer.
LEVELS = {"low": "1", "normal": "3", "urgent": "5"}


def classify(body: str) -> str:
    words = body.lower()
    if "outage" in words or "down" in words:
        return "urgent"
    return "low" if "typo" in words else "normal"


reports = [
    ("Checkout is down", "Customers see an outage on the payment page."),
    ("Typo on home page", "A typo in the second headline."),
]
created = {}
for title, body in reports:
    level = LEVELS[classify(body)]
    ticket = create_ticket(title=title, description=body, priority=level)
    created[title] = ticket.get("id", "unknown")
for title, ticket_id in created.items():
    print(f"{title}: ticket {ticket_id}")
