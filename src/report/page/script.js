"use strict";
(() => {
  const ROW = 44, BLOCK = 100, LINE = 18;
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const STATUSES = data.target === "advice" ? ["note", "weaker", "differs", "left"] : ["exact", "weaker", "differs", "left"];
  // What a status is called on the page.
  const shownAs = (status) => (status === "left" ? "untranslated" : status);

  function make(name, attributes, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === "class") node.className = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
    }
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
  }

  // Directives, and the diagnostics that are about none.
  const diagnostics = new Map(data.diagnostics.map((one) => [one.fingerprint, one]));
  const items = data.directives.map((one) => ({
    id: one.id, status: one.status, file: one.file, line: one.line, name: one.label || "directive", directive: one,
    diagnostics: one.diagnostics.map((id) => diagnostics.get(id)).filter(Boolean),
  }));
  for (const one of data.diagnostics) {
    if (one.directive === null) {
      const status = one.severity === "bug" ? "left" : one.severity === "note" && data.target !== "advice" ? "exact" : one.severity;
      items.push({ id: one.fingerprint, status, file: one.file, line: one.line, name: one.code, directive: null, diagnostics: [one] });
    }
  }
  const order = new Map(data.files.map((one, index) => [one.file, index]));
  items.sort((a, b) => order.get(a.file) - order.get(b.file) || a.line - b.line);
  for (const item of items) {
    const words = [item.name, item.directive ? item.directive.original : "", ...item.diagnostics.map((one) => one.code + " " + one.message)];
    item.words = words.join("\n").toLowerCase();
    item.codes = new Set(item.diagnostics.map((one) => one.code));
    item.first = item.diagnostics[0] ? item.diagnostics[0].code + " " + item.diagnostics[0].message : "";
  }

  // What has been reviewed: by the baseline, and in this browser before.
  const key = "acc2omp:" + location.pathname;
  const reviewed = new Set();
  for (const item of items) {
    const said = item.diagnostics;
    if ((item.directive && item.directive.reviewed) || (said.length > 0 && said.every((one) => one.reviewed))) reviewed.add(item.id);
  }
  try {
    const known = new Set(items.map((item) => item.id));
    for (const id of JSON.parse(localStorage.getItem(key) || "[]")) if (known.has(id)) reviewed.add(id);
  } catch { /* Some browsers keep nothing for files. */ }
  function keep() {
    try { localStorage.setItem(key, JSON.stringify([...reviewed])); } catch { /* as above */ }
  }

  let shown = items, selected = -1, current = null;

  // The start page.
  function start() {
    const sum = data.summary, page = at("start");
    const tile = (name, number, kind) => make("div", { class: "tile " + (kind || "") }, make("b", {}, String(number)), name);
    const tiles = make("div", { class: "tiles" }, tile("files", sum.files), tile("with OpenACC", sum.with_openacc));
    if (data.target !== "advice") {
      tiles.append(tile("directives", sum.directives));
      for (const status of STATUSES) tiles.append(tile(shownAs(status), sum[status], status));
    }
    tiles.append(tile("diagnostics", sum.diagnostics));
    const number = (value) => make("td", { class: "number" }, String(value));
    const link = (text, go) => make("a", { href: "#", onclick: (event) => { event.preventDefault(); go(); } }, text);
    const worst = [...data.files].sort((a, b) => b.left - a.left || b.differs - a.differs || b.weaker - a.weaker || b.diagnostics - a.diagnostics);
    const files = make("table", { id: "worst" }, make("tr", {}, make("th", {}, "file"),
      ...["directives", "exact", "weaker", "differs", "left", "diagnostics"].map((name) => make("th", { class: "number" }, shownAs(name)))));
    for (const one of worst) {
      files.append(make("tr", {}, make("td", {}, link(one.file, () => { at("file").value = one.file; filter(); view("review"); })),
        number(one.directives), number(one.exact), number(one.weaker), number(one.differs), number(one.left), number(one.diagnostics)));
    }
    const codes = make("table", { id: "codes" }, make("tr", {}, make("th", {}, "code"), make("th", {}, "severity"), make("th", {}, "what"), make("th", { class: "number" }, "count")));
    for (const one of sum.codes) {
      codes.append(make("tr", {}, make("td", {}, link(one.code, () => { at("code").value = one.code; filter(); view("review"); })),
        make("td", { class: one.severity }, shownAs(one.severity)), make("td", {}, one.title), number(one.count)));
    }
    const errors = make("ul", { id: "errors" }, ...data.errors.map((one) => make("li", {}, (one.file ? one.file + ": " : "") + one.message)));
    page.append(tiles, ...(data.errors.length > 0 ? [make("h2", {}, "Files without a translation"), errors] : []), make("h2", {}, "Files, worst first"), files, make("h2", {}, "Codes"), codes);
  }

  function view(name) {
    at("start").hidden = name !== "start";
    at("review").hidden = name !== "review";
    if (name === "review") {
      if (selected < 0 && shown.length > 0) select(0); else draw();
      at("list").focus();
    }
  }

  // Filters.
  function filters() {
    for (const status of STATUSES) {
      at("statuses").append(make("label", {}, make("input", { type: "checkbox", value: status, checked: "", onchange: filter }), make("span", { class: status }, shownAs(status))));
    }
    const options = (id, all, values) => at(id).append(make("option", { value: "" }, all), ...values.map(([value, text]) => make("option", { value }, text)));
    options("code", "all codes", data.summary.codes.map((one) => [one.code, one.code + " " + one.title]));
    options("file", "all files", data.files.map((one) => [one.file, one.file]));
    for (const id of ["code", "file", "open"]) at(id).addEventListener("change", filter);
    at("text").addEventListener("input", filter);
    at("filters").addEventListener("submit", (event) => event.preventDefault());
  }

  function filter() {
    const statuses = new Set([...at("statuses").querySelectorAll("input:checked")].map((box) => box.value));
    const code = at("code").value, file = at("file").value, open = at("open").checked, text = at("text").value.toLowerCase();
    shown = items.filter((item) => statuses.has(item.status) && (!code || item.codes.has(code)) && (!file || item.file === file)
      && (!open || !reviewed.has(item.id)) && (!text || item.words.includes(text)));
    const stays = current ? shown.indexOf(current) : -1;
    if (stays >= 0) { selected = stays; draw(); } else { select(shown.length > 0 ? 0 : -1); }
  }

  // The list: only the rows in sight are in the page.
  function draw() {
    const list = at("list"), rows = at("rows");
    rows.style.height = shown.length * ROW + "px";
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
    const last = Math.min(shown.length, first + Math.ceil((list.clientHeight || 600) / ROW) + 10);
    const nodes = [];
    for (let index = first; index < last; index += 1) {
      const item = shown[index];
      nodes.push(make("div", { class: "row" + (reviewed.has(item.id) ? " done" : ""), role: "option", "aria-selected": String(index === selected),
        style: "top:" + index * ROW + "px", onclick: () => select(index) },
        make("span", { class: item.status }, (reviewed.has(item.id) ? "✓ " : "") + shownAs(item.status)), " " + item.name,
        make("small", {}, item.file + ":" + item.line + (item.first ? " · " + item.first : ""))));
    }
    rows.replaceChildren(...nodes);
    at("count").textContent = shown.length + " of " + items.length + (data.target === "advice" ? " pieces of advice" : " directives and messages");
    const known = items.filter((item) => reviewed.has(item.id)).length;
    at("progress").textContent = known + " of " + items.length + " reviewed";
  }

  function select(index) {
    selected = index;
    current = shown[index] || null;
    const list = at("list");
    if (index >= 0) {
      const top = index * ROW;
      if (top < list.scrollTop) list.scrollTop = top;
      else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    }
    draw();
    card();
  }

  function tick(value) {
    if (!current) return;
    if (value) reviewed.add(current.id); else reviewed.delete(current.id);
    keep();
    const box = at("reviewed");
    if (box) box.checked = value;
    draw();
  }

  function next(step, is) {
    for (let index = selected + step; index >= 0 && index < shown.length; index += step) {
      if (!is || is(shown[index])) { select(index); return; }
    }
  }

  // A card.
  function details(summary, html) {
    const node = make("details", {}, make("summary", {}, summary)), page = make("div", { class: "page" });
    node.addEventListener("toggle", () => { if (node.open && !page.firstChild) page.innerHTML = html; });
    node.append(page);
    return node;
  }

  function card() {
    const place = at("card");
    place.replaceChildren();
    place.scrollTop = 0;
    sources();
    if (!current) { place.append(make("p", {}, "No directive fits the filters.")); return; }
    const one = current.directive;
    place.append(make("div", { class: "top" }, make("b", { class: current.status }, shownAs(current.status)), make("b", {}, current.name),
      make("span", {}, current.file + ":" + current.line),
      make("label", {}, make("input", { id: "reviewed", type: "checkbox", checked: reviewed.has(current.id) ? "" : null, onchange: (event) => tick(event.target.checked) }), " reviewed (r)")));
    if (one) {
      place.append(make("pre", {}, one.original + (one.target ? "\n" + one.target : "")));
    }
    for (const said of current.diagnostics) {
      place.append(make("h3", { class: said.severity }, said.code + " " + shownAs(said.severity) + ": " + said.message));
      if (said.label) place.append(make("p", {}, "line " + said.line + ": " + said.label));
      for (const other of said.others) place.append(make("p", {}, "line " + other.line + ": " + (other.text || "here")));
      if (said.fix) {
        place.append(make("p", {}, "What to do: " + said.fix.text));
        for (const edit of said.fix.edits) place.append(make("pre", {}, "line " + edit.line + ": " + edit.text));
      }
      if (data.pages[said.code]) place.append(details("What " + said.code + " means", data.pages[said.code]));
    }
    if (!one) return;
    if (one.data.length > 0) {
      const table = make("table", { id: "environment" }, make("tr", {}, make("th", {}, "data"), make("th", {}, "clause"), make("th", {}, "from")));
      for (const use of one.data) table.append(make("tr", {}, make("td", {}, use.item), make("td", {}, use.clause), make("td", {}, use.implied_by ? "implied: " + use.implied_by : "written")));
      place.append(make("h3", {}, "Data environment"), table);
    }
    if (one.loops.length > 0) {
      const table = make("table", { id: "loops" }, make("tr", {}, make("th", {}, "loop"), make("th", {}, "levels"), make("th", {}, "verdict")));
      for (const loop of one.loops) table.append(make("tr", {}, make("td", {}, "line " + loop.line), make("td", {}, loop.levels || "none"), make("td", {}, loop.verdict)));
      place.append(make("h3", {}, "Loops"), table);
    }
    const pages = new Map(one.rules.map((rule) => [rule.page, rule]));
    if (pages.size > 0) place.append(make("h3", {}, "Rules"));
    for (const [page, rule] of pages) place.append(details(page + " (" + rule.sections.join(", ") + ")", data.pages[page] || ""));
  }

  // The two texts, side by side.
  const KEYWORDS = {
    c: /\b(?:auto|bool|break|case|char|class|const|continue|default|delete|do|double|else|enum|extern|float|for|goto|if|inline|int|long|namespace|new|private|public|register|restrict|return|short|signed|sizeof|static|struct|switch|template|this|typedef|typename|union|unsigned|using|void|volatile|while)\b/,
    f: /\b(?:allocatable|allocate|associate|block|call|case|character|complex|contains|cycle|deallocate|dimension|do|double|else|elseif|end|enddo|endif|exit|function|if|implicit|integer|intent|interface|logical|module|none|only|optional|parameter|pointer|precision|print|private|procedure|program|public|pure|real|result|return|save|select|stop|subroutine|target|then|type|use|where|while|write)\b/i,
  };
  const TOKENS = {
    c: new RegExp(/(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|\b\d[\w.]*)|/.source + "(" + KEYWORDS.c.source + ")", "g"),
    f: new RegExp(/(!.*)|("[^"]*"?|'[^']*'?|\b\d[\w.]*)|/.source + "(" + KEYWORDS.f.source + ")", "gi"),
  };
  function colours(text, language) {
    const out = document.createDocumentFragment();
    if (/^\s*#/.test(text) || (language === "f" && /^\s*[!cC*]\$/.test(text))) { out.append(make("span", { class: "d" }, text)); return out; }
    if (language === "f" && /^[cC*]/.test(text) && /\.(f|for|ftn)$/i.test(current.file)) { out.append(make("span", { class: "c" }, text)); return out; }
    let last = 0;
    for (const match of text.matchAll(TOKENS[language])) {
      out.append(text.slice(last, match.index), make("span", { class: match[1] ? "c" : match[2] ? "s" : "k" }, match[0]));
      last = match.index + match[0].length;
    }
    out.append(text.slice(last));
    return out;
  }

  let open = null;
  function sources() {
    const place = at("sources");
    const name = current ? current.file : null;
    if (name !== open) {
      open = name;
      place.replaceChildren();
      const file = name ? data.texts[name] : null;
      at("old-name").textContent = name || "";
      const out = data.files.find((one) => one.file === name);
      at("new-name").textContent = file ? (out && out.out_file) || (data.target === "advice" ? "with the advice" : "translation") : "";
      if (file) {
        // Rows are made when they come in sight.
        const blocks = [];
        for (let from = 0; from < file.rows.length; from += BLOCK) {
          const rows = file.rows.slice(from, from + BLOCK);
          blocks.push(make("div", { class: "block", "data-from": String(from), style: "contain-intrinsic-size: auto " + rows.length * LINE + "px; min-height:" + rows.length * LINE + "px" }));
        }
        place.append(...blocks);
        if (watcher) blocks.forEach((block) => watcher.observe(block));
      }
    }
    mark();
  }

  function fill(block) {
    if (block.firstChild || !open) return;
    const file = data.texts[open], from = Number(block.dataset.from);
    const language = /\.(f\w*|for|ftn)$/i.test(open) ? "f" : "c";
    for (const [old, fresh, same] of file.rows.slice(from, from + BLOCK)) {
      const cell = (number, texts, kind) => {
        const text = number > 0 ? texts[number - 1] : "";
        return [make("i", {}, number > 0 ? String(number) : ""), make("code", { class: kind }, colours(text || "", language))];
      };
      block.append(make("div", { class: "pair" + (same ? "" : " changed"), "data-line": String(old) }, ...cell(old, file.old, "old"), ...cell(fresh, file.new, "new")));
    }
  }

  const watcher = "IntersectionObserver" in window
    ? new IntersectionObserver((seen) => seen.forEach((one) => { if (one.isIntersecting) fill(one.target); }), { root: at("sources"), rootMargin: "400px" })
    : null;

  function mark() {
    const place = at("sources");
    place.querySelectorAll(".here").forEach((one) => one.classList.remove("here"));
    if (!current || !open || !data.texts[open]) return;
    const row = data.texts[open].rows.findIndex(([old]) => old === current.line);
    const block = place.children[Math.floor(row / BLOCK)];
    if (row < 0 || !block) return;
    fill(block);
    const line = block.children[row % BLOCK];
    line.classList.add("here");
    place.scrollTop += line.getBoundingClientRect().top - place.getBoundingClientRect().top - place.clientHeight / 3;
  }

  // The baseline.
  function baseline() {
    const entries = [], seen = new Set();
    const add = (fingerprint, code, file, line) => {
      if (!seen.has(fingerprint)) { seen.add(fingerprint); entries.push({ fingerprint, code, file, line }); }
    };
    for (const item of items) {
      if (!reviewed.has(item.id)) continue;
      if (item.directive) add(item.id, item.name, item.file, item.line);
      for (const one of item.diagnostics) add(one.fingerprint, one.code, one.file, one.line);
    }
    for (const one of data.diagnostics) if (one.reviewed && one.directive === null) add(one.fingerprint, one.code, one.file, one.line);
    return JSON.stringify({ version: 1, reviewed: entries }, null, 2) + "\n";
  }
  function save() {
    const url = URL.createObjectURL(new Blob([baseline()], { type: "application/json" }));
    const link = make("a", { href: url, download: "acc2omp-baseline.json" });
    document.body.append(link);
    link.click();
    link.remove();
    URL.revokeObjectURL(url);
  }

  function theme() {
    const root = document.documentElement;
    const is_dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = is_dark ? "light" : "dark";
  }

  const KEYS = {
    j: () => next(1), ArrowDown: () => next(1), k: () => next(-1), ArrowUp: () => next(-1),
    n: () => next(1, (item) => !reviewed.has(item.id)),
    r: () => current && tick(!reviewed.has(current.id)),
    "/": () => { view("review"); at("text").focus(); },
    o: () => view("start"), e: save, t: theme, Enter: () => view("review"),
  };
  document.addEventListener("keydown", (event) => {
    const is_typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
    if (event.key === "Escape" && is_typing) { at("list").focus(); return; }
    if (is_typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.target !== document.body) return;
    const action = KEYS[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  at("show-start").addEventListener("click", () => view("start"));
  at("show-review").addEventListener("click", () => view("review"));
  at("export").addEventListener("click", save);
  at("theme").addEventListener("click", theme);
  at("list").addEventListener("scroll", draw);
  addEventListener("resize", draw);
  filters();
  start();
  draw();
})();
