"use strict";
// Filters the rows of members. It changes which are shown, and the text that counts them: nothing of the page becomes markup.
const form = document.getElementById("filters");
const rows = Array.from(document.querySelectorAll("tr.member"));
function filter() {
  const verdicts = new Set();
  for (const box of form.querySelectorAll("input[name=verdict]")) if (box.checked) verdicts.add(box.value);
  const words = form.elements.text.value.toLowerCase();
  const slowest = Number(form.elements.ms.value) || 0;
  let shown = 0;
  for (const row of rows) {
    const { verdict, name, ms } = row.dataset;
    const fits = verdicts.has(verdict) && name.toLowerCase().includes(words) && Number(ms) >= slowest;
    row.hidden = !fits;
    if (fits) shown += 1;
  }
  form.elements.shown.textContent = `${shown} of ${rows.length} shown`;
}
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = false;
filter();
