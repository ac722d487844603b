# tools: baseball
# expect: none
votes = list_hall_of_fame_votes(player_id="pl_a2b3c")
elected = next((vote for vote in votes if vote["inducted"]), None)
if elected is None:
    print("never elected")
elif elected["votes"] is not None and elected["ballots"]:
    print(elected["year"], f"{100 * elected['votes'] / elected['ballots']:.1f}%")
else:
    print(elected["year"], elected["voted_by"])
