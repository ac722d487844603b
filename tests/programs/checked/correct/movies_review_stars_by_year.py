# tools: movies
# expect: none
import json
from statistics import mean

links = get_film_links(film_id=search_films(title="Casablanca", to_year=1942, limit=1)[0]["film_id"])
by_year = {}
reviewers = set()
if board_id := links["board_id"]:
    page = list_entry_reviews(board_id=board_id, page_size=12)
    for item in page["reviews"]:
        review = get_review(**{k: v for k, v in item.items() if k == "review_id"})
        year, _, _ = review["written_at"][:10].partition("-")
        by_year.setdefault(int(year), []).append(review["stars"])
        reviewers |= {review["reviewer_id"]}

text = json.dumps({year: {"mean": round(mean(stars), 2), "n": len(stars)} for year, stars in by_year.items()}, sort_keys=True)
back = json.loads(text)
for year in sorted(by_year):
    print(year, back[str(year)]["mean"], "from", back[str(year)]["n"])
print(len(reviewers), "reviewers", "all within" if all(0.5 <= s <= 5 for stars in by_year.values() for s in stars) else "odd")
