# tools: places
# expect: wrong-operand line 14
# fault: first_time and last_time are texts; subtracting one str from another raises TypeError
from dataclasses import dataclass


@dataclass
class Life:
    name: str
    begin: str
    end: str

    def length(self):
        return self.end - self.begin


lives = []
for brief in list_season_storms(season=2020)[:10]:
    s = get_storm(storm_id=brief["storm_id"])
    lives.append(Life(s["name"], s["first_time"], s["last_time"]))

for life in sorted(lives, key=lambda item: item.begin):
    print(life.name, life.length())
