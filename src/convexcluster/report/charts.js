// Dendrogram, cluster counts and elbow; each returns what can be hit in it.
function drawTree(canvas, app) {
  const { c, w, h } = fresh(canvas), tree = app.tree, root = app.root;
  if (tree.n < 2) return [];
  const box = { left: 92, right: 12, top: 6, bottom: h - 36 }, own = app.mode === "own";
  const [lo, hi] = own ? [0, tree.height[tree.root] * 1.05 || 1] : gammaRange(app.a.gammas);
  const x = scale(lo, hi, box.left, w - box.right, !own), shared = tree.shared(app.view.partition.labels);
  const leaves = tree.topmost(root, Math.max(8, Math.floor((box.bottom - box.top) / 12)));
  const place = new Map(), step = (box.bottom - box.top) / leaves.length, segments = [];
  leaves.forEach((node, i) => place.set(node, box.top + (i + 0.5) * step));
  const end = x(hi), walk = [[root, end]], inner = [];
  // parents before children
  while (walk.length) {
    const [node, right] = walk.pop(), leaf = place.has(node);
    const colour = shared[node] < 0 ? ink.ink : paint(app.view.partition.hue[shared[node]]);
    inner.push({ node, colour, right, leaf });
    if (!leaf) for (const child of tree.children(node)) walk.push([child, x(tree.height[node])]);
  }
  for (let i = inner.length - 1; i >= 0; i--) {
    const { node, leaf } = inner[i];
    if (!leaf) {
      const [l, r] = tree.children(node);
      place.set(node, (place.get(l) + place.get(r)) / 2);
    }
  }
  for (const { node, colour, right, leaf } of inner) {
    const y = place.get(node), left = leaf ? box.left : x(tree.height[node]);
    const picked = app.picked && app.picked.kind === "branch" && app.picked.node === node;
    c.strokeStyle = colour;
    c.lineWidth = picked ? 4 : 1.6;
    c.beginPath();
    c.moveTo(left, y);
    c.lineTo(node === root ? Math.min(right, left + 14) : right, y);
    segments.push({ node, x0: left, x1: right, y0: y, y1: y });
    if (!leaf) {
      const ys = tree.children(node).map((child) => place.get(child));
      c.moveTo(left, ys[0]);
      c.lineTo(left, ys[1]);
      segments.push({ node, x0: left, x1: left, y0: Math.min(...ys), y1: Math.max(...ys) });
    }
    c.stroke();
    if (leaf) {
      c.fillStyle = ink.soft;
      c.textAlign = "right";
      c.font = step < 14 ? "10px system-ui, sans-serif" : FONT;
      const size = tree.size[node];
      c.fillText(size === 1 ? clip(app.id(node), 14) : `(${size.toLocaleString("en")})`, box.left - 6, y);
      c.font = FONT;
    }
  }
  const name = own ? "height in the tree that the estimator cut" : "fusion strength γ (log scale)";
  axes(c, w, h, box, x, null, own ? evenTicks(lo, hi, false) : logTicks(lo, hi), [], name, "");
  cursor(c, x(own ? cutHeight(tree, app.k) : app.gamma()), box.top, box.bottom);
  return { segments, x };
}

// Midway between the last merge that k clusters keep and the first that they undo.
function cutHeight(tree, k) {
  const at = (row) => (row < 0 ? 0 : row >= tree.n - 1 ? tree.height[tree.root] * 1.03 : tree.heights[row]);
  return (at(tree.n - k - 1) + at(tree.n - k)) / 2;
}

function drawCounts(canvas, app) {
  const { c, w, h } = fresh(canvas), { gammas, counts, certified } = app.a;
  const box = { left: 62, right: 12, top: 8, bottom: h - 38 };
  const [lo, hi] = gammaRange(gammas), x = scale(lo, hi, box.left, w - box.right, true);
  const most = counts.reduce((p, q) => Math.max(p, q), 1), log = most > 50;
  const y = scale(log ? 0.85 : 0, most * (log ? 1.2 : 1.08), box.bottom, box.top, log);
  if (facts.lifetime) {
    c.fillStyle = ink.shade;
    const from = x(facts.lifetime[0]);
    c.fillRect(from, box.top, Math.max(x(facts.lifetime[1]) - from, 1), box.bottom - box.top);
  }
  const yTicks = log ? logTicks(0.85, most * 1.2) : evenTicks(0, most, true);
  axes(c, w, h, box, x, y, logTicks(lo, hi), yTicks, "fusion strength γ (log scale)", "clusters");
  c.strokeStyle = ink.accent;
  c.lineWidth = 1.6;
  c.beginPath();
  for (let t = 0; t < gammas.length; t++) {
    if (t) c.lineTo(x(gammas[t]), y(counts[t - 1])); else c.moveTo(x(gammas[0]), y(counts[0]));
    c.lineTo(x(gammas[t]), y(counts[t]));
  }
  c.stroke();
  for (let t = 0; t < gammas.length; t++) {
    c.beginPath();
    c.arc(x(gammas[t]), y(counts[t]), gammas.length > 120 ? 1.8 : 3, 0, 7);
    c.fillStyle = certified[t] ? ink.accent : ink.panel;
    c.fill();
    c.stroke();
  }
  cursor(c, x(app.gamma()), box.top, box.bottom);
  return { x, y };
}

function drawElbow(canvas, app) {
  const { c, w, h } = fresh(canvas), sse = app.sse, K = sse.length;
  const box = { left: 62, right: 12, top: 8, bottom: h - 38 };
  const x = scale(0.5, K + 0.5, box.left, w - box.right, false);
  const top = sse[0] * 1.05 || 1, y = scale(0, top, box.bottom, box.top, false);
  axes(c, w, h, box, x, y, evenTicks(1, K, true).filter((v) => v >= 1), evenTicks(0, top, false),
    "number of clusters k", "sum of squares");
  c.strokeStyle = ink.accent;
  c.fillStyle = ink.accent;
  c.lineWidth = 1.6;
  c.beginPath();
  for (let k = 1; k <= K; k++) c.lineTo(x(k), y(sse[k - 1]));
  c.stroke();
  for (let k = 1; k <= K; k++) {
    c.beginPath();
    c.arc(x(k), y(sse[k - 1]), 2.6, 0, 7);
    c.fill();
  }
  const k = app.view.partition.k;
  if (k <= K) cursor(c, x(k), box.top, box.bottom);
  else {
    c.fillStyle = ink.soft;
    c.textAlign = "right";
    c.fillText(`k = ${k.toLocaleString("en")} lies to the right →`, w - box.right, box.top + 8);
  }
  return { x };
}

