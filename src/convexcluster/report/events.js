// Pointer, keyboard, search, download, colour scheme; then the start.
function at(event) {
  const box = event.currentTarget.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

// Sample under the pointer: the nearest centroid's if its mark is met, otherwise the nearest dot.
function sampleAt(px, py) {
  let best = -1, least = Infinity;
  for (const { x, y, r, sample } of hitPlane.hits) {
    const gap = Math.hypot(x - px, y - py) - r;
    if (gap < 4 && gap < least) { least = gap; best = sample; }
  }
  if (best >= 0) return [best, false];
  least = 9;
  for (let i = 0; i < app.n; i++) {
    const [x, y] = hitPlane.place(i), gap = Math.hypot(x - px, y - py);
    if (gap < least) { least = gap; best = i; }
  }
  return [best, true];
}

function branchAt(px, py) {
  let best = -1, least = 6;
  for (const { node, x0, x1, y0, y1 } of hitTree.segments || []) {
    const gap = Math.hypot(Math.max(x0 - px, 0, px - x1), Math.max(y0 - py, 0, py - y1));
    if (gap < least) { least = gap; best = node; }
  }
  return best;
}

function tip(event, text) {
  const box = $("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  box.style.left = `${Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8)}px`;
  box.style.top = `${Math.min(event.clientY + 14, window.innerHeight - box.offsetHeight - 8)}px`;
}

// The value that a sample is coloured by.
function valueOf(sample) {
  if (app.colour === "cluster") return "";
  if (app.colour === "known") return `, ${app.known(sample)}`;
  const { values, name } = app.colouring.scale(app.colour);
  return `, ${clip(name, 40)} ${short(values[sample])}`;
}

// Drag, wheel, two fingers, double click. A drag is no click.
let dragged = false;
function listenZoom(canvas) {
  const down = new Map();
  const spread = () => { const [p, q] = [...down.values()]; return Math.hypot(p[0] - q[0], p[1] - q[1]); };
  canvas.addEventListener("pointerdown", (event) => {
    dragged = false;
    down.set(event.pointerId, at(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    const [x, y] = at(event), [u, v] = down.get(event.pointerId);
    if (!dragged && Math.hypot(x - u, y - v) < 4) return;
    if (!dragged) canvas.setPointerCapture(event.pointerId);
    dragged = true;
    const before = down.size === 2 ? spread() : 0;
    down.set(event.pointerId, [x, y]);
    if (before) {
      const [p, q] = [...down.values()];
      zoomAt(app, spread() / before, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2);
    } else panBy(app, x - u, y - v);
  });
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => down.delete(event.pointerId));
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    zoomAt(app, Math.exp(-event.deltaY / 300), ...at(event));
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => zoomAt(app, 2, ...at(event)));
  const middle = (factor) => zoomAt(app, factor, ...middleOf(app));
  $("zoom-in").addEventListener("click", () => middle(1.5));
  $("zoom-out").addEventListener("click", () => middle(1 / 1.5));
  $("zoom-whole").addEventListener("click", () => middle(1e-9));
}

const PICTURES = { plane: drawPlane, tree: drawTree, counts: drawCounts, elbow: drawElbow };

// A picture as a file: the same drawing on a sheet of its own.
function keep(id, kind) {
  const { clientWidth: w, clientHeight: h } = $(id), name = `${id}_k${app.view.partition.k}.${kind}`;
  if (kind === "svg") {
    const c = new Sketch(w, h);
    PICTURES[id]({ sheet: { c, w, h } }, app);
    return download(name, new Blob([c.text()], { type: "image/svg+xml" }));
  }
  const canvas = el("canvas"), c = canvas.getContext("2d"), ratio = 3; // sharp on a slide
  [canvas.width, canvas.height] = [w * ratio, h * ratio];
  c.scale(ratio, ratio);
  PICTURES[id]({ sheet: { c, w, h } }, app);
  canvas.toBlob((blob) => download(name, blob), "image/png");
}

function download(name, blob) {
  const link = el("a", undefined, { download: name });
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function listenTools() {
  const view = $("view"), colour = $("colour");
  facts.views.forEach(({ name }, place) => view.append(el("option", name, { value: place })));
  view.parentElement.hidden = facts.views.length < 2;
  view.addEventListener("change", () => {
    app.plane = Number(view.value);
    app.zoom = { k: 1, x: 0, y: 0 };
    panBy(app, 0, 0);
  });
  const features = el("optgroup", undefined, { label: "features" });
  for (const [key, name] of app.colouring.choices) {
    (key.startsWith("feature:") ? features : colour).append(el("option", name, { value: key }));
  }
  if (features.children.length) colour.append(features);
  colour.parentElement.hidden = app.colouring.choices.length < 2;
  colour.addEventListener("change", () => { app.colour = colour.value; draw(); });
  for (const id of Object.keys(PICTURES)) {
    const title = $(`${id}-name`), place = el("span", undefined, { class: "keep" });
    for (const kind of ["png", "svg"]) {
      const button = el("button", kind.toUpperCase(), { type: "button", id: `${id}-${kind}`, "aria-label": `${title.textContent} as ${kind.toUpperCase()} file` });
      button.addEventListener("click", () => keep(id, kind));
      place.append(button);
    }
    const head = el("div", undefined, { class: "head" });
    title.replaceWith(head);
    head.append(title, place);
  }
  if ((facts.layers || []).length < 2 || !app.ownTree) return;
  $("layers").hidden = false;
  facts.layers.forEach(({ k, confidence }, place) => {
    const sure = confidence === null ? "" : ` · ${confidence.toFixed(2)}`;
    const button = el("button", `${many(k, "cluster")}${sure}`, { type: "button", "data-k": k });
    button.title = `${place ? "Would also stand" : "The choice"}${sure && `, confidence ${confidence.toFixed(2)} of 1`}`;
    button.addEventListener("click", () => { play(false); app.go("own", k); });
    $("layers").append(button);
  });
}

function listenPictures() {
  listenZoom($("plane"));
  $("plane").addEventListener("click", (event) => {
    if (dragged) return;
    const [sample, single] = sampleAt(...at(event));
    if (sample < 0) app.pick(null); else app.pickClusterOf(sample, single);
  });
  $("plane").addEventListener("pointermove", (event) => {
    const [sample, single] = sampleAt(...at(event)), p = app.view.partition;
    if (sample < 0) return tip(event, "");
    const t = p.labels[sample], cluster = `cluster ${p.number[t]}, ${many(p.sizes[t], "sample")}`;
    tip(event, single ? `${app.id(sample)}: ${cluster}${valueOf(sample)}` : cluster);
  });
  $("plane").addEventListener("keydown", (event) => {
    const near = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, 0: 1e-9 }[event.key];
    if (near) return zoomAt(app, near, ...middleOf(app));
    const pan = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (event.shiftKey && pan) {
      event.preventDefault();
      event.stopPropagation();
      return panBy(app, ...pan);
    }
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const p = app.view.partition, order = bySize(p.sizes);
    const here = app.picked && app.picked.kind === "cluster" ? order.indexOf(app.picked.label) : way > 0 ? -1 : 0;
    app.pickClusterOf(p.head[order[(here + way + p.k) % p.k]]);
  });
  $("tree").addEventListener("click", (event) => {
    const [px, py] = at(event), node = branchAt(px, py);
    if (node >= 0) app.pick({ kind: "branch", node });
    else if (app.mode === "own") app.go("own", app.tree.above(hitTree.x.back(px)) + 1);
    else if (hitTree.x) app.go("gamma", app.path.stepAt(hitTree.x.back(px)));
  });
  $("tree").addEventListener("pointermove", (event) => {
    const node = branchAt(...at(event));
    if (node < 0) return tip(event, "");
    tip(event, node < app.n ? app.id(node)
      : `${many(app.tree.size[node], "sample")}, ` +
        (app.mode === "own" ? "joined at height " : "fused at γ = ") + short(app.tree.height[node]));
  });
  $("tree").addEventListener("keydown", (event) => {
    const { tree, picked } = app;
    const node = picked && picked.kind === "branch" ? picked.node : app.root;
    const up = tree.parent[node], [first, second] = tree.children(node);
    let to = { ArrowRight: up, ArrowLeft: first, ArrowDown: second, ArrowUp: first }[event.key];
    if (event.key in { ArrowDown: 1, ArrowUp: 1 } && up >= 0) {
      to = tree.children(up)[event.key === "ArrowDown" ? 1 : 0];
    }
    if (event.key === "Enter" && node >= app.n) { app.root = node; return draw(); }
    if (to === undefined || to < 0) return;
    event.preventDefault();
    app.pick({ kind: "branch", node: to });
  });
  $("counts").addEventListener("click", (event) => {
    app.go("gamma", app.path.stepAt(hitCounts.x.back(at(event)[0])));
  });
  $("counts").addEventListener("pointermove", (event) => {
    const step = app.path.stepAt(hitCounts.x.back(at(event)[0]));
    tip(event, `γ = ${short(app.a.gammas[step])}: ${many(app.a.counts[step], "cluster")}`);
  });
  $("elbow").addEventListener("click", (event) => app.go(app.mode === "own" ? "own" : "k", Math.round(hitElbow.x.back(at(event)[0]))));
  $("elbow").addEventListener("pointermove", (event) => {
    const k = Math.min(Math.max(Math.round(hitElbow.x.back(at(event)[0])), 1), app.sse.length);
    tip(event, `${many(k, "cluster")}: ${short(app.sse[k - 1])}`);
  });
  for (const id of ["plane", "tree", "counts", "elbow"]) {
    $(id).addEventListener("pointerleave", (event) => tip(event, ""));
  }
}

function nudge(by) {
  if (app.byCount) app.go(app.mode, app.k + by);
  else app.go("gamma", (app.mode === "gamma" ? app.step : app.view.step) + by);
}

let playing = 0;
function play(on) {
  clearInterval(playing);
  playing = 0;
  $("play").setAttribute("aria-pressed", on ? "true" : "false");
  $("play").textContent = on ? "Pause" : "Play";
  if (!on) return;
  const last = () => (app.byCount ? app.k <= 1 : app.view.step >= app.path.T - 1);
  if (last()) app.go(app.byCount ? app.mode : "gamma", app.byCount ? app.sse.length : 0);
  playing = setInterval(() => {
    nudge(app.byCount ? -1 : 1);
    if (last()) play(false);
  }, 160);
}

function listenBar() {
  $("slider").addEventListener("input", () => {
    play(false);
    app.go(app.byCount ? app.mode : "gamma", Number($("slider").value));
  });
  $("back").addEventListener("click", () => nudge(-1));
  $("forth").addEventListener("click", () => nudge(1));
  $("play").addEventListener("click", () => play(!playing));
  for (const radio of document.getElementsByName("mode")) {
    radio.addEventListener("change", () => {
      play(false);
      if (radio.value === "gamma") app.go("gamma", app.view.step);
      else app.go(radio.value, app.view.partition.k);
    });
  }
  $("chosen").hidden = !facts.chosen || !$("layers").hidden;
  $("own-choice").hidden = !app.ownTree;
  $("chosen").addEventListener("click", () => {
    if (app.ownTree) app.go("own", app.own.k);
    else if (app.own) app.go("chosen");
    else app.go("gamma", facts.step);
  });
  $("download").addEventListener("click", () => {
    const p = app.view.partition, text = csv(app.id, p.labels.map((t) => p.number[t]), app.known);
    // the mark at the start tells spreadsheets that this is UTF-8
    download(`labels_k${p.k}_gamma${app.gamma().toPrecision(4)}.csv`, new Blob(["\ufeff", text], { type: "text/csv" }));
  });
  $("earlier").addEventListener("click", () => { app.page--; draw(); });
  $("later").addEventListener("click", () => { app.page++; draw(); });
  $("whole").addEventListener("click", () => { app.root = app.tree.root; draw(); });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === "Escape") { $("found").replaceChildren(); app.pick(null); }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") { event.preventDefault(); $("search").focus(); }
    if (event.target.id === "tree") return;
    if (event.key === "ArrowLeft") nudge(-1);
    if (event.key === "ArrowRight") nudge(1);
  });
}

