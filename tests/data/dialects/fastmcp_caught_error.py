# answer: {'status': 404, 'found': []}
# calls at once: 1
# monty lacks: ToolError
found = []
try:
    found.append(await get_item(id=-1))
except ToolError as error:
    return {"status": error.status, "found": found}
return {"status": 200, "found": found}
