# tools: bfcl
# expect: unknown-tool line 10
# fault: there is no tool memory_kv_core_memory_list_keys; the listing tool is called core_memory_list_keys
import json

store = {}
if not ticket_get_login_status().get("login_status", False):
    print("please log in")
else:
    for key in memory_kv_core_memory_list_keys().get("keys", []):
        if key.startswith("user_"):
            store[key] = memory_kv_core_memory_retrieve(key=key).get("value", "")
    print(json.dumps(store, indent=2, sort_keys=True))
