# tools: baseball
# expect: none-value line 16
# fault: runs_batted_in of get_batting_line may be null, and Career.add adds it untested to an int (int += None).
from dataclasses import dataclass


@dataclass
class Career:
    name: str
    hits: int = 0
    rbi: int = 0
    steals: int = 0

    def add(self, line):
        self.hits += line["hits"]
        self.rbi += line["runs_batted_in"]
        if line["stolen_bases"] is not None:
            self.steals += line["stolen_bases"]


people = search_players(query="Cap Anson")["players"]
if people:
    career = Career(people[0]["name"])
    for s in list_player_seasons(player_id=people[0]["player_id"]):
        career.add(get_batting_line(player_id=people[0]["player_id"], team_id=s["team_id"]))
    print(f"{career.name}: {career.hits} hits, {career.rbi} RBI, {career.steals} SB")
else:
    print("Not found")
