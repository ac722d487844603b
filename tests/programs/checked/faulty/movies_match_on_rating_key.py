# tools: movies
# expect: missing-key line 6
# fault: a film has no key rating (certificate_id is it), so the first case can never match.
def describe(film):
    match film:
        case {"title": title, "rating": str(code)}:
            return f"{title}: certificate {get_certificate(certificate_id=code)['code']}"
        case {"title": title}:
            return f"{title}: no certificate"

for hit in search_films(title="Toy Story", from_year=1995, limit=4):
    print(describe(get_film(film_id=hit["film_id"])))
