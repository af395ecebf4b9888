(() => {
  const main = document.getElementById("main");
  const shown = (node) => node.checkVisibility();
  const numbers = [...main.querySelectorAll("[data-v]")].filter(shown).map((n) => ({ V: n.dataset.v, Src: n.dataset.src, Text: n.textContent }));
  const bare = [];
  const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const parent = walk.currentNode.parentElement;
    if (/\d/.test(walk.currentNode.data) && shown(parent) && !parent.closest("[data-v], [data-fixed], [data-text], [data-raw], time, code, .id, select, noscript, .prose")) bare.push(walk.currentNode.data.trim().slice(0, 100));
  }
  return JSON.stringify({
    Numbers: numbers, Bare: bare, Wide: document.documentElement.scrollWidth,
    Busy: main.querySelectorAll("[aria-busy]").length + document.querySelectorAll("h1.waiting").length + [...main.querySelectorAll("pmx-plot")].filter((p) => !p.firstChild).length,
    Failed: [...main.querySelectorAll('.state[data-kind="error"]')].filter((n) => n.getAttribute("role") === "alert").map((n) => n.textContent),
  });
})()
