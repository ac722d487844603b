# tools: movies
# expect: missing-key line 13
# fault: an award has person_id but no name, so .get('name', 'unknown') on the merged dict can only give the default
def describe(award_id):
    award = get_award(award_id=award_id)
    film = get_film(film_id=award["film_id"])
    return {**award, "film": film["title"], "film_year": film["year"]}


lines = []
for entry in list_ceremony_awards(ceremony_year=1998):
    info = describe(entry["award_id"])
    winner = info.get("name", "unknown")
    lines.append(f"Best {info['category']}: {winner} in {info['film']} ({info['film_year']}), aged {info['age_years']}")
print("\n".join(lines))
