// State, events and the text around the pictures. Text of users is set by textContent only.
const $ = (id) => document.getElementById(id);
const ROWS = 50; // members per page
const LISTED = 48; // clusters with a button of their own
const FOUND = 12; // search results shown

function el(tag, text, attributes = {}) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

class App {
  constructor(arrays) {
    this.a = arrays;
    this.n = facts.n;
    this.path = new Path(arrays, this.n);
    this.pathTree = new Tree(arrays.pairs, arrays.heights, this.n);
    // the tree that an estimator's labels were cut from, if it is not the path's
    this.ownTree = arrays.own_pairs
      ? new Tree(arrays.own_pairs, arrays.own_heights, this.n) : null;
    this.root = this.pathTree.root;
    this.id = facts.ids ? (i) => facts.ids[i] : (i) => String(i);
    this.known = facts.classes ? (i) => facts.classes[arrays.classes[i]] : null;
    this.effects = facts.features
      ? new Effects(arrays.features, facts.features.length, this.n) : null;
    this.frames = [];
    let offset = 0;
    for (const step of arrays.stored) {
      this.frames.push({ step, offset, index: this.frames.length });
      offset += arrays.counts[step];
    }
    this.tracks = this.layTracks(this.n > 3000 ? 200 : 300);
    this.mode = "gamma";
    this.step = facts.step;
    this.k = 1;
    this.picked = null;
    this.sample = -1;
    this.page = 0;
    this.shownFeatures = 10;
    const whole = (labels) => partitionOf(labels, labels.reduce((p, q) => Math.max(p, q), 0) + 1, arrays);
    this.own = arrays.labels ? whole(arrays.labels) : null;
    // other numbers of clusters that would stand, by their number
    this.layers = new Map();
    (facts.layers || []).forEach(({ k }, place) => { if (place) this.layers.set(k, whole(arrays[`layer${place}`])); });
    this.plane = 0;
    this.zoom = { k: 1, x: 0, y: 0 };
    this.colouring = new Colouring(arrays, this.n);
    this.colour = "cluster";
    this.start();
    this.look();
  }

  // Ways of evenly many samples through the stored steps.
  layTracks(most) {
    const chosen = [];
    const stride = Math.max(1, Math.ceil(this.n / most));
    for (let i = 0; i < this.n; i += stride) {
      chosen.push({ sample: i, xy: new Float32Array(2 * this.frames.length) });
    }
    for (const { step, offset, index } of this.frames) {
      const { labels } = this.path.at(step), p = this.a.positions;
      for (const track of chosen) {
        track.xy[2 * index] = p[2 * (offset + labels[track.sample])];
        track.xy[2 * index + 1] = p[2 * (offset + labels[track.sample]) + 1];
      }
    }
    return chosen;
  }

  // The opening view: the estimator's labels where they are known.
  start() {
    this.mode = this.ownTree ? "own" : this.own ? "chosen" : "gamma";
    this.step = facts.step;
    if (this.ownTree) this.k = this.own.k;
  }

  get tree() { return this.mode === "own" ? this.ownTree : this.pathTree; }
  get sse() { return this.mode === "own" ? this.a.own_sse : this.a.sse; }
  get byCount() { return this.mode === "k" || this.mode === "own"; }

  // What is shown: a partition, the γ it stands at, and the step whose centroids are drawn.
  look() {
    if (this.mode === "k") {
      const step = this.path.stepOf(this.k);
      if (step >= 0) this.view = { partition: this.path.at(step), step, exact: true };
      else {
        const merges = this.n - this.k, height = merges ? this.a.heights[merges - 1] : 0;
        const at = this.path.stepAt(height);
        this.view = { partition: this.path.cut(this.k), step: at, exact: false, height };
      }
    } else if (this.mode === "own") {
      const own = this.k === this.own.k;
      const partition = own ? this.own : this.layers.get(this.k) || this.path.cut(this.k, this.a.own_pairs);
      this.view = { partition, step: facts.step, exact: false, own, tree: true };
    } else if (this.mode === "chosen") {
      this.view = { partition: this.own, step: facts.step, exact: false, own: true };
    } else this.view = { partition: this.path.at(this.step), step: this.step, exact: true };
    let frame = this.frames[0];
    for (const f of this.frames) if (f.step <= this.view.step) frame = f;
    this.frame = { ...frame, partition: this.path.at(frame.step) };
    this.follow();
  }

  gamma() {
    return this.view.height === undefined ? this.a.gammas[this.view.step] : this.view.height;
  }

