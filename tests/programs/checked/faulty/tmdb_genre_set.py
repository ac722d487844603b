# tools: tmdb
# kind: objects put into a set
# expect: unhashable line 7
def genres_of(title):
    hit = GET_search_tv(query=title)["results"][0]
    details = GET_tv_tv_id(tv_id=hit["id"])
    return set(details["genres"])

common = genres_of("Breaking Bad") & genres_of("Better Call Saul")
print(len(common))