function search() {
  const wanted = $("search").value.trim().toLowerCase(), rows = [];
  let hidden = 0;
  if (wanted) {
    const exact = [], partial = [];
    for (let i = 0; i < app.n; i++) {
      const id = app.id(i).toLowerCase();
      if (id === wanted) exact.push(i);
      else if (id.includes(wanted)) { if (partial.length < FOUND) partial.push(i); else hidden++; }
    }
    const found = exact.concat(partial);
    hidden += Math.max(found.length - FOUND, 0);
    for (const i of found.slice(0, FOUND)) {
      const p = app.view.partition;
      const button = el("button", `${app.id(i)}: cluster ${p.number[p.labels[i]]}`, { type: "button", "data-sample": i });
      button.addEventListener("click", () => app.pickClusterOf(i, true));
      const item = el("li");
      item.append(button);
      rows.push(item);
    }
    if (!found.length) rows.push(el("li", "No sample has this in its name.", { class: "help" }));
    if (hidden) rows.push(el("li", `and ${many(hidden, "other")}: type more of the name`, { class: "help" }));
  }
  $("found").replaceChildren(...rows);
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
  readTheme();
}

function begin(arrays) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => { setTheme(dark.matches ? "dark" : "light"); draw(); });
  $("theme").addEventListener("click", () => {
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    draw();
  });
  $("title").textContent = facts.title;
  $("summary").textContent = facts.summary;
  $("verdict").textContent = facts.verdict;
  $("choice").textContent = facts.choice;
  const theorem = [...facts.theorem];
  if (facts.splits) theorem.push(`${many(facts.splits, "cluster")} split again as γ grew; the tree keeps together what was together once.`);
  if (!facts.complete) theorem.push("The path was interrupted before its end.");
  if (arrays.stored.length < arrays.gammas.length) {
    theorem.push(`To keep this file small, centroids are drawn at ${arrays.stored.length} of the ${arrays.gammas.length} values of γ.`);
  }
  for (const [id, sentences] of [["plain", facts.plain], ["theorem", theorem], ["samples", facts.samples]]) {
    $(id).replaceChildren(...sentences.map((text) => el("li", text)));
    $(id).parentElement.hidden = !sentences.length;
  }
  $("footer").textContent = `Made by convexcluster ${facts.version}. This file fetches nothing and sends nothing.`;
  app = new App(arrays);
  listenTools();
  listenPictures();
  listenBar();
  $("search").addEventListener("input", search);
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") $("found").querySelector("button")?.click();
  });
  new ResizeObserver(draw).observe(document.querySelector("main"));
  draw();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    document.documentElement.dataset.ready = performance.now().toFixed(0);
  }));
}

unpack().then(begin).catch((error) => {
  $("failure").hidden = false;
  $("failure").textContent = `This report could not be drawn: ${error.message}. A browser of 2023 or later is needed.`;
  console.error(error);
});
