# tools: baseball
# expect: none
cache = {}


def name(player_id):
    if player_id not in cache:
        player = get_player(player_id=player_id)
        cache[player_id] = (player["name"], player.get("debut"))
    return cache[player_id][0]


def everyone(team_id, page=1):
    answer = list_roster(team_id=team_id, page=page)
    players = [entry["player_id"] for entry in answer["players"]]
    return players if page >= answer["pages"] else players + everyone(team_id, page + 1)


names = sorted(map(name, everyone("tm_a2b3c")), key=lambda n: n.split()[-1])
print(names[:3], sum(debut is not None for _, debut in cache.values()))
