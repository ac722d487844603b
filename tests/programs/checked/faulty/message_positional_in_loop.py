# tools: bfcl:message_api
# kind: positional argument
# expect: positional-argument line 5
for name in ("Alice", "Bob"):
    send_message(get_user_id(user=name)["user_id"], message="hello")
print("sent")