  // A chosen cluster is followed by its most prominent member.
  follow() {
    const p = this.view.partition;
    this.members = null;
    if (this.picked && this.picked.kind === "cluster") {
      const t = p.labels[this.picked.star];
      this.picked.label = t;
      this.members = new Int32Array(p.sizes[t]);
      for (let i = 0, e = 0; i < this.n; i++) if (p.labels[i] === t) this.members[e++] = i;
    } else if (this.picked) this.members = this.tree.members(this.picked.node);
    this.pickedSet = null;
    if (this.members) {
      this.pickedSet = new Uint8Array(this.n);
      for (const i of this.members) this.pickedSet[i] = 1;
    }
  }

  pick(picked, sample = -1) {
    this.picked = picked;
    this.sample = sample;
    this.page = 0;
    this.shownFeatures = 10;
    this.follow();
    if (sample >= 0 && this.members) {
      this.page = Math.floor(this.members.indexOf(sample) / ROWS);
    }
    draw();
  }

  pickClusterOf(sample, highlight = false) {
    const p = this.view.partition;
    this.pick({ kind: "cluster", star: p.star[p.labels[sample]] }, highlight ? sample : -1);
  }

  go(mode, value) {
    const before = this.tree;
    this.mode = mode;
    if (this.tree !== before) {
      this.root = this.tree.root;
      if (this.picked && this.picked.kind === "branch") this.picked = null;
    }
    if (mode === "gamma") this.step = Math.min(Math.max(value, 0), this.path.T - 1);
    if (this.byCount) this.k = this.layers.has(value) ? value : Math.min(Math.max(value, 1), this.sse.length);
    this.page = 0;
    this.look();
    draw();
  }
}

let app, hitPlane, hitTree, hitCounts, hitElbow, waiting = false;

function draw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    const began = performance.now();
    waiting = false;
    hitPlane = drawPlane($("plane"), app);
    hitTree = drawTree($("tree"), app);
    hitCounts = drawCounts($("counts"), app);
    hitElbow = drawElbow($("elbow"), app);
    writeBar();
    writeList();
    writeDetails();
    writeLabels();
    const root = document.documentElement.dataset;
    root.drawMs = (performance.now() - began).toFixed(1);
    root.draws = Number(root.draws || 0) + 1;
  });
}

function writeBar() {
  const { view } = app, k = view.partition.k, slider = $("slider"), byK = app.byCount;
  slider.min = byK ? 1 : 0;
  slider.max = byK ? app.sse.length : app.path.T - 1;
  slider.value = byK ? app.k : app.mode === "gamma" ? app.step : view.step;
  slider.setAttribute("aria-label", byK ? "Number of clusters" : "Fusion strength γ");
  slider.setAttribute("aria-valuetext", `γ = ${short(app.gamma())}, ${many(k, "cluster")}`);
  for (const radio of document.getElementsByName("mode")) {
    radio.checked = radio.value === (byK ? app.mode : "gamma");
  }
  const gap = app.a.gaps[view.step];
  let sure = app.a.certified[view.step] ? "certified" : "not certified";
  if (Number.isFinite(gap)) sure += `, relative duality gap ${gap.toExponential(1).replace("-", "−")}`;
  let text = `γ = ${short(app.gamma())} · ${many(k, "cluster")} · ${sure}`;
  if (view.own) text = `Estimator’s own labels · ${many(k, "cluster")} · centroids drawn at γ = ${short(app.gamma())}`;
  else if (view.tree) text = `${many(k, "cluster")} of the estimator’s tree · centroids drawn at γ = ${short(app.gamma())}`;
  else if (!view.exact) text = `${many(k, "cluster")}, cut from the tree at γ = ${short(app.gamma())} (no γ of the path has as many)`;
  $("readout").textContent = text;
  const low = byK ? app.k <= 1 : view.step <= 0;
  const high = byK ? app.k >= app.sse.length : view.step >= app.path.T - 1;
  for (const button of $("layers").querySelectorAll("button")) {
    const pressed = app.mode === "own" && Number(button.dataset.k) === app.k;
    button.setAttribute("aria-pressed", pressed ? "true" : "false");
  }
  const V = facts.views[app.plane];
  $("plane-name").textContent = app.plane === facts.moving ? "Samples and their centroids" : "Samples";
  $("plane-help").textContent = (app.plane === facts.moving
    ? "Large marks: centroids at this γ, area by size. Small marks: samples. Thin lines: the way so far."
    : "Each mark is a sample. The number of a cluster stands at its middle sample.") +
    (V.equal ? "" : " The two axes have scales of their own.") +
    " Click to choose a cluster. Drag to move, double click, Ctrl + wheel or two fingers to zoom.";
  $("zoom-out").disabled = $("zoom-whole").disabled = app.zoom.k <= 1;
  $("back").disabled = low;
  $("forth").disabled = high;
}

