# tools: movies
# expect: not-an-object line 5
# fault: find_reviewer gives the id itself (text); indexing text with 'reviewer_id' raises TypeError.
def reviewer_ids(*numbers):
    return [find_reviewer(member_number=n)["reviewer_id"] for n in numbers]

totals = {}
for reviewer_id in reviewer_ids(12, 345, 6789):
    page = list_reviewer_reviews(reviewer_id=reviewer_id, from_date="2005-01-01", to_date="2005-12-31", page_size=1)
    totals[reviewer_id] = page["total"]

busiest = max(totals, key=totals.get)
print(busiest, "wrote", totals[busiest], "reviews in 2005")
