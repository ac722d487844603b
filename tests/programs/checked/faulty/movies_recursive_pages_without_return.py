# tools: movies
# expect: none-value line 14
# expect: none-value line 15
# fault: where there is a further page, the recursive result is not returned, so the caller gets None and len(None) fails.
def titles_of(year, page=1, found=()):
    result = list_films_of_year(year=year, page=page, page_size=200)
    found = [*found, *(film["title"] for film in result["films"])]
    if page < result["pages"]:
        titles_of(year, page + 1, found)
    else:
        return found

silent = titles_of(1927)
print(len(silent), "films of 1927")
print("Longest title:", max(silent, key=len, default="-"))
