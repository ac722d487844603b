# tools: baseball
# expect: bad-literal line 12
# fault: the table's code 'UN' for the Union Association is not among the enum values of list_season_teams' league (it is 'UA')
LEAGUES = {
    "National League": "NL",
    "American Association": "AA",
    "Union Association": "UN",
}


def team_count(year, code):
    return len(list_season_teams(season=year, league=code))


report = {}
for label, code in LEAGUES.items():
    report[label] = team_count(1884, code)

for label, n in sorted(report.items(), key=lambda kv: -kv[1]):
    print(f"{label}: {n} teams")
