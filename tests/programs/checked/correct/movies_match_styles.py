# tools: movies
# expect: none
def label(entry):
    match entry:
        case {"error": message}:
            return message
        case {"title": str(title), "runtime_minutes": None}:
            return title
        case {"title": title, "runtime_minutes": minutes, **others}:
            return f"{title} ({minutes // 60} h {minutes % 60} min, {len(others)})"
        case [first, second, *_]:
            return f"{first} and {second}"
        case str() | int():
            return str(entry)
        case None:
            return "-"
        case _:
            raise ValueError(entry)


films = [get_film(film_id=f["film_id"]) for f in search_films(title="Casablanca")]
print([label(x) for x in (*films, None, "a", 3, [1, 2])])
match len(films):
    case 0:
        print("none")
    case 1 | 2:
        print("few")
    case n if n > 5:
        print("many", n)
