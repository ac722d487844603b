# tools: tmdb
# expect: none
# why: next_episode_to_air has no known type; it is used only after isinstance tests, and last_episode_to_air only where present.
def coming(show):
    upcoming = show.get("next_episode_to_air")
    if isinstance(upcoming, dict):
        return "next on " + str(upcoming.get("air_date"))
    if isinstance(upcoming, str) and upcoming:
        return upcoming
    if last := show.get("last_episode_to_air"):
        return "S{season_number:02}E{episode_number:02} was the last".format_map({"season_number": 0, "episode_number": 0, **last})
    return "nothing known"


for hit in GET_search_tv(query="Doctor Who").get("results", []):
    if (tv_id := hit.get("id")) is not None:
        print(hit.get("name", tv_id), "->", coming(GET_tv_tv_id(tv_id=tv_id)))
print("-" * 20)
