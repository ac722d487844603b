# tools: tmdb
# expect: not-a-list line 16
# fault: the second part of each pair from itertools.groupby is an iterator, which has no len().
from itertools import groupby

coll = next((c for c in GET_search_collection(query="James Bond").get("results", []) if "id" in c), None)
parts = GET_collection_collection_id(collection_id=coll["id"]).get("parts", []) if coll else []


def decade(part):
    return part.get("release_date", "")[:3]


for start, films in groupby(sorted(parts, key=decade), key=decade):
    heading = f"{start}0s" if start else "undated"
    print(f"{heading}: {len(films)} films")
    for film in films:
        print("   ", film.get("title", "?"))
