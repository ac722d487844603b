# tools: bfcl:posting_api
# expect: none
stats = {name: get_user_stats(username=name) for name in ("ann", "bob")}
ranked = sorted(stats.items(), key=lambda kv: (-kv[1]["tweet_count"], kv[0]))
for rank, (name, numbers) in enumerate(ranked, start=1):
    ratio = numbers["following_count"] / (numbers["tweet_count"] or 1)
    print(f"{rank}. @{name:<10} {ratio:6.2f} {numbers.get('retweet_count', 0):>4}")
tweets = search_tweets(keyword="atc").get("matching_tweets") or []
for tweet in tweets:
    if tweet["username"] in stats and not tweet.get("tags"):
        retweet(tweet_id=tweet["id"])
        mention(tweet_id=tweet["id"], mentioned_usernames=[name for name, _ in ranked])
