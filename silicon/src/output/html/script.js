"use strict";
// Filters the rows of members, and orders them; opens what a link leads to. It changes which are shown and where in their table, and
// the text that counts them: nothing of the page becomes markup. What is chosen stands in the address, so that it can be passed on.
const form = document.getElementById("filters");
const rows = Array.from(document.querySelectorAll("tr.member"));
const boxes = Array.from(form.querySelectorAll("input[type=checkbox]"));
const fields = { text: "", ms: "0", order: "place" };
function checked(name) {
  return new Set(boxes.filter((box) => box.name === name && box.checked).map((box) => box.value));
}
// Rows stay in the table of their file, the largest first; those that are the same in the order of the text.
function arrange() {
  const by = form.elements.order.value;
  const ordered = by === "place" ? rows : rows.slice().sort((one, other) => other.dataset[by] - one.dataset[by]);
  for (const row of ordered) row.parentNode.append(row);
}
function filter() {
  const verdicts = checked("verdict");
  const kinds = checked("kind");
  const words = form.elements.text.value.toLowerCase();
  const slowest = Number(form.elements.ms.value) || 0;
  let shown = 0;
  for (const row of rows) {
    const { verdict, kind, name, ms } = row.dataset;
    const fits = verdicts.has(verdict) && kinds.has(kind) && name.toLowerCase().includes(words) && Number(ms) >= slowest;
    row.hidden = !fits;
    if (fits) shown += 1;
  }
  form.elements.shown.textContent = `${shown} of ${rows.length} shown`;
}
function remember() {
  const chosen = new URLSearchParams();
  for (const box of boxes) if (!box.checked) chosen.append("without", box.value);
  for (const [name, usual] of Object.entries(fields)) {
    const value = form.elements[name].value;
    if (value !== usual) chosen.set(name, value);
  }
  const query = chosen.toString();
  history.replaceState(null, "", (query ? `?${query}` : location.pathname) + location.hash);
}
function recall() {
  const chosen = new URLSearchParams(location.search);
  const without = new Set(chosen.getAll("without"));
  for (const box of boxes) box.checked = !without.has(box.value);
  for (const [name, usual] of Object.entries(fields)) form.elements[name].value = chosen.get(name) ?? usual;
  if (location.search) unfold();
}
// Who looks for members looks for verified ones, too.
function unfold() {
  const verified = document.getElementById("verified");
  if (verified) verified.open = true;
}
function reveal() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let around = target; around; around = around.parentElement) if (around.tagName === "DETAILS") around.open = true;
  target.scrollIntoView();
}
form.addEventListener("input", () => { unfold(); filter(); remember(); });
form.elements.order.addEventListener("change", () => { unfold(); arrange(); remember(); });
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", reveal);
form.hidden = false;
recall();
arrange();
filter();
reveal();
