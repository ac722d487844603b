# tools: baseball
# expect: none
# why: a default dict of lambdas to lists is indexed by ids, and the booleans of comparisons are summed.
from collections import defaultdict

record = defaultdict(lambda: [0, 0])
for season in range(1996, 2001):
    for entry in list_postseason_series(season=season):
        series = get_postseason_series(series_id=entry["series_id"])
        for side, team_id in enumerate((series["winner_team_id"], series["loser_team_id"])):
            record[get_team(team_id=team_id)["franchise_id"]][side] += 1

order = sorted(record, key=lambda fid: (-record[fid][0], record[fid][1]))
for fid in order[:5]:
    won, lost = record[fid]
    print("{name}: {0}-{1}".format(won, lost, name=get_franchise(franchise_id=fid)["name"]))
print(sum(won > lost for won, lost in record.values()), "franchises won more than they lost")
