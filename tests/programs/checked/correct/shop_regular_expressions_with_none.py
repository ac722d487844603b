# tools: shop
# expect: none
import re
text = get_text(name="intro")
match = re.search(r"(\d+)", text)
print(match.group(1) if match else None, re.sub(r"\s+", " ", text), [m.start() for m in re.finditer("a", text)])
