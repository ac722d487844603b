# tools: bfcl
# expect: unhashable line 13
# fault: The comments are dicts, which cannot be hashed, so Counter cannot count them.
from collections import Counter

seen = []
for tweet in search_tweets(keyword="#python").get("matching_tweets", []):
    tweet_id = tweet.get("id")
    if tweet_id is None:
        continue
    seen.extend(get_tweet_comments(tweet_id=tweet_id).get("comments", []))

tally = Counter(seen)
for comment_made, times in tally.most_common(3):
    print(f"{times}x {comment_made.get('username', '?')}")
if not seen:
    print("No comments.")
