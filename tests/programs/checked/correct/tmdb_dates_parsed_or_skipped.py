# tools: tmdb
# expect: none
# why: release_date of a part may be absent or an empty text; strptime is given the default text, and ValueError is caught, so that None stands for unknown and is tested before subtraction.
from datetime import datetime


def parsed(part):
    try:
        return datetime.strptime(part.get("release_date", ""), "%Y-%m-%d")
    except ValueError:
        return None


hits = [c["id"] for c in GET_search_collection(query="Star Wars").get("results", []) if "id" in c]
parts = GET_collection_collection_id(collection_id=hits[0]).get("parts", []) if hits else []
dated = sorted(d for d in map(parsed, parts) if d is not None)
gaps = [(later - earlier).days for earlier, later in zip(dated, dated[1:])]
print(f"longest wait: {max(gaps)} days" if gaps else "fewer than two dates")
print(sum(parsed(p) is None for p in parts), "parts without a date")
