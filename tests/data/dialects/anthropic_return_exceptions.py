# answer: [1, 'ToolError', 3]
# calls at once: 3
# monty lacks: return_exceptions
import asyncio

outcomes = await asyncio.gather(
    get_item(id=1), get_item(id=-1), get_item(id=3), return_exceptions=True
)
print([type(one).__name__ if isinstance(one, Exception) else one["id"] for one in outcomes])
