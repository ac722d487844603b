# tools: baseball
# expect: none
winners = [{w["player_id"] for w in list_award_winners(award_id=a["award_id"], season=1999)} for a in list_awards()[:3]]
both = set.intersection(*winners) if winners else set()
union = winners[0] | winners[1] if len(winners) > 1 else set()
print(len(both), len(union - both), sorted(union ^ both)[:2], both <= union)
frozen = frozenset(union)
print({frozen: 1}[frozen], next(iter(frozen), None))
