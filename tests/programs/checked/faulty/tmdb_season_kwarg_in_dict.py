# tools: tmdb
# expect: unknown-argument line 12
# fault: the argument of GET_tv_tv_id_season_season_number is called season_number; the spread dict passes "season" instead.
shows = GET_search_tv(query="Twin Peaks", first_air_date_year=1990).get("results", [])
key = {"tv_id": shows[0]["id"]} if shows and "id" in shows[0] else None

if key is None:
    print("Show not found")
else:
    count = GET_tv_tv_id(**key).get("number_of_seasons", 0)
    for n in range(1, count + 1):
        season = GET_tv_tv_id_season_season_number(**(key | {"season": n}))
        episodes = season.get("episodes", [])
        votes = [e["vote_average"] for e in episodes if "vote_average" in e]
        print(f"Season {n}: {len(episodes)} episodes, best {max(votes, default=0):.1f}")
