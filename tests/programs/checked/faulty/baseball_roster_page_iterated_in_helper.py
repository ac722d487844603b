# tools: baseball
# expect: not-a-list line 5
# fault: list_roster returns a page object (players, page, pages, total); iterating it gives the key strings, which cannot be indexed with "player_id".
def roster_ids(team_id: str) -> set:
    return {entry["player_id"] for entry in list_roster(team_id=team_id, page_size=100)}


teams = {t["name"]: t["team_id"] for t in list_season_teams(season=1986, league="NL")}
mets = teams.get("New York Mets")
astros = teams.get("Houston Astros")
if mets is None or astros is None:
    print("One of the teams is missing")
else:
    both = roster_ids(mets) & roster_ids(astros)
    names = sorted(get_player(player_id=pid)["name"] for pid in both)
    print("Played for both in 1986:", ", ".join(names) or "nobody")
