/** What the pages of the site do by themselves: search, and buttons that copy code. Without it, they can be read. */
const MAX_FOUND = 20;
const AROUND = 60;
const root = document.currentScript.dataset.root;

const search = document.querySelector("#search");
const found = document.querySelector("#found");

for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => void copy(block.querySelector("code"), button));
  block.append(button);
}

// The list of pages is in the way on a phone, and beside the text elsewhere.
const wide = matchMedia("(min-width: 52rem)");
const showPages = () => {
  document.querySelector("#pages").open = wide.matches;
};
wide.addEventListener("change", showPages);
showPages();
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest" });

search.addEventListener("focus", loadIndex, { once: true });
search.addEventListener("input", showFound);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideFound();
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    search.focus();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("[role=search]")) hideFound();
});

async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    // A browser that does not let us still lets the reader: what they wanted is selected.
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
}

function loadIndex() {
  const script = document.createElement("script");
  script.src = `${root}/search.js`;
  script.addEventListener("load", showFound);
  document.head.append(script);
}

function hideFound() {
  found.hidden = true;
}

function showFound() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 || window.searchIndex === undefined) return hideFound();
  const hits = window.searchIndex
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MAX_FOUND);
  found.replaceChildren(
    ...(hits.length === 0 ? [line("Nothing was found.")] : hits.map(({ entry }) => hitOf(entry, words))),
  );
  found.hidden = false;
}

/** Every word must be there; in a title it counts more. */
function scoreOf([, title, heading, text], words) {
  let score = 0;
  for (const word of words) {
    const inHeading = heading.toLowerCase().includes(word);
    const inTitle = title.toLowerCase().includes(word);
    const inText = text.toLowerCase().includes(word);
    if (!inHeading && !inTitle && !inText) return 0;
    score += (inHeading ? 8 : 0) + (inTitle ? 4 : 0) + (inText ? 1 : 0);
  }
  return score;
}

function hitOf([href, title, heading, text], words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - AROUND);
  const link = document.createElement("a");
  link.href = `${root}/${href}`;
  link.textContent = heading === "" || heading === title ? title : `${title}: ${heading}`;
  const small = document.createElement("small");
  small.textContent = text.slice(at, at + 3 * AROUND);
  link.append(small);
  link.addEventListener("click", hideFound);
  return line(link);
}

function line(content) {
  const item = document.createElement("li");
  item.append(content);
  return item;
}
