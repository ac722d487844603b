# tools: movies
# kind: invented key after zip and enumerate
# expect: missing-key line 11
found = search_films(title="Star Wars", limit=5)
ids = [film["film_id"] for film in found]
records = [get_film(film_id=i) for i in ids]
scores = [get_film_score(film_id=i) for i in ids]

lines = []
for rank, (record, score) in enumerate(zip(records, scores), start=1):
    lines.append(f"{rank}. {record['title']} ({record['year']}): {score['average_score']}")
print("\n".join(lines))
