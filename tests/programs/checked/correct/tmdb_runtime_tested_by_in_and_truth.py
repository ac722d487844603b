# tools: tmdb
# expect: none
# why: runtime may be absent or null; it is indexed only after `in` and truth tests joined by and, and the collected numbers feed statistics.
import statistics

lengths = []
for page in range(1, 3):
    for hit in GET_movie_top_rated(page=page).get("results", []):
        if not hit.get("id"):
            continue
        movie = GET_movie_movie_id(movie_id=hit["id"])
        if "runtime" in movie and movie["runtime"] and movie.get("status") == "Released":
            lengths.append(movie["runtime"])

if len(lengths) >= 2:
    print(f"median {statistics.median(lengths):g} min, deviation {statistics.stdev(lengths):.1f}")
elif lengths:
    print("only one:", lengths.pop())
else:
    print("no lengths")