function writeList() {
  const p = app.view.partition, list = $("list");
  const order = bySize(p.sizes).filter((t) => p.sizes[t] > 0);
  const rows = [];
  for (const t of order.slice(0, LISTED)) {
    const button = el("button", undefined, { type: "button", "data-cluster": p.number[t] });
    const picked = app.picked && app.picked.kind === "cluster" && app.picked.label === t;
    button.setAttribute("aria-pressed", picked ? "true" : "false");
    button.append(swatch(p.hue[t], p.shape[t]), el("span", `Cluster ${p.number[t]}`), el("span", p.sizes[t].toLocaleString("en"), { class: "size" }));
    button.addEventListener("click", () => {
      if (picked) app.pick(null); else app.pickClusterOf(p.head[t]);
    });
    const item = el("li");
    item.append(button);
    rows.push(item);
  }
  const focused = document.activeElement && document.activeElement.dataset.cluster;
  list.replaceChildren(...rows);
  if (focused !== undefined) list.querySelector(`[data-cluster="${focused}"]`)?.focus({ preventScroll: true });
  $("clusters-name").textContent = many(p.k, "cluster");
  $("more").textContent = order.length > LISTED
    ? `The ${LISTED} largest are listed; the other ${many(order.length - LISTED, "cluster")} hold ` +
      `${many(order.slice(LISTED).reduce((sum, t) => sum + p.sizes[t], 0), "sample")}. Grey: without a colour of its own.`
    : "";
}

function writeDetails() {
  const { picked, members, view, tree } = app, p = view.partition;
  const shown = members || Int32Array.from({ length: app.n }, (_, i) => i);
  const share = `${((100 * shown.length) / app.n).toPrecision(3).replace(/\.?0+$/, "")} %`;
  const around = [];
  const jump = (name, node) => {
    const button = el("button", name, { type: "button" });
    button.addEventListener("click", () => app.pick({ kind: "branch", node }));
    around.push(button);
  };
  let title = "All samples", story = "Choose a cluster or a branch to see its members and what sets it apart.";
  if (picked) {
    const node = picked.kind === "branch" ? picked.node : tree.branchOf(members);
    title = picked.kind === "branch"
      ? (node < app.n ? `Sample ${app.id(node)}` : `Branch of ${many(shown.length, "sample")}`)
      : `Cluster ${p.number[picked.label]}: ${many(shown.length, "sample")}`;
    story = `${share} of the samples.`;
    if (node >= 0) {
      const own = tree === app.ownTree, where = own ? "at height" : "at γ =";
      if (node >= app.n) story += ` ${own ? "Joined" : "Fused"} ${where} ${short(tree.height[node])}.`;
      const up = tree.parent[node];
      if (up >= 0) {
        const last = app.a.gammas[app.path.T - 1];
        story += !own && tree.height[up] > last
          ? ` Still apart at the last γ, ${short(last)}.`
          : ` Joins ${many(tree.size[up] - tree.size[node], "other sample")} ${where} ${short(tree.height[up])}.`;
        jump("Branch above", up);
      }
      tree.children(node).forEach((child, i) => {
        jump(`${i ? "Second" : "First"} part (${tree.size[child].toLocaleString("en")})`, child);
      });
      if (node >= app.n && node !== app.root) {
        const zoom = el("button", "Show only this branch in the dendrogram", { type: "button" });
        zoom.addEventListener("click", () => { app.root = node; draw(); });
        around.push(zoom);
      }
      if (node >= app.n && picked.kind === "branch" && !own) {
        const move = el("button", "Move γ to where it is whole", { type: "button" });
        move.addEventListener("click", () => {
          let step = app.path.stepAt(tree.height[node]);
          if (app.a.gammas[step] < tree.height[node] * (1 - 1e-9)) step++;
          app.go("gamma", step);
        });
        around.push(move);
      }
    } else story += " The tree has no branch with exactly these members.";
    const clear = el("button", "Clear", { type: "button" });
    clear.addEventListener("click", () => app.pick(null));
    around.push(clear);
  }
  $("details-name").textContent = title;
  $("story").textContent = story;
  $("around").replaceChildren(...around);
  $("whole").hidden = app.root === tree.root;
  writeFeatures(picked ? shown : null);

  const pages = Math.max(1, Math.ceil(shown.length / ROWS));
  app.page = Math.min(app.page, pages - 1);
  const head = el("tr");
  head.append(el("th", "sample", { scope: "col" }), el("th", "cluster", { scope: "col" }));
  if (app.known) head.append(el("th", "known label", { scope: "col" }));
  const rows = [];
  for (const i of shown.subarray(app.page * ROWS, (app.page + 1) * ROWS)) {
    const row = el("tr");
    if (i === app.sample) row.className = "picked";
    row.append(el("td", app.id(i)), el("td", String(p.number[p.labels[i]])));
    if (app.known) row.append(el("td", app.known(i)));
    rows.push(row);
  }
  $("members").tHead.replaceChildren(head);
  $("members").tBodies[0].replaceChildren(...rows);
  $("members-name").textContent = picked ? "Members" : "Samples";
  const from = app.page * ROWS;
  $("page").textContent = `${(from + 1).toLocaleString("en")}–${Math.min(from + ROWS, shown.length).toLocaleString("en")} of ${shown.length.toLocaleString("en")}`;
  $("earlier").disabled = app.page === 0;
  $("later").disabled = app.page >= pages - 1;
}

