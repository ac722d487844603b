# tools: bfcl:web_search
# kind: value outside the enum
# expect: bad-literal line 6
import re

page = fetch_url_content(url="https://www.python.org/downloads/", mode="text")
versions = re.findall(r"Python (\d+\.\d+\.\d+)", page["content"])
print(versions[0] if versions else "unknown")
