# tools: baseball
# expect: none
from collections import Counter, defaultdict
from statistics import fmean, pstdev, quantiles

teams = [get_team(team_id=t["team_id"]) for t in list_season_teams(season=2010)]
by_division = defaultdict(Counter)
for team in teams:
    by_division[team["league"], team["division"] or "-"][team["name"]] += team["wins"]
for (league, division), wins in sorted(by_division.items()):
    best, count = wins.most_common(1)[0]
    print(league, division, best, count, wins.total())
wins = [t["wins"] for t in teams]
crowd = [t["attendance"] for t in teams if t["attendance"] is not None]
print(round(fmean(wins), 2), pstdev(wins) > 3, quantiles(wins, n=4)[1], max(crowd, default=0))
