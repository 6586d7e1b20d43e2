// Samples and centroids in the plane of the first two kernel principal components.
// Small squares, one call each.
class Squares {
  constructor(c) { this.c = c; }
  add(x, y, side, rank, alpha) {
    this.c.globalAlpha = alpha;
    this.c.fillStyle = colourOf(rank);
    this.c.fillRect(x - side / 2, y - side / 2, side, side);
  }
  done() { this.c.globalAlpha = 1; }
}

// The same, blended into an image: twenty thousand calls would take longer than a step may.
class Pixels {
  constructor(c, w, h) {
    this.c = c;
    this.ratio = window.devicePixelRatio || 1;
    this.image = c.createImageData(Math.round(w * this.ratio), Math.round(h * this.ratio));
    this.rgb = new Map();
  }
  add(x, y, side, rank, alpha) {
    const { ratio } = this, { width, height, data } = this.image, colour = colourOf(rank);
    if (!this.rgb.has(colour)) this.rgb.set(colour, [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)));
    const [r, g, b] = this.rgb.get(colour), s = Math.max(1, Math.round(side * ratio));
    const left = Math.round(x * ratio - s / 2), top = Math.round(y * ratio - s / 2);
    for (let v = Math.max(top, 0); v < Math.min(top + s, height); v++) {
      for (let u = Math.max(left, 0); u < Math.min(left + s, width); u++) {
        const at = 4 * (v * width + u), under = (data[at + 3] / 255) * (1 - alpha), over = alpha + under;
        data[at] = (r * alpha + data[at] * under) / over;
        data[at + 1] = (g * alpha + data[at + 1] * under) / over;
        data[at + 2] = (b * alpha + data[at + 2] * under) / over;
        data[at + 3] = 255 * over;
      }
    }
  }
  done() { this.c.putImageData(this.image, 0, 0); }
}

function drawPlane(canvas, app) {
  const { c, w, h } = fresh(canvas), { view, frame, a } = app, pad = 26;
  const [ex, ey] = facts.extent;
  const s = Math.min((w - 2 * pad) / Math.max(ex, 1e-9), (h - 2 * pad - 14) / Math.max(ey, 1e-9));
  const ox = (w - s * ex) / 2, oy = (h - 14 - s * ey) / 2 + s * ey;
  const X = (q) => ox + (q / 65535) * s, Y = (q) => oy - (q / 65535) * s;
  const P = view.partition, chosen = app.pickedSet;

  const F = frame.partition, n = P.labels.length, many = P.k > 1500;
  // a cluster is drawn at the mean of its members' centroids, which is its own at a step of the path
  const sums = new Float64Array(2 * P.k);
  for (let i = 0; i < n; i++) {
    const from = 2 * (frame.offset + F.labels[i]), to = 2 * P.labels[i];
    sums[to] += a.positions[from];
    sums[to + 1] += a.positions[from + 1];
  }
  const place = (t) => [X(sums[2 * t] / P.sizes[t]), Y(sums[2 * t + 1] / P.sizes[t])];
  const faint = (i) => chosen && !chosen[i];
  const dot = n > 3000 ? 2 : n > 150 ? 4 : 6;
  const dots = n > 1500 ? new Pixels(c, w, h) : new Squares(c);
  for (let i = 0; i < n; i++) {
    dots.add(X(a.data[2 * i]), Y(a.data[2 * i + 1]), dot, P.rank[P.labels[i]], faint(i) ? 0.12 : 0.75);
  }
  if (many) {
    for (let t = 0; t < P.k; t++) {
      if (P.sizes[t] === 1) dots.add(...place(t), 3, P.rank[t], faint(P.head[t]) ? 0.2 : 1);
    }
  }
  dots.done();

  c.lineWidth = 1;
  for (const { sample, xy } of app.tracks) {
    c.strokeStyle = colourOf(P.rank[P.labels[sample]]);
    c.globalAlpha = faint(sample) ? 0.07 : 0.4;
    c.beginPath();
    let x = X(a.data[2 * sample]), y = Y(a.data[2 * sample + 1]);
    c.moveTo(x, y);
    for (let f = 0; f <= frame.index; f++) {
      const u = X(xy[2 * f]), v = Y(xy[2 * f + 1]);
      // steps of less than a pixel cannot be seen, except the last
      if (f < frame.index && Math.abs(u - x) + Math.abs(v - y) < 1) continue;
      c.lineTo(u, v);
      [x, y] = [u, v];
    }
    c.stroke();
  }
  c.globalAlpha = 1;

  const unit = many ? 1.6 : Math.min(5.5, 90 / Math.sqrt(P.k));
  const most = 0.05 * Math.min(w, h), hits = [];
  const order = Array.from({ length: P.k }, (_, t) => t).sort((p, q) => P.sizes[q] - P.sizes[p]);
  for (const t of order) {
    const [x, y] = place(t), sample = P.head[t];
    const r = Math.min(unit + most * Math.sqrt(P.sizes[t] / n), most + unit);
    if (!many || P.sizes[t] > 1) mark(c, P.rank[t], x, y, r, faint(sample) ? 0.2 : 1);
    hits.push({ x, y, r, sample });
  }
  if (app.sample >= 0) {
    const i = app.sample, x = X(a.data[2 * i]), y = Y(a.data[2 * i + 1]);
    c.strokeStyle = ink.pick;
    c.lineWidth = 2.5;
    c.beginPath();
    c.arc(x, y, 9, 0, 7);
    c.stroke();
    c.fillStyle = ink.ink;
    c.textAlign = x > w - 120 ? "right" : "left";
    c.fillText(clip(app.id(i), 24), x + (x > w - 120 ? -13 : 13), y);
  }
  c.fillStyle = ink.soft;
  c.textAlign = "center";
  c.fillText(facts.axes[0], w / 2, h - 8);
  c.save();
  c.translate(9, h / 2);
  c.rotate(-Math.PI / 2);
  c.fillText(facts.axes[1], 0, 0);
  c.restore();
  return { hits, X, Y };
}

