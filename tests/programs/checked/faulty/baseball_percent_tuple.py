# tools: baseball
# kind: formatting with %
# expect: missing-key line 5
team = get_team(team_id="tm_a2b3c")
print("%-20s %3d %3d" % (team["name"], team["wins"], team["loses"]))
