# tools: movies
# expect: none
from datetime import datetime, timezone

reviewer = find_reviewer(member_number=1024)
first = get_reviewer(reviewer_id=reviewer)["first_review_on"]
latest = None
page = 1
while page:
    answer = list_reviewer_reviews(reviewer_id=reviewer, from_date=first, page=page)
    for item in answer["reviews"]:
        review = get_review(review_id=item["review_id"])
        at = datetime.fromisoformat(review["written_at"].replace("Z", "+00:00"))
        if latest is None or at > latest:
            latest = at
    page = page + 1 if page < answer["pages"] else None
if latest:
    print(latest.astimezone(timezone.utc).isoformat(), latest.strftime("%A"))
