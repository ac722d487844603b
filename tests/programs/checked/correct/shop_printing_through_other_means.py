# tools: shop
# expect: none
import sys
sys.stdout.write(f"{count_visits(day='2024-01-01')}\n")
