# tools: movies
# kind: text minus date
# expect: wrong-operand line 14
from datetime import date

reviewer_id = find_reviewer(member_number=15)
reviewer = get_reviewer(reviewer_id=reviewer_id)
start = date.fromisoformat(reviewer["first_review_on"])

reviews = list_reviewer_reviews(reviewer_id=reviewer_id, page_size=20)["reviews"]
gaps = []
for item in reviews:
    review = get_review(review_id=item["review_id"])
    age = (review["written_at"] - start).days
    gaps.append((age, review["stars"]))

early = [stars for days, stars in gaps if days < 30]
if early:
    print(f"Member {reviewer['member_number']} began with {sum(early) / len(early):.2f} stars on average")
else:
    print("No early reviews")
