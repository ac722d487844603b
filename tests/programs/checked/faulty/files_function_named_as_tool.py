# tools: bfcl:gorilla_file_system
# kind: local variable hides the tool in a helper
# expect: tool-reassigned line 5
def changed_lines(first, second):
    diff = diff(file_name1=first, file_name2=second)
    return [l for l in diff["diff_lines"].splitlines() if l.startswith(("+", "-"))]

cd(folder="reports")
names = ls(a=False)["current_directory_content"]
drafts = sorted(n for n in names if n.startswith("draft"))
for old, new in zip(drafts, drafts[1:]):
    print(old, new, len(changed_lines(old, new)))
