# tools: bfcl:posting_api
# kind: sorting key kept from another tool
# expect: missing-key line 11
people = list_all_following()["following_list"]
activity = {}
for person in people:
    stats = get_user_stats(username=person)
    activity[person] = stats["tweet_count"] + stats["retweet_count"]
busiest = max(activity, key=activity.get)
tweets = get_user_tweets(username=busiest)["user_tweets"]
best = sorted(tweets, key=lambda t: t["retweet_count"], reverse=True)[:3]
for rank, tweet in enumerate(best, 1):
    print(rank, tweet["content"])
