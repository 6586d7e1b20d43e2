// The numbers behind the pictures: unpacking, partitions, colours, tree, effect sizes, CSV.
const TYPES = { i4: Int32Array, f8: Float64Array, f4: Float32Array, u2: Uint16Array, u1: Uint8Array };
const HUES = 12, STYLES = 96; // twelve colours × eight markers; clusters beyond are grey dots
const facts = JSON.parse(document.getElementById("facts").textContent);

async function unpack() {
  const text = atob(document.getElementById("arrays").textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const arrays = {};
  for (const [name, type, offset, length] of facts.manifest) {
    arrays[name] = new TYPES[type](buffer, offset, length);
  }
  return arrays;
}

// A partition: label of every sample; size, least sample, most prominent member (star), number and
// style of every cluster. Whoever has the same star has the same number, at every γ.
function partitionOf(labels, k, a) {
  const sizes = new Int32Array(k), least = new Int32Array(k).fill(labels.length);
  const head = new Int32Array(k).fill(-1), star = new Int32Array(k);
  for (let i = 0; i < labels.length; i++) {
    const t = labels[i];
    sizes[t]++;
    if (head[t] < 0) head[t] = i;
    if (a.ranks[i] < least[t]) { least[t] = a.ranks[i]; star[t] = i; }
  }
  const number = star.map((i) => a.numbers[i]);
  return { labels, k, sizes, head, star, number, ...stylesOf(number, sizes) };
}

// Hue (−1: grey) and shape of every cluster. The numbers below twelve have their own hue; of the
// others the largest take the hues that are left, so that up to twelve clusters all differ.
function stylesOf(number, sizes) {
  const hue = new Int32Array(number.length).fill(-1), shape = new Int32Array(number.length);
  const free = new Set(Array.from({ length: HUES }, (_, h) => h));
  number.forEach((m, t) => { if (m < HUES) { hue[t] = m; free.delete(m); } });
  for (const t of bySize(sizes)) {
    const m = number[t];
    if (hue[t] < 0 && free.size) {
      hue[t] = free.has(m % HUES) ? m % HUES : Math.min(...free);
      free.delete(hue[t]);
    } else if (hue[t] < 0 && m < STYLES) hue[t] = m % HUES;
    if (hue[t] >= 0) shape[t] = (m + Math.floor(m / HUES)) % 8;
  }
  return { hue, shape };
}

// Indices by falling size.
function bySize(sizes) {
  return Array.from({ length: sizes.length }, (_, t) => t).sort((s, t) => sizes[t] - sizes[s] || s - t);
}

// heads[i] is the least sample of i's cluster; clusters are listed by first appearance.
function partitionOfHeads(heads, a) {
  const labels = new Int32Array(heads.length);
  let k = 0;
  for (let i = 0; i < heads.length; i++) labels[i] = heads[i] === i ? k++ : labels[heads[i]];
  return partitionOf(labels, k, a);
}

class Path {
  constructor(arrays, n) {
    this.a = arrays;
    this.n = n;
    this.T = arrays.gammas.length;
    this.keys = new Map();
    this.made = new Map();
  }

  // Heads at a step, from the changes since the last kept step; every eighth is kept.
  heads(step) {
    let from = step;
    while (from >= 0 && !this.keys.has(from)) from--;
    let heads = from < 0 ? Int32Array.from({ length: this.n }, (_, i) => i) : this.keys.get(from);
    heads = heads.slice();
    const a = this.a, to = new Int32Array(this.n);
    for (let t = from + 1; t <= step; t++) {
      for (let i = 0; i < this.n; i++) to[i] = i;
      for (let e = a.absorbedAt[t]; e < a.absorbedAt[t + 1]; e++) to[a.absorbed[e]] = a.into[e];
      for (let i = 0; i < this.n; i++) heads[i] = to[heads[i]];
      for (let e = a.movedAt[t]; e < a.movedAt[t + 1]; e++) heads[a.moved[e]] = a.movedTo[e];
      if (t % 8 === 0) this.keys.set(t, heads.slice());
    }
    return heads;
  }

  at(step) {
    if (!this.made.has(step)) {
      if (this.made.size > 24) this.made.delete(this.made.keys().next().value);
      this.made.set(step, partitionOfHeads(this.heads(step), this.a));
    }
    return this.made.get(step);
  }

  // As path.labels(n_clusters=k): the first step with k clusters, otherwise k trees of the linkage.
  stepOf(k) { return this.a.counts.indexOf(k); }

  cut(k, pairs = this.a.pairs) {
    const n = this.n, merges = n - k;
    const top = new Int32Array(n + merges).fill(-1);
    for (let i = merges - 1; i >= 0; i--) {
      const up = top[n + i] < 0 ? n + i : top[n + i];
      top[pairs[2 * i]] = up;
      top[pairs[2 * i + 1]] = up;
    }
    const first = new Int32Array(n + merges).fill(-1), heads = new Int32Array(n);
    for (let i = 0; i < n; i++) {
      const node = top[i] < 0 ? i : top[i];
      if (first[node] < 0) first[node] = i;
      heads[i] = first[node];
    }
    return partitionOfHeads(heads, this.a);
  }

  // Greatest step whose γ is at most this one.
  stepAt(gamma) {
    let step = 0;
    while (step + 1 < this.T && this.a.gammas[step + 1] <= gamma * (1 + 1e-9)) step++;
    return step;
  }
}

// Every node of the linkage is a run of the leaf order.
class Tree {
  constructor(pairs, heights, n) {
    const nodes = 2 * n - 1;
    Object.assign(this, { pairs, heights, n, root: nodes - 1 });
    this.size = new Int32Array(nodes).fill(1);
    this.start = new Int32Array(nodes);
    this.parent = new Int32Array(nodes).fill(-1);
    this.height = new Float64Array(nodes);
    this.height.set(heights, n);
    for (let i = 0; i < n - 1; i++) {
      const [l, r] = [pairs[2 * i], pairs[2 * i + 1]];
      this.size[n + i] = this.size[l] + this.size[r];
      this.parent[l] = this.parent[r] = n + i;
    }
    for (let i = n - 2; i >= 0; i--) {
      const [l, r] = [pairs[2 * i], pairs[2 * i + 1]];
      this.start[l] = this.start[n + i];
      this.start[r] = this.start[n + i] + this.size[l];
    }
    this.order = new Int32Array(n);
    for (let i = 0; i < n; i++) this.order[this.start[i]] = i;
  }

  children(node) {
    return node < this.n ? [] : [this.pairs[2 * (node - this.n)], this.pairs[2 * (node - this.n) + 1]];
  }

  members(node) {
    return this.order.slice(this.start[node], this.start[node] + this.size[node]).sort();
  }

  // Label that all members of a branch share, −1 where they have several.
  shared(labels) {
    const { n, pairs } = this, found = new Int32Array(2 * n - 1);
    found.set(labels);
    for (let i = 0; i < n - 1; i++) {
      const one = found[pairs[2 * i]];
      found[n + i] = one === found[pairs[2 * i + 1]] ? one : -1;
    }
    return found;
  }

  // Merges higher than this height.
  above(height) { return this.heights.reduce((count, h) => count + (h > height), 0); }

  // The branch that holds exactly these members, or −1.
  branchOf(members) {
    let node = members[0];
    while (this.size[node] < members.length && this.parent[node] >= 0) node = this.parent[node];
    if (this.size[node] !== members.length) return -1;
    const lo = this.start[node], hi = lo + this.size[node];
    return members.every((i) => this.start[i] >= lo && this.start[i] < hi) ? node : -1;
  }

  // The topmost branches under root, in drawing order; the latest merge is opened first.
  topmost(root, most) {
    const open = [root], leaves = [];
    while (open.length && open.length + leaves.length < most) {
      let latest = 0;
      for (let i = 1; i < open.length; i++) if (open[i] > open[latest]) latest = i;
      const node = open.splice(latest, 1)[0];
      if (node < this.n) leaves.push(node); else open.push(...this.children(node));
    }
    return leaves.concat(open).sort((a, b) => this.start[a] - this.start[b]);
  }
}

// Standardised difference of means, members against the rest, for every feature (Cohen's d with
// the pooled standard deviation); sums are taken about the overall mean, so nothing cancels.
class Effects {
  constructor(values, p, n) {
    Object.assign(this, { values, p, n });
    this.mean = new Float64Array(p);
    this.square = new Float64Array(p);
    for (let f = 0; f < p; f++) {
      let sum = 0, square = 0;
      for (let i = 0; i < n; i++) sum += values[f * n + i];
      const mean = sum / n;
      for (let i = 0; i < n; i++) square += (values[f * n + i] - mean) ** 2;
      this.mean[f] = mean;
      this.square[f] = square;
    }
  }

  of(members) {
    const m = members.length, rest = this.n - m, rows = [];
    for (let f = 0; f < this.p; f++) {
      const mean = this.mean[f], base = f * this.n;
      let sum = 0, square = 0;
      for (let e = 0; e < m; e++) {
        const v = this.values[base + members[e]] - mean;
        sum += v;
        square += v * v;
      }
      // about the overall mean both groups' sums add up to zero
      const inside = sum / m, outside = rest ? -sum / rest : NaN;
      const scatter = Math.max(square - m * inside ** 2, 0) +
        Math.max(this.square[f] - square - rest * outside ** 2, 0);
      const spread = Math.sqrt(scatter / Math.max(this.n - 2, 1));
      // scatter below round-off of the sums is none
      const none = scatter <= 1e-12 * this.square[f] + 1e-14 * this.n * mean * mean;
      const gap = inside - outside;
      const d = gap === 0 ? 0 : none ? Math.sign(gap) * Infinity : gap / spread;
      rows.push({ feature: f, inside: mean + inside, outside: mean + outside, d });
    }
    return rows.sort((x, y) => Math.abs(y.d) - Math.abs(x.d) || x.feature - y.feature);
  }
}

// A cell that a spreadsheet takes for text: formulas are disarmed by an apostrophe.
function cell(value) {
  let text = String(value);
  const plainNumber = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text);
  if (!plainNumber && /^[\s]*[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(ids, labels, known) {
  const lines = [known ? "id,cluster,known_label" : "id,cluster"];
  for (let i = 0; i < labels.length; i++) {
    const row = `${cell(ids(i))},${labels[i]}`;
    lines.push(known ? `${row},${cell(known(i))}` : row);
  }
  return lines.join("\r\n") + "\r\n";
}

function short(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2).replace("-", "−");
  return Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 }).replace("-", "−");
}

function many(count, noun) { return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`; }

