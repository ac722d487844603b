# tools: baseball
# expect: bad-literal line 16
# fault: enumerate counts from 0, so the first call passes priority 0, while watch_player takes 1 to 5.
winners = []
for award in list_awards():
    if "Cy Young" in award["name"]:
        winners = list_award_winners(award_id=award["award_id"], season=2015)
        break

seen = []
for winner in winners:
    if winner["player_id"] not in seen:
        seen.append(winner["player_id"])

for position, pid in enumerate(seen[:5]):
    entry = watch_player(player_id=pid, priority=position)
    print(f"{get_player(player_id=pid)['name']} is watched with priority {entry['priority']}")
if not seen:
    print("No winners to watch")
