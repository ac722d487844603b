# tools: places
# expect: missing-key line 18
# fault: the template names {elevation}, but format is given the keys of the airfield, which spells it elevation_ft: KeyError
TEMPLATE = "{icao:<6}{name:<40}{elevation:>7} ft"


def table(country_words, floor):
    rows = []
    for place in search_countries(query=country_words, limit=1):
        sheet = list_country_airfields(
            country_id=place["country_id"], codes="iata", min_elevation_ft=floor, page_size=10
        )
        rows.extend(get_airfield(airfield_id=a["airfield_id"]) for a in sheet["airfields"])
    return sorted(rows, key=lambda a: a["elevation_ft"], reverse=True)


for airfield in table("Bolivia", 8000):
    print(TEMPLATE.format(**airfield))
