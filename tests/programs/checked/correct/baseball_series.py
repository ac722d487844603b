# tools: baseball
# expect: none
ROUNDS = ["WS", "ALCS", "NLCS"]
series = sorted(
    (s for s in list_postseason_series(season=1986) if s["round"] in ROUNDS), key=lambda s: ROUNDS.index(s["round"])
)
for number, each in enumerate(series, 1):
    result = get_postseason_series(series_id=each["series_id"])
    winner, loser = (get_team(team_id=result[k])["name"] for k in ("winner_team_id", "loser_team_id"))
    print(f"{number}. {winner} {result['wins']}-{result['losses']} {loser}")
