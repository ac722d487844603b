# tools: bfcl:message_api
# expect: none
users = list_users()["user_list"]
ids = {user: get_user_id(user=user)["user_id"] for user in users}
sent = [send_message(receiver_id=i, message=f"Hello {u.title()}!") for u, i in ids.items()]
failed = [s["message"] for s in sent if not s["sent_status"]]
stats = get_message_stats()["stats"]
print(stats["received_count"], stats["total_contacts"], max((s["message_id"] for s in sent), default=0))
print("; ".join(failed) if failed else "all sent")
for receiver, texts in view_messages_sent()["messages"].items():
    print(receiver, len(texts))
