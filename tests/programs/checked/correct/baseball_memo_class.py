# tools: baseball
# expect: none
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass
class Player:
    count: ClassVar[int] = 0
    player_id: str
    lines: list = field(default_factory=list)
    name: str = "unknown"

    def __post_init__(self):
        Player.count += 1
        self.name = get_player(player_id=self.player_id)["name"]

    @property
    def hits(self) -> int:
        return sum(line["hits"] for line in self.lines)

    def __lt__(self, other):
        return self.hits < other.hits


players = [Player(p["player_id"]) for p in search_players(query="Alou")["players"]]
for player in players:
    for season in list_player_seasons(player_id=player.player_id)[:2]:
        player.lines.append(get_batting_line(player_id=player.player_id, team_id=season["team_id"]))
players.sort()
print(Player.count, players[-1].name.upper() if players else "-", [p.hits for p in players])
