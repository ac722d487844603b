# tools: baseball
# kind: match statements
# expect: missing-key line 7
def describe(team):
    match team["league"]:
        case "AL" | "NL" as league:
            return f"{league}: {team['team_name']}"
        case other:
            return other


print(describe(get_team(team_id="tm_a2b3c")))
