# tools: baseball
# expect: none
from functools import reduce

names = ["Yogi Berra", "Mickey Mantle", "Whitey Ford"]
ids = [search_players(query=n)["players"][0]["player_id"] for n in names]
teams = [{s["team_id"]: s["season"] for s in list_player_seasons(player_id=i)} for i in ids]
together = reduce(lambda a, b: a & b, (t.keys() for t in teams))
years = sorted(teams[0][team] for team in together)
print(f"{len(years)} seasons together, {years[0]} to {years[-1]}" if years else "never")
