# tools: bfcl:posting_api
# kind: loops
# expect: missing-key line 6
for tweet in search_tweets(keyword="python")["matching_tweets"]:
    for user in tweet["mentions"]:
        print(tweet["author"], user)
