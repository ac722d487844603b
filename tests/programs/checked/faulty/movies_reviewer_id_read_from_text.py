# tools: movies
# expect: not-an-object line 5
# fault: find_reviewer answers the id itself (text), so member['reviewer_id'] indexes a str with a str
member = find_reviewer(member_number=4711)
profile = get_reviewer(reviewer_id=member["reviewer_id"])
history = list_reviewer_reviews(reviewer_id=profile["reviewer_id"], from_date="2003-01-01", page_size=1)
since = int(profile["first_review_on"][:4])
print(f"Member {profile['member_number']} has reviewed since {since}; {history['total']} reviews from 2003 on")
