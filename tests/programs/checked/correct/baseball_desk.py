# tools: baseball
# expect: none
urgent = [e for e in list_watchlist() if e["priority"] <= 2]
for entry in urgent:
    interview = book_interview(player_id=entry["player_id"], channel="phone", minutes=15)
    print(interview["interview_id"], interview["minutes"] * 60, "seconds")
    unwatch_player(player_id=entry["player_id"])
visit = schedule_visit(park_id="pk_a2b3c", date="2025-05-01", purpose="scouting")
assert visit["date"].startswith("2025")
print(visit["visit_id"], len(urgent))
