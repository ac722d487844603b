# tools: places
# kind: functions of the program
# expect: missing-key line 6
def counties(state_id, page=1):
    answer = list_state_counties(state_id=state_id, page=page)
    rest = counties(state_id, page + 1) if page < answer["total_pages"] else []
    return answer["counties"] + rest


print(len(counties("us_a2b3c")))
