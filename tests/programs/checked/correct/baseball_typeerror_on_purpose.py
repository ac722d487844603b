# tools: baseball
# expect: none
# why: the quotient of nullable votes and ballots is computed untested, but TypeError and ZeroDivisionError are caught on purpose.
def share(vote):
    try:
        return vote["votes"] / vote["ballots"]
    except (TypeError, ZeroDivisionError):
        return None


people = search_players(query="Gil Hodges")["players"]
votes = list_hall_of_fame_votes(player_id=people[0]["player_id"]) if people else []
shares = [(v["year"], s) for v in votes if (s := share(v)) is not None]
for year, part in shares:
    print(year, f"{part:6.1%}", "#" * round(part * 40))
best = max((s for _, s in shares), default=None)
print("Best result:", "unknown" if best is None else f"{best:.1%}")
