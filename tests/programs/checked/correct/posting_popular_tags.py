# tools: bfcl:posting_api
# expect: none
from collections import Counter

tweets = [t for user in list_all_following()["following_list"] for t in get_user_tweets(username=user)["user_tweets"]]
tags = Counter(tag.lstrip("#").lower() for t in tweets for tag in t["tags"])
tags.update({"python": 1})
top = [f"#{tag}" for tag, n in tags.most_common(3) if n > 1]
made = post_tweet(content="Popular: " + " ".join(top), tags=top, mentions=[])
replies = get_tweet_comments(tweet_id=made["id"])["comments"]
print(made["content"][:100], *(f"{c['username']}: {c['content']}" for c in replies), sep="\n")
