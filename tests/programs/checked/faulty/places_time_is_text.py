# tools: places
# kind: method of datetime on text, through a function
# expect: no-attribute line 8
# expect: no-attribute line 8
def duration(storm_id):
    storm = get_storm(storm_id=storm_id)
    start, end = storm["first_time"], storm["last_time"]
    return start.date(), end.date()


for found in search_storms(query="Hugo", limit=2):
    begin, finish = duration(found["storm_id"])
    print(found["season"], begin, finish)
