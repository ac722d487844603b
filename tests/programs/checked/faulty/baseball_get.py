# tools: baseball
# kind: .get()
# expect: missing-key line 5
team = get_team(team_id="tm_a2b3c")
print(team.get("name"), team.get("wins", 0), team.get("stadium", "unknown"))
