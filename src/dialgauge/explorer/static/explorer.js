// Keys and the theme, for pages and for reports. Both work without it.
"use strict";

const byId = (id) => document.getElementById(id);
const typing = (target) => target.closest("input, textarea, select, [contenteditable]") !== null;

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* not kept, then */ }
}

// Rows of a list or turns of a dialogue: the one with the class "here" is where the keyboard stands.
function stops(marked) {
  const place = document.querySelector("details.dialogue[open]") ? "details.dialogue[open] " : "";
  const shape = marked ? [".turn.marked", ".turn.differs"] : [".turn"];
  const turns = [...document.querySelectorAll(shape.map((one) => place + one).join(", "))];
  return turns.length || marked ? turns : [...document.querySelectorAll(".row")];
}

function step(by, marked = false) {
  const all = stops(false);
  const wanted = stops(marked);
  if (!wanted.length) return;
  const here = all.findIndex((one) => one.classList.contains("here"));
  const places = wanted.map((one) => all.indexOf(one));
  const found = by > 0 ? places.find((place) => place > here) : places.reverse().find((place) => place < here);
  if (found === undefined) return;
  all.forEach((one) => one.classList.remove("here"));
  all[found].classList.add("here");
  (all[found].querySelector("a.open") || all[found]).focus({ preventScroll: true });
  all[found].scrollIntoView({ block: "nearest" });
}

// In a report all dialogues are in one file: one of them is open.
function openDialogue(by) {
  const all = [...document.querySelectorAll("details.dialogue:not([hidden])")];
  if (!all.length) return;
  const here = all.findIndex((one) => one.open);
  const next = all[Math.max(0, Math.min(all.length - 1, here + by))];
  all.forEach((one) => { one.open = one === next; });
  next.querySelector("summary").focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
}

function follow(by) {
  const link = byId(by > 0 ? "next" : "previous");
  if (link) link.click(); else openDialogue(by);
}

const actions = {
  "/": () => byId("search")?.focus(),
  j: () => step(1),
  k: () => step(-1),
  e: () => step(1, true),
  E: () => step(-1, true),
  n: () => follow(1),
  p: () => follow(-1),
  u: () => byId("up")?.click(),
  l: () => byId("label")?.focus(),
  t: toggleTheme,
  "?": () => byId("help")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && typing(event.target)) { event.target.blur(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || byId("help")?.open) return;
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

byId("theme")?.addEventListener("click", toggleTheme);
byId("keys")?.addEventListener("click", () => byId("help").showModal());

// A note that is not saved yet is not lost without a question.
for (const form of document.querySelectorAll("form.annotate")) {
  form.addEventListener("input", () => { form.dataset.unsaved = "yes"; });
  form.addEventListener("submit", () => { delete form.dataset.unsaved; });
}
addEventListener("beforeunload", (event) => {
  if (document.querySelector("form.annotate[data-unsaved]")) event.preventDefault();
});

// On paper nothing can be opened.
addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details")) one.open = true; });

if (document.body.classList.contains("report")) {
  byId("searching")?.removeAttribute("hidden");
  byId("search")?.addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const one of document.querySelectorAll("details.dialogue")) one.hidden = !one.textContent.toLowerCase().includes(wanted);
  });
  const reveal = () => {
    const place = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
    for (let one = place || null; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    if (place) place.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
}

const target = location.hash ? byId(location.hash.slice(1)) : null;
if (target?.classList.contains("turn")) target.classList.add("here");
const parting = document.querySelector("[data-scroll]");
if (parting && !location.hash) {
  parting.classList.add("here");
  parting.scrollIntoView({ block: "center" });
}
