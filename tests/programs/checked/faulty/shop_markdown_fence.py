# tools: shop
# expect: syntax line 4
# says: Markdown
```python
print(count_visits(day="2024-01-01"))
```
