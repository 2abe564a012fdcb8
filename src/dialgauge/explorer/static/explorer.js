// Keys and the theme, for pages and for reports. Both work without it.
"use strict";

const byId = (id) => document.getElementById(id);
const typing = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;

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

// The address with the turn where the keyboard stands: what somebody else opens is what is seen here.
function copyAddress() {
  const here = document.querySelector(".turn.here");
  const address = here?.id ? `${location.href.split("#")[0]}#${here.id}` : location.href;
  const told = document.querySelector("[data-copy]");
  navigator.clipboard?.writeText(address).then(() => { if (told) told.firstChild.textContent = "Copied "; }, () => {});
}

function foldCalls() {
  const calls = [...document.querySelectorAll("details.call")];
  const open = calls.some((one) => !one.open);
  for (const one of calls) one.open = open;
}

function toggleRow() {
  const box = document.querySelector(".row.here input[type=checkbox]");
  if (!box) return;
  box.checked = !box.checked;
  showChosen();
}

// How many rows are chosen; the bar works without this too.
function showChosen() {
  const bar = document.querySelector("[data-selection]");
  if (!bar) return;
  const boxes = [...document.querySelectorAll(".row input[type=checkbox]")];
  const chosen = boxes.filter((box) => box.checked);
  for (const box of boxes) box.closest(".row").classList.toggle("chosen", box.checked);
  bar.hidden = !chosen.length;
  byId("compare").textContent = `Compare (${chosen.length})`;
  byId("compare").disabled = chosen.length < 2 || chosen.length > Number(bar.dataset.most || Infinity);
  bar.querySelector("[data-chosen]").textContent = chosen.map((box) => box.closest(".row").querySelector("a.open").textContent).join(", ");
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
  x: toggleRow,
  c: () => { const compare = byId("compare"); if (compare && !compare.disabled) compare.click(); },
  o: foldCalls,
  y: copyAddress,
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

for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", copyAddress);
document.addEventListener("change", (event) => {
  if (event.target.matches(".row input[type=checkbox]")) showChosen();
  // Filters apply when they are chosen; text is sent with Enter.
  const form = event.target.closest("form[data-submit]");
  if (form && event.target.tagName === "SELECT" && event.target.name !== "measure") form.requestSubmit();
});
document.addEventListener("reset", () => setTimeout(showChosen));
addEventListener("pageshow", showChosen);
// Fields without a value do not lengthen the address.
for (const form of document.querySelectorAll("form[data-submit]")) {
  form.addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData]) if (!value) event.formData.delete(name);
  });
}

// The dialogue that was read last is marked when one comes back to the list, and in sight.
const reading = document.querySelector("[data-reading]");
const list = document.querySelector("[data-keep]");
try {
  if (reading) sessionStorage.setItem(`read ${reading.dataset.reading}`, reading.dataset.id);
  const last = list && sessionStorage.getItem(`read ${list.dataset.keep}`);
  const row = last && [...list.querySelectorAll("[data-row]")].find((one) => one.dataset.row === last);
  if (row) row.classList.add("lastread", ...(location.hash === "#last" ? ["here"] : []));
  if (row && location.hash === "#last") row.scrollIntoView({ block: "center" });
} catch { /* storage can be switched off; nothing is marked then */ }

// A section of a folded part opens when its address is asked for.
function unfold() {
  const place = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
  for (let one = place || null; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
}
addEventListener("hashchange", unfold);
unfold();

// A note that is not saved yet is not lost without a question.
for (const form of document.querySelectorAll("form.annotate")) {
  form.addEventListener("input", () => { form.dataset.unsaved = "yes"; });
  form.addEventListener("submit", () => { delete form.dataset.unsaved; });
}
addEventListener("beforeunload", (event) => {
  if (document.querySelector("form.annotate[data-unsaved]")) event.preventDefault();
});

// On paper nothing can be opened; of a report the first dialogues are printed, and of tool calls a line.
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not([data-late], [data-late] details, .more, .call, .call details)")) one.open = true;
});

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
