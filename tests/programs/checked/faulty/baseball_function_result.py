# tools: baseball
# kind: functions of the program
# expect: missing-key line 9
def line(player, team):
    return get_batting_line(player_id=player, team_id=team)


def average(record):
    return record["hits"] / record["at_bat"]


print(average(line("pl_a2b3c", "tm_a2b3c")))
