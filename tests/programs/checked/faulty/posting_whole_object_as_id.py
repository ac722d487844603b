# tools: bfcl:posting_api
# kind: wrong literal type
# expect: wrong-argument-type line 5
tweet = post_tweet(content="We won", tags=["#win"])
print(comment(tweet_id=tweet, comment_content="Well done"))
