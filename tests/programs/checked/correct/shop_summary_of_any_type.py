# tools: shop
# expect: none
# why: review_summary may answer anything, so isinstance tests lead to dict, list and text; log_event's answer is an open object read by get
sku = "TL-0420"
summary = review_summary(sku=sku)
if isinstance(summary, dict):
    text = ", ".join(f"{key}={value}" for key, value in summary.items())
elif isinstance(summary, (list, tuple)):
    text = "; ".join(map(str, summary))
else:
    text = str(summary)
reply = log_event(payload={"sku": sku, "seen": text[:100], "length": len(text)})
print(text or "no summary", reply.get("id", "not numbered"), sep="\n")
