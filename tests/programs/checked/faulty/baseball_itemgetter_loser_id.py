# tools: baseball
# expect: missing-key line 6
# fault: itemgetter asks a Series for "loser_id"; get_postseason_series has winner_team_id and loser_team_id, but no loser_id.
from operator import itemgetter

pick = itemgetter("winner_team_id", "loser_id", "wins", "losses")

for item in list_postseason_series(season=2004):
    series = get_postseason_series(series_id=item["series_id"])
    winner, loser, won, lost = pick(series)
    names = [get_team(team_id=t)["name"] for t in (winner, loser)]
    print(f"{item['round']}: {names[0]} beat {names[1]} {won}-{lost}")
