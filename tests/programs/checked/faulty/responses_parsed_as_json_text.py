# tools: bfcl
# expect: wrong-operand line 9
# fault: tools return dicts, not JSON text: json.loads(get_tweet_comments(...)) raises TypeError
import json


def comments_of(tweet_id):
    raw = get_tweet_comments(tweet_id=tweet_id)
    return json.loads(raw).get("comments", [])


loudest = {}
for tweet in get_user_tweets(username="analyst_anna").get("user_tweets", []):
    if "id" not in tweet:
        continue
    for c in comments_of(tweet["id"]):
        author = c.get("username", "anonymous")
        loudest[author] = max(loudest.get(author, 0), len(c.get("content", "")))

for author, size in loudest.items():
    print(author, size)
