# tools: baseball
# kind: syntax
# expect: syntax line 5
team = get_team(team_id="tm_a2b3c")
print team["name"]
