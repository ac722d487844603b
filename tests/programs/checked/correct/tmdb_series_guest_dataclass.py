# tools: tmdb
# expect: none
from dataclasses import dataclass, field, asdict

@dataclass(order=True)
class Guest:
    episodes: int = 0
    name: str = field(default="", compare=False)
    seen_in: list = field(default_factory=list, compare=False, repr=False)

    def add(self, season, episode):
        self.episodes += 1
        self.seen_in.append((season, episode))

show = GET_tv_tv_id(tv_id=1396)
guests: dict[int, Guest] = {}
for number in (s["season_number"] for s in show["seasons"] if s["season_number"] and s["episode_count"]):
    for episode in GET_tv_tv_id_season_season_number(tv_id=show["id"], season_number=number)["episodes"][:3]:
        credits = GET_tv_tv_id_season_season_number_episode_episode_number_credits(
            tv_id=show["id"], season_number=number, episode_number=episode["episode_number"]
        )
        for g in credits["guest_stars"]:
            guests.setdefault(g["id"], Guest(name=g["name"])).add(number, episode["episode_number"])
if guests:
    best = max(guests.values())
    print(asdict(best)["name"], best.episodes, best.seen_in[0])
