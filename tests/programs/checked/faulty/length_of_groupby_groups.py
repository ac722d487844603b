# tools: baseball
# expect: not-a-list line 17
# fault: groupby yields (key, iterator) pairs; len() of the group iterator raises TypeError
import itertools


def by_team(stint):
    return stint["team_id"]


people = search_players(query="nolan ryan", page_size=3)["players"]
for person in people:
    stints = list_player_seasons(player_id=person["player_id"])
    franchises = []
    for stint in stints:
        franchises.append(get_team(team_id=by_team(stint))["franchise_id"])
    runs = {key: len(group) for key, group in itertools.groupby(sorted(franchises))}
    for franchise_id, seasons in runs.items():
        print(person["name"], get_franchise(franchise_id=franchise_id)["name"], seasons)
