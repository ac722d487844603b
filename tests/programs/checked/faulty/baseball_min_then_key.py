# tools: baseball
# kind: max and min
# expect: missing-key line 7
parks = list_team_parks(team_id="tm_a2b3c")
least = min(parks, key=lambda park: park["games"], default=None)
if least is not None:
    print(least["name"])
