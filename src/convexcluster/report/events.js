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
    const gap = Math.hypot(hitPlane.X(app.a.data[2 * i]) - px, hitPlane.Y(app.a.data[2 * i + 1]) - py);
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

function listenPictures() {
  $("plane").addEventListener("click", (event) => {
    const [sample, single] = sampleAt(...at(event));
    if (sample < 0) app.pick(null); else app.pickClusterOf(sample, single);
  });
  $("plane").addEventListener("pointermove", (event) => {
    const [sample, single] = sampleAt(...at(event)), p = app.view.partition;
    if (sample < 0) return tip(event, "");
    const t = p.labels[sample], cluster = `cluster ${t}, ${many(p.sizes[t], "sample")}`;
    tip(event, single ? `${app.id(sample)}: ${cluster}` : cluster);
  });
  $("plane").addEventListener("keydown", (event) => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const p = app.view.partition;
    const order = Array.from({ length: p.k }, (_, t) => t).sort((s, t) => p.sizes[t] - p.sizes[s] || s - t);
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
  $("chosen").hidden = !facts.chosen;
  $("own-choice").hidden = !app.ownTree;
  $("chosen").addEventListener("click", () => {
    if (app.ownTree) app.go("own", app.own.k);
    else if (app.own) app.go("chosen");
    else app.go("gamma", facts.step);
  });
  $("download").addEventListener("click", () => {
    const text = csv(app.id, app.view.partition.labels, app.known);
    // the mark at the start tells spreadsheets that this is UTF-8
    const link = el("a", undefined, { download: `labels_k${app.view.partition.k}_gamma${app.gamma().toPrecision(4)}.csv` });
    link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
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
      const button = el("button", `${app.id(i)}: cluster ${p.labels[i]}`, { type: "button", "data-sample": i });
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
  $("theme").textContent = name === "dark" ? "Light colours" : "Dark colours";
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
  $("choice").textContent = facts.choice;
  const sentences = [...facts.certificate];
  if (facts.splits) sentences.push(`${many(facts.splits, "cluster")} split again as γ grew; the tree keeps together what was together once.`);
  if (!facts.complete) sentences.push("The path was interrupted before its end.");
  if (arrays.stored.length < arrays.gammas.length) {
    sentences.push(`To keep this file small, centroids are drawn at ${arrays.stored.length} of the ${arrays.gammas.length} values of γ.`);
  }
  $("certificate").replaceChildren(...sentences.map((text) => el("li", text)));
  $("footer").textContent = `Made by convexcluster ${facts.version}. This file fetches nothing and sends nothing.`;
  app = new App(arrays);
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