function sizeWord(d) {
  const size = Math.abs(d);
  return size >= 0.8 ? "large" : size >= 0.5 ? "medium" : size >= 0.2 ? "small" : "negligible";
}

function writeFeatures(members) {
  const place = $("features");
  if (!members) return place.replaceChildren();
  const parts = [];
  if (app.known) {
    const counts = new Map();
    for (const i of members) counts.set(app.known(i), (counts.get(app.known(i)) || 0) + 1);
    const top = [...counts].sort((s, t) => t[1] - s[1]).slice(0, 6);
    const text = top.map(([name, m]) => `${name}: ${m.toLocaleString("en")} (${Math.round((100 * m) / members.length)} %)`);
    parts.push(el("h3", "Known labels here"), el("p", text.join(" · ") + (counts.size > 6 ? " · …" : "")));
  }
  parts.push(el("h3", "What sets it apart"));
  if (!app.effects) parts.push(el("p", "No features were given with this report.", { class: "help" }));
  else if (members.length === app.n) parts.push(el("p", "It holds every sample: there is nothing to compare it with.", { class: "help" }));
  else {
    const effects = app.effects.of(members), shown = effects.slice(0, app.shownFeatures);
    const most = Math.max(...shown.map((e) => (Number.isFinite(e.d) ? Math.abs(e.d) : 0)), 1e-9);
    const table = el("table"), head = el("tr");
    for (const [name, kind] of [["feature", ""], ["mean here", "number"], ["mean elsewhere", "number"], ["effect size d", "number"], ["", ""], ["", ""]]) {
      head.append(el("th", name, kind ? { class: kind, scope: "col" } : { scope: "col" }));
    }
    const body = el("tbody"), thead = el("thead");
    for (const { feature, inside, outside, d } of shown) {
      const row = el("tr"), bar = el("div", undefined, { class: "barcell", "aria-hidden": "true" }), fill = el("div");
      const width = 50 * (Number.isFinite(d) ? Math.abs(d) / most : 1);
      fill.style.width = `${width}%`;
      fill.style.left = d >= 0 ? "50%" : `${50 - width}%`;
      if (d < 0) fill.className = "minus";
      bar.append(fill);
      const holder = el("td");
      holder.append(bar);
      row.append(el("td", facts.features[feature]), el("td", short(inside), { class: "number" }),
        el("td", short(outside), { class: "number" }), el("td", short(d), { class: "number" }),
        el("td", sizeWord(d), { class: "word" }), holder);
      body.append(row);
    }
    thead.append(head);
    table.append(thead, body);
    parts.push(table);
    if (effects.length > app.shownFeatures) {
      const more = el("button", "Show more features", { type: "button", id: "more-features" });
      more.addEventListener("click", () => { app.shownFeatures += 20; draw(); });
      parts.push(more);
    }
    let note = "d: difference of the means over the pooled standard deviation, these samples against all others. It describes; clusters were made to differ, so it is no test.";
    if (facts.n_features > facts.features.length) {
      note += ` Kept here: the ${facts.features.length.toLocaleString("en")} of ${many(facts.n_features, "feature")} that the opening clusters explain best.`;
    }
    parts.push(el("p", note, { class: "help" }));
  }
  place.replaceChildren(...parts);
}

function writeLabels() {
  const k = app.view.partition.k, here = `γ = ${short(app.gamma())}, ${many(k, "cluster")}`;
  $("plane").setAttribute("aria-label", `Samples in the plane of ${facts.views[app.plane].name} at ${here}`);
  $("tree").setAttribute("aria-label", `Dendrogram with a cursor at ${here}`);
  $("counts").setAttribute("aria-label", `Number of clusters against γ with a cursor at ${here}`);
  $("elbow").setAttribute("aria-label", `Sum of squares against the number of clusters with a cursor at ${many(k, "cluster")}`);
}

