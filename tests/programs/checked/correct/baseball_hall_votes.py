# tools: baseball
# expect: none
def share(vote):
    match vote:
        case {"votes": int(won), "ballots": int(cast)} if cast:
            return won / cast
        case {"inducted": True}:
            return 1.0
        case _:
            return None


names = ["Ty Cobb", "Cy Young", "Bert Blyleven"]
report = dict.fromkeys(names)
for name in names:
    for player in search_players(query=name)["players"]:
        votes = list_hall_of_fame_votes(player_id=player["player_id"])
        if not votes:
            continue
        shares = [s for s in map(share, votes) if s is not None]
        elected = next((v["year"] for v in votes if v["inducted"]), None)
        report[name] = (player["name"], elected, max(shares, default=0.0))
        break

for entry in filter(None, report.values()):
    who, year, best = entry
    print("%s: %s, best %.1f%%" % (who, year if year is not None else "never", best * 100))
