# tools: baseball
# kind: str.format
# expect: missing-key line 5
team = get_team(team_id="tm_a2b3c")
print("{name}: {wins} to {lost}".format(**team))
