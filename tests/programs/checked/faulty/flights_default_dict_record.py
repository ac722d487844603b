# tools: flights
# kind: defaultdict
# expect: missing-key line 9
from collections import defaultdict

board = defaultdict(lambda: {"flights": 0, "late": 0})
for row in list_departure_delays(origin="EWR", date="2013-02-02", min_delay_minutes=0)["flights"]:
    board["all"]["flights"] += 1
    board["all"]["delayed"] += row["departure_delay_minutes"] > 15
print(board["all"])
