# tools: baseball
# kind: enumerate
# expect: missing-key line 5
for rank, winner in enumerate(list_award_winners(award_id="aw_a2b3c", season=1960), start=1):
    print(rank, winner["player"])
