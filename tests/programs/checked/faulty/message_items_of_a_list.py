# tools: bfcl:message_api
# kind: methods of str, list and dict
# expect: no-attribute line 4
for user, name in list_users()["user_list"].items():
    print(user, name)
