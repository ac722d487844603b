# tools: baseball
# expect: none
# why: mapping patterns with alternatives, None and guards over nullable fields; the arithmetic on height happens only where the pattern has matched an int.
def portrait(person: dict) -> str:
    match person:
        case {"name": name, "bats": "B", "throws": ("L" | "R") as arm}:
            return f"{name} switch-hits, throws {arm}"
        case {"name": name, "height_in": int(inches), "weight_lb": int(pounds)} if inches > 76:
            feet, rest = divmod(inches, 12)
            return f"{name} is tall: {feet}'{rest}\" and {pounds} lb"
        case {"name": name, "debut": None}:
            return f"{name} never played"
        case {"name": name, "debut": debut}:
            return f"{name} began on {debut[8:]}.{debut[5:7]}.{debut[:4]}"
    return "nobody"


for hit in search_players(query="Johnson", page_size=20)["players"]:
    print(portrait(get_player(player_id=hit["player_id"])))
