# tools: baseball
# expect: none-value line 26
# fault: Tally.add returns nothing, so the chained second .add is called on None
class Tally:
    def __init__(self):
        self.hits = 0
        self.at_bats = 0

    def add(self, line):
        self.hits += line["hits"]
        self.at_bats += line["at_bats"]

    @property
    def average(self):
        return self.hits / self.at_bats if self.at_bats else 0.0


for person in search_players(query="tony gwynn", page_size=1)["players"]:
    player = person["player_id"]
    stints = list_player_seasons(player_id=player)
    if len(stints) >= 2:
        first, *_, last = stints
        opening = get_batting_line(player_id=player, team_id=first["team_id"])
        closing = get_batting_line(player_id=player, team_id=last["team_id"])
        tally = Tally()
        tally.add(opening).add(closing)
        print(f"{tally.average:.3f}")
    else:
        print("too few seasons")
