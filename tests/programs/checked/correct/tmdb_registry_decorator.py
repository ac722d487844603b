# tools: tmdb
# expect: none
from collections import ChainMap

REPORTS = {}

def report(title):
    def register(fn):
        REPORTS[title] = fn
        return fn
    return register

@report("on air")
def on_air(page=1):
    return {s["id"]: s["name"] for s in GET_tv_on_the_air(page=page)["results"]}

@report("today")
def today(page=1):
    return {s["id"]: s["original_name"] for s in GET_tv_airing_today(page=page)["results"]}

shows = ChainMap(*(make() for make in REPORTS.values()))
details = []
for ident in sorted(shows)[:4]:
    show = GET_tv_tv_id(tv_id=ident)
    latest = show["last_episode_to_air"]
    code = "S{season_number:02d}E{episode_number:02d}".format(**latest)
    details.append(" ".join([shows[ident], code, latest["name"], *(n["name"] for n in show["networks"])]))
print(*REPORTS, len(shows), *details, sep="\n")
