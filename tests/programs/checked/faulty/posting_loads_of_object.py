# tools: bfcl:posting_api
# kind: json
# expect: wrong-operand line 6
import json

stats = json.loads(get_user_stats(username="tech_guru"))
print(stats["tweet_count"])
