# tools: baseball
# expect: none
# why: a page response wrapped in a class with __iter__, __len__ and __getitem__: len() and indexing go to the class, not to the page object
class Roster:
    def __init__(self, team_id):
        self._items = []
        number = 0
        while True:
            number += 1
            sheet = list_roster(team_id=team_id, page=number, page_size=100)
            self._items += sheet["players"]
            if number >= sheet["pages"]:
                break

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __getitem__(self, where):
        return self._items[where]


for team in list_season_teams(season=1927, league="AL"):
    if not team["name"].endswith("Yankees"):
        continue
    roster = Roster(team["team_id"])
    if not roster:
        print("empty roster")
        break
    print(len(roster), "players; first id", roster[0]["player_id"])
    busiest = max(roster, key=lambda p: p["games"])
    print(get_player(player_id=busiest["player_id"])["name"], busiest["games"])
    break
else:
    print("no Yankees that year")
