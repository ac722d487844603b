# tools: bfcl
# expect: unknown-tool line 11
# fault: There is no tool get_tweets_by_user; the tool that gives the tweets of a user is get_user_tweets.
from collections import defaultdict

tags = defaultdict(list)
for user in list_all_following().get("following_list", []):
    stats = get_user_stats(username=user)
    if not stats.get("tweet_count"):
        continue
    for tweet in get_tweets_by_user(username=user).get("user_tweets", []):
        for tag in tweet.get("tags", []):
            tags[tag.lower()].append(user)

popular = sorted(tags.items(), key=lambda kv: len(set(kv[1])), reverse=True)
for tag, users in popular[:5]:
    print(tag, "-", ", ".join(sorted(set(users))))
