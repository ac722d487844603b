# tools: baseball
# kind: conditional expressions
# expect: missing-key line 5
votes = list_hall_of_fame_votes(player_id="pl_a2b3c")
print([v["year"] if v["elected"] else None for v in votes])
