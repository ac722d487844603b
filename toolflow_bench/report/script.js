"use strict";
// The page is whole without this. It adds the filter of the tasks, whose state stands after the "#tasks" of the address.
(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const names = ["run", "verdict", "failure", "service"];
  const controls = names.map((name) => document.getElementById(name)).filter(Boolean);
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const tasks = [...document.querySelectorAll("details.task")].map((element) => ({
    element,
    verdicts: (element.dataset.verdicts || "").split(" ").map((entry) => entry.split(":")),
    failures: (element.dataset.failures || "").split(" ").map((entry) => entry.split(":")),
    services: (element.dataset.services || "").split("+"),
    text: null, // read when something is first searched for
  }));
  const value = (name) => document.getElementById(name)?.value || "";

  const matches = (task, wanted, words) => {
    const { run, verdict, failure, service } = wanted;
    if (service && !task.services.includes(service)) return false;
    if (failure && !task.failures.some(([letter, found]) => found === failure && (!run || letter === run))) return false;
    if (verdict === "differ") {
      const graded = task.verdicts.map(([, found]) => found).filter((found) => found !== "outage" && found !== "absent");
      if (new Set(graded).size < 2) return false;
    } else if (verdict) {
      if (!task.verdicts.some(([letter, found]) => found === verdict && (!run || letter === run))) return false;
    } else if (run && !failure) {
      if (task.verdicts.some(([letter, found]) => letter === run && found === "absent")) return false;
    }
    if (!words.length) return true;
    task.text ??= task.element.textContent.toLowerCase();
    return words.every((word) => task.text.includes(word));
  };

  const apply = () => {
    const wanted = Object.fromEntries(names.map((name) => [name, value(name)]));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const task of tasks) {
      const hit = matches(task, wanted, words);
      task.element.hidden = !hit;
      count += hit;
    }
    const all = `${tasks.length.toLocaleString("en")} task${tasks.length === 1 ? "" : "s"}`;
    shown.textContent = count === tasks.length ? all : `${count.toLocaleString("en")} of ${all}`;
  };

  const remember = () => {
    const state = new URLSearchParams();
    for (const control of controls) if (control.value) state.set(control.id, control.value);
    if (search.value.trim()) state.set("search", search.value.trim());
    const spelt = state.toString();
    try {
      history.replaceState(null, "", spelt ? `#tasks&${spelt}` : "#tasks");
    } catch { /* some browsers keep a file's address as it is */ }
  };

  const follow = () => {
    const place = location.hash.slice(1);
    if (place.startsWith("tasks&")) {
      const state = new URLSearchParams(place.slice("tasks&".length));
      for (const control of controls) {
        control.value = state.get(control.id) || "";
        if (control.selectedIndex < 0) control.value = "";
      }
      search.value = state.get("search") || "";
      apply();
      document.getElementById("tasks").scrollIntoView();
    } else if (/^task-\d+$/.test(place)) {
      const task = document.getElementById(place);
      if (!task) return;
      task.hidden = false;
      task.open = true;
      task.scrollIntoView();
    }
  };

  let pending = 0;
  const soon = () => {
    clearTimeout(pending);
    pending = setTimeout(() => { apply(); remember(); }, 120);
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { apply(); remember(); }));
  form.addEventListener("input", soon);
  addEventListener("hashchange", follow);
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    }
  });
  form.hidden = false;
  follow();
})();
