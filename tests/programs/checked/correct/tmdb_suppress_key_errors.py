# tools: tmdb
# expect: none
# why: keys that may be absent are indexed without test, but within contextlib.suppress(KeyError, IndexError).
from contextlib import suppress

answers = dict.fromkeys(["Alien", "Solaris", "Stalker"], "unknown")
for title in answers:
    with suppress(KeyError, IndexError):
        movie_id = GET_search_movie(query=title)["results"][0]["id"]
        crew = GET_movie_movie_id_credits(movie_id=movie_id)["crew"]
        composers = [c["name"] for c in crew if c["job"] == "Original Music Composer"]
        answers[title] = composers[0]

width = max(map(len, answers))
for title, name in answers.items():
    print(title.ljust(width, "."), name)
