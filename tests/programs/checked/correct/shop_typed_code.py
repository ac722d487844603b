# tools: shop
# expect: none
from typing import Any, Optional

def best(products: list[dict[str, Any]]) -> Optional[dict[str, Any]]:
    winner: Optional[dict[str, Any]] = None
    for p in products:
        if winner is None or p["price"] > winner["price"]:
            winner = p
    return winner

result: dict[str, Any] | None = best(search_products(query="go")["items"])
print(result["title"] if result else "none")
