# tools: bfcl
# expect: wrong-argument-type line 13
# fault: tags is one text after the join, while post_tweet's tags must be a list of strings
def hashtags(words):
    return " ".join("#" + w.lower().replace(" ", "") for w in words)


topics = ["Open Source", "Python", "Testing"]
counts = [len(search_tweets(keyword=t).get("matching_tweets", [])) for t in topics]
popular = [t for t, n in zip(topics, counts) if n]
if popular:
    tags = hashtags(popular)
    tweet = post_tweet(content=f"We talk about {len(popular)} topics", tags=tags)
    print("posted", tweet.get("id", "?"))
else:
    print("nothing to post")
