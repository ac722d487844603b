# tools: baseball
# kind: pattern
# expect: bad-literal line 4
visit = schedule_visit(park_id="pk_a2b3c", date="01/05/2025", purpose="filming")
print(visit["visit_id"])
