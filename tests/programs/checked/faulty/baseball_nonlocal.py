# tools: baseball
# kind: nested functions and closures
# expect: missing-key line 9
def total_runs(team_ids):
    total = 0

    def add(team_id):
        nonlocal total
        total += get_team_statistics(team_id=team_id)["run"]

    for team_id in team_ids:
        add(team_id)
    return total


print(total_runs(["tm_a2b3c"]))
