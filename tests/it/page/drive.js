// Drives the page as a user would, and leaves what it saw in an element of its own.
(() => {
  const at = (id) => document.getElementById(id);
  const seen = { errors: [] };
  addEventListener("error", (event) => seen.errors.push(event.message));
  const key = (name) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  const count = () => Number(at("count").textContent.split(" ")[0]);
  // What a step costs, with the layout that it causes.
  const slowest = { ms: 0 };
  const step = (action) => {
    const start = performance.now();
    action();
    document.body.offsetHeight;
    at("sources").scrollHeight;
    slowest.ms = Math.max(slowest.ms, performance.now() - start);
  };
  let exported = "";
  const RealBlob = Blob;
  window.Blob = function (parts, options) { exported = parts.join(""); return new RealBlob(parts, options); };
  HTMLAnchorElement.prototype.click = () => {};

  seen.tiles = at("start").querySelectorAll(".tile").length;
  seen.worst = at("worst").querySelector("td").textContent;
  step(() => at("show-review").click());
  seen.all = count();
  const statuses = [...at("statuses").querySelectorAll("input")];
  const only = (name) => statuses.forEach((box) => { if (box.checked !== (box.value === name)) box.click(); });
  seen.by_status = {};
  for (const box of statuses) { step(() => only(box.value)); seen.by_status[box.value] = count(); }
  statuses.forEach((box) => { if (!box.checked) step(() => box.click()); });
  const choose = (id, value) => step(() => { at(id).value = value; at(id).dispatchEvent(new Event("change")); });
  choose("file", at("file").options[1].value);
  seen.of_file = count();
  choose("file", "");
  choose("code", at("code").options[1].value);
  seen.of_code = count();
  seen.code = at("code").value;
  seen.card = at("card").textContent;
  // The first two are ticked: one by the mouse, one by a key.
  step(() => at("reviewed").click());
  step(() => key("j"));
  step(() => key("r"));
  choose("code", "");
  seen.progress = at("progress").textContent;
  for (let press = 0; press < 200; press += 1) step(() => key("j"));
  step(() => { at("list").scrollTop = at("rows").clientHeight; at("list").dispatchEvent(new Event("scroll")); });
  seen.rows_in_page = at("rows").children.length;
  seen.marked = document.querySelectorAll(".pair.here").length;
  seen.environment = [...document.querySelectorAll("#environment")].length;
  step(() => key("t"));
  seen.theme = document.documentElement.dataset.theme;
  key("e");
  seen.exported = exported;
  seen.slowest_ms = slowest.ms;
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
})();
