# tools: baseball
# kind: league written out instead of its code
# expect: wrong-argument-type line 14
LEAGUES = ("American League", "National League")


def attendance(team_id):
    team = get_team(team_id=team_id)
    return team["name"], team["attendance"] or 0


summary = {}
for league in LEAGUES:
    teams = list_season_teams(season=1993, league=league)
    crowd = dict(attendance(t["team_id"]) for t in teams)
    leader = max(crowd, key=crowd.get, default="nobody")
    summary[league] = (sum(crowd.values()), leader)

for league, (total, leader) in summary.items():
    print(f"{league}: {total:,} ({leader} first)")
