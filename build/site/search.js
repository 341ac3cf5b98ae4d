// Looks for all words of the field in the index of the site. A word in a heading or in the name of a page counts more than one in the text.
const field = document.getElementById("q");
const found = document.getElementById("found");
const root = document.body.dataset.root;
const most = 12;

function search(words) {
  const hits = [];
  for (const one of index) {
    const [page, heading, text] = [one.p.toLowerCase(), one.h.toLowerCase(), one.t.toLowerCase()];
    let weight = 0;
    for (const word of words) {
      const here = (heading.includes(word) ? 8 : 0) + (page.includes(word) ? 4 : 0) + (text.includes(word) ? 1 : 0);
      if (here === 0) {
        weight = 0;
        break;
      }
      weight += here;
    }
    if (weight > 0) hits.push([weight, one]);
  }
  return hits.sort((a, b) => b[0] - a[0]).slice(0, most);
}

function around(text, word) {
  const at = text.toLowerCase().indexOf(word);
  return at < 0 ? "" : `${at > 40 ? "…" : ""}${text.slice(Math.max(0, at - 40), at + 80)}…`;
}

field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  const rows = search(words).map(([, one]) => {
    const row = document.createElement("li");
    const link = document.createElement("a");
    link.href = root + one.u;
    link.textContent = one.h === one.p ? one.p : `${one.p}: ${one.h}`;
    const some = document.createElement("small");
    some.textContent = around(one.t, words[0]);
    row.append(link, some);
    return row;
  });
  if (rows.length === 0 && words.length > 0) {
    const none = document.createElement("li");
    none.textContent = "Nothing is about that.";
    rows.push(none);
  }
  found.replaceChildren(...rows);
});

addEventListener("keydown", (event) => {
  if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
  event.preventDefault();
  field.focus();
});
