"use strict";
// Filters the rows of members, and orders them. It changes which are shown and where in their table, and the text that counts them:
// nothing of the page becomes markup.
const form = document.getElementById("filters");
const rows = Array.from(document.querySelectorAll("tr.member"));
function checked(name) {
  const boxes = Array.from(form.querySelectorAll(`input[name=${name}]`));
  return new Set(boxes.filter((box) => box.checked).map((box) => box.value));
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
form.addEventListener("input", filter);
form.elements.order.addEventListener("change", arrange);
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = false;
filter();
