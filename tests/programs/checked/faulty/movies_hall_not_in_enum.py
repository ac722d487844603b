# tools: movies
# kind: enum
# expect: bad-literal line 7
film = search_films(title="Metropolis", limit=1)[0]
screening = schedule_screening(
    film_id=film["film_id"],
    hall="green",
    date="2027-06-05",
    start_time="20:00",
)
print(screening["screening_id"])
