# tools: movies
# expect: none
# why: a moment is compared with a date by startswith; three values are unpacked from a map over split('-') of a date; {best:g} of a value that is int 0 by default
me = get_reviewer(reviewer_id=find_reviewer(member_number=12))
first_day = me["first_review_on"]
page = list_reviewer_reviews(reviewer_id=me["reviewer_id"], from_date=first_day, to_date=first_day, page_size=200)
reviews = {r["review_id"]: get_review(review_id=r["review_id"]) for r in page["reviews"]}
stars = {key: r["stars"] for key, r in reviews.items() if r["written_at"].startswith(first_day)}
year, month, day = map(int, first_day.split("-"))
best = max(stars.values(), default=0)
print(f"{len(stars)} reviews on {day}.{month}.{year}, the best with {best:g} stars")
