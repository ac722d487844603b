"use strict";
// The page is whole without this. It adds what changes while a run goes on, the buttons that allow and resume, the filter
// of the list, and keys.
(() => {
  const parts = document.getElementById("parts");
  const form = document.getElementById("filter");
  const said = document.getElementById("said");
  const shown = new Map([...document.querySelectorAll("#parts > .part")].map((part) => [part.id, part.outerHTML]));

  // The list: search and filters, kept in the address.
  const filter = () => {
    if (!form) return;
    const words = form.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const selects = [...form.querySelectorAll("select")].filter((select) => select.value);
    const rows = [...document.querySelectorAll(".runs > li")];
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(selects.every((select) => row.dataset[select.id] === select.value) &&
        words.every((word) => text.includes(word)));
      count += !row.hidden;
    }
    const all = `${rows.length.toLocaleString("en")} run${rows.length === 1 ? "" : "s"}`;
    document.getElementById("shown").textContent = count === rows.length ? all : `${count.toLocaleString("en")} of ${all}`;
    const state = new URLSearchParams(selects.map((select) => [select.id, select.value]));
    if (form.search.value.trim()) state.set("search", form.search.value.trim());
    try { history.replaceState(null, "", `${location.pathname}${location.search}${state.size ? `#${state}` : ""}`); } catch { /* a file */ }
  };
  if (form) {
    const state = new URLSearchParams(location.hash.slice(1));
    form.search.value = state.get("search") || "";
    for (const select of form.querySelectorAll("select")) {
      select.value = state.get(select.id) || "";
      if (select.selectedIndex < 0) select.value = "";
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", filter);
    form.addEventListener("reset", () => setTimeout(filter));
    form.hidden = false;
    filter();
  }

  // A call that the address names is shown opened.
  const follow = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target || !target.matches(".call, .row")) return;
    for (let around = target; around; around = around.parentElement) if (around.tagName === "DETAILS") around.open = true;
    if (target.matches(".call")) target.querySelector("details").open = true;
    target.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", follow);
  follow();

  // What has changed: each part whole, what was opened and what has the focus stay so.
  const replace = (old, markup) => {
    const holder = document.createElement("template");
    holder.innerHTML = markup;
    const fresh = holder.content.firstElementChild;
    if (!old) return fresh;
    const open = new Map([...old.querySelectorAll("details[data-key]")].map((one) => [one.dataset.key, one.open]));
    for (const one of fresh.querySelectorAll("details[data-key]")) if (open.has(one.dataset.key)) one.open = open.get(one.dataset.key);
    const focused = old.contains(document.activeElement) && document.activeElement;
    const key = focused && (focused.closest("details")?.dataset.key || focused.dataset.body || focused.getAttribute("href"));
    old.replaceWith(fresh);
    if (key) {
      const same = [...fresh.querySelectorAll("details, button, a")].find((one) => [one.dataset.key, one.dataset.body, one.getAttribute("href")].includes(key));
      (same?.matches("details") ? same.querySelector("summary") : same)?.focus({ preventScroll: true });
    }
    return fresh;
  };
  // The page asks for itself again when it is told to, and while something runs: that process may be gone. One that
  // takes long is asked for seldom.
  const change = (page) => {
    let before = null;
    for (const fresh of page.querySelectorAll("#parts > .part")) {
      const old = document.getElementById(fresh.id);
      const markup = fresh.outerHTML;
      const now = old && shown.get(fresh.id) === markup ? old : replace(old, markup);
      shown.set(fresh.id, markup);
      if (!old) before ? before.after(now) : parts.prepend(now);
      before = now;
    }
    if (document.title !== page.title) said.textContent = document.title = page.title;
    filter();
  };
  // A warning is for the eye and for a screen reader, until something succeeds.
  const tell = (text, warning) => {
    said.textContent = text;
    said.className = warning ? "beware" : "sr";
  };
  const enable = (buttons, enabled) => { for (const button of buttons) button.disabled = !enabled; };
  const actions = () => document.querySelectorAll("button[data-post]");
  let over = false;
  const end = () => {
    over = true;
    enable(actions(), false);
    tell("The viewer has ended; nothing was sent; start it again with: atc runs view", true);
  };
  const goOn = () => {
    if (!over) return;
    over = false;
    enable(actions(), true);
    tell("", false);
  };
  let busy = false;
  let again = false;
  const refresh = async () => {
    again = busy;
    if (busy) return;
    busy = true;
    const began = performance.now();
    try {
      const answer = await fetch(location.pathname + location.search);
      if (answer.ok) {
        change(new DOMParser().parseFromString(await answer.text(), "text/html"));
        goOn();
      }
    } catch { end(); }
    setTimeout(() => { busy = false; if (again) refresh(); }, 3 * (performance.now() - began));
  };
  if (parts?.dataset.events) {
    const events = new EventSource(parts.dataset.events);
    events.addEventListener("open", () => parts.classList.remove("lost"));
    events.addEventListener("message", refresh);
    events.addEventListener("error", () => {
      parts.classList.add("lost");
      refresh(); // tells whether the viewer has ended, or only the events broke off
    });
    const watch = setInterval(() => { if (document.querySelector(".class.running")) refresh(); }, 5000);
    addEventListener("pagehide", () => { clearInterval(watch); events.close(); });
  }

  // Copying: what the button names, as the page shows it. Without this script there are no such buttons.
  document.documentElement.classList.add("scripted");
  const copyOld = (text) => { // for pages that may not use the clipboard, such as a file in some browsers
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "sr";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) throw new Error("refused");
  };
  addEventListener("click", async (event) => {
    const button = event.target.closest?.("button[data-copy]");
    if (!button) return;
    try {
      try { await navigator.clipboard.writeText(button.dataset.copy); } catch { copyOld(button.dataset.copy); }
      tell(`${button.textContent}: done`, false);
      button.classList.add("copied");
      setTimeout(() => button.classList.remove("copied"), 1500);
    } catch { tell(`${button.textContent}: the browser did not allow it`, true); }
  });

  // Consent and resuming: by POST alone, and only from a button that somebody presses.
  addEventListener("click", async (event) => {
    const button = event.target.closest?.("button[data-post]");
    if (!button || !event.isTrusted) return;
    const all = button.parentElement.querySelectorAll("button");
    enable(all, false);
    const headers = { "content-type": "application/json" };
    let answer;
    try {
      answer = await fetch(button.dataset.post, { method: "POST", headers, body: button.dataset.body });
    } catch {
      end();
      return;
    }
    if (answer.ok) {
      tell(`${button.textContent}: done`, false);
    } else {
      tell(`${button.textContent}: it was not done (${answer.statusText})`, true);
      enable(all, true);
    }
  });

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea")) return;
    const calls = [...document.querySelectorAll(".call > details > summary, .runs > li:not([hidden]) > a")];
    const at = calls.indexOf(document.activeElement);
    if (event.key === "/" && form) form.search.focus();
    else if (event.key === "j") calls[Math.min(at + 1, calls.length - 1)]?.focus();
    else if (event.key === "k") calls[Math.max(at - 1, 0)]?.focus();
    else if (event.key === "e") {
      const all = [...document.querySelectorAll(".call > details")];
      const open = all.some((one) => !one.open);
      for (const one of all) one.open = open;
    } else return;
    event.preventDefault();
  });
})();
