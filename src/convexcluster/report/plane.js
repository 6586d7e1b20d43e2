// Samples and centroids in a plane that the reader chooses, moves, magnifies and colours.
const NUMBERED = 24; // clusters that carry their number in the picture
const CLOSEST = 60; // greatest magnification: places have 16 bits

// Small squares, one call each.
class Squares {
  constructor(c) { this.c = c; }
  add(x, y, side, colour, alpha) {
    this.c.globalAlpha = alpha;
    this.c.fillStyle = colour;
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
  add(x, y, side, colour, alpha) {
    const { ratio } = this, { width, height, data } = this.image;
    if (!this.rgb.has(colour)) this.rgb.set(colour, rgb(colour));
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

// What the samples can be coloured by, besides clusters: values on a scale, or known labels.
class Colouring {
  constructor(a, n) {
    Object.assign(this, { a, n, kept: new Map() });
    this.choices = [["cluster", "cluster"]];
    if (facts.classes) this.choices.push(["known", "known label"]);
    if (a.membership) this.choices.push(["membership", "membership"], ["lonely", "outlier score"]);
    (facts.features || []).forEach((name, f) => this.choices.push([`feature:${f}`, name]));
  }

  // Values of every sample with the ends of the scale: all of them, or all but one in a hundred.
  scale(kind) {
    if (this.kept.has(kind)) return this.kept.get(kind);
    const { a, n } = this, f = Number(kind.split(":")[1]);
    let values, low = 0, high = 1;
    if (kind === "membership") values = Float32Array.from(a.membership, (v) => v / 255);
    else {
      values = kind === "lonely" ? a.lonely : a.features.subarray(f * n, (f + 1) * n);
      const sorted = Float64Array.from(values).filter(Number.isFinite).sort(), last = sorted.length - 1;
      const cut = n > 200 ? Math.floor(last / 100) : 0;
      [low, high] = [sorted[cut], sorted[last - cut]];
      if (!(high > low)) [low, high] = [sorted[0], sorted[last]];
    }
    const name = this.choices.find(([key]) => key === kind)[1];
    this.kept.set(kind, { values, low, high, name });
    return this.kept.get(kind);
  }

  // Known labels by falling number, each with its style.
  classes() {
    if (!this.kept.has("known")) {
      const sizes = new Int32Array(facts.classes.length);
      for (const code of this.a.classes) sizes[code]++;
      const number = new Int32Array(sizes.length);
      bySize(sizes).forEach((code, place) => { number[code] = place; });
      this.kept.set("known", { sizes, ...stylesOf(number, sizes) });
    }
    return this.kept.get("known");
  }

  // Colour and shape of a sample, and the entries of the legend.
  of(kind, P) {
    if (kind === "cluster") {
      const order = bySize(P.sizes);
      return {
        colour: (i) => paint(P.hue[P.labels[i]]), shape: (i) => P.shape[P.labels[i]],
        entries: P.k > HUES ? [] : order.map((t) => [paint(P.hue[t]), P.shape[t], `${P.number[t]} (${P.sizes[t].toLocaleString("en")})`]),
      };
    }
    if (kind === "known") {
      const { hue, shape, sizes } = this.classes(), codes = this.a.classes;
      return {
        colour: (i) => paint(hue[codes[i]]), shape: (i) => shape[codes[i]],
        entries: bySize(sizes).slice(0, HUES).map((code) => [paint(hue[code]), shape[code], clip(facts.classes[code], 22)]),
      };
    }
    const { values, low, high, name } = this.scale(kind), steps = Array.from({ length: 65 }, (_, j) => shade(j / 64));
    const at = (v) => (Number.isFinite(v) ? steps[Math.round(64 * Math.min(Math.max((v - low) / (high - low || 1), 0), 1))] : ink.grey);
    return { colour: (i) => at(values[i]), shape: () => 0, bar: { low, high, name, steps } };
  }
}

// A line or two above the picture; returns its height.
function drawLegend(c, w, { entries, bar }) {
  c.textAlign = "left";
  if (bar) {
    const from = 14 + c.measureText(short(bar.low)).width;
    c.fillStyle = ink.soft;
    c.fillText(short(bar.low), 8, 13);
    bar.steps.forEach((colour, j) => { c.fillStyle = colour; c.fillRect(from + 2 * j, 7, 2.3, 12); });
    c.fillStyle = ink.soft;
    c.fillText(`${short(bar.high)}   ${clip(bar.name, 34)}`, from + 138, 13);
    return 24;
  }
  let x = 10, y = 13;
  for (const [colour, shape, name] of entries) {
    const wide = 26 + c.measureText(name).width;
    if (x > 10 && x + wide > w) {
      if (y > 40) break;
      [x, y] = [10, y + 18];
    }
    mark(c, colour, shape, x + 4, y, 5);
    c.fillStyle = ink.soft;
    c.fillText(name, x + 13, y);
    x += wide;
  }
  return y + 12;
}

function drawPlane(canvas, app) {
  const { c, w, h, kept } = fresh(canvas), { view, frame, a, zoom } = app, P = view.partition;
  const V = facts.views[app.plane], D = a[`view${app.plane}`], moving = app.plane === facts.moving;
  const colours = app.colouring.of(app.colour, P), byCluster = app.colour === "cluster";
  const told = byCluster && !kept ? { entries: [] } : colours;
  const legend = told.bar || told.entries.length;
  const strip = legend ? drawLegend(c, w, told) : 0; // measured now, drawn again on top
  const box = { left: V.ticks ? 62 : 24, right: 14, top: strip + 10, bottom: h - (V.ticks ? 42 : 24) };
  const wide = w - box.left - box.right, high = box.bottom - box.top, pad = 12, [ex, ey] = V.extent;
  const s = Math.min((wide - 2 * pad) / Math.max(ex, 1e-9), (high - 2 * pad) / Math.max(ey, 1e-9));
  const sx = V.equal ? s : wide - 2 * pad, sy = V.equal ? s : high - 2 * pad;
  const ox = box.left + (wide - sx * ex) / 2, oy = box.bottom - (high - sy * ey) / 2;
  const X = (q) => (ox + (q / 65535) * sx) * zoom.k + zoom.x, Y = (q) => (oy - (q / 65535) * sy) * zoom.k + zoom.y;
  const chosen = app.pickedSet, n = P.labels.length;
  const faint = (i) => chosen && !chosen[i];

  // a cluster is drawn at the mean of its members' centroids, which is its own at a step of the
  // path; where centroids are unknown, its number stands at the member nearest to the mean
  const many = P.k > 1500, sums = new Float64Array(2 * P.k);
  for (let i = 0; i < n; i++) {
    const to = 2 * P.labels[i], from = moving ? 2 * (frame.offset + frame.partition.labels[i]) : 2 * i;
    sums[to] += (moving ? a.positions : D)[from];
    sums[to + 1] += (moving ? a.positions : D)[from + 1];
  }
  for (let t = 0; t < P.k; t++) { sums[2 * t] /= P.sizes[t]; sums[2 * t + 1] /= P.sizes[t]; }
  if (!moving && P.k <= NUMBERED) {
    const least = new Float64Array(P.k).fill(Infinity), place = sums.slice();
    for (let i = 0; i < n; i++) {
      const t = P.labels[i], off = (D[2 * i] - sums[2 * t]) ** 2 + (D[2 * i + 1] - sums[2 * t + 1]) ** 2;
      if (off < least[t]) { least[t] = off; place[2 * t] = D[2 * i]; place[2 * t + 1] = D[2 * i + 1]; }
    }
    sums.set(place);
  }
  const place = (t) => [X(sums[2 * t]), Y(sums[2 * t + 1])];

  const shaped = n <= 1500, grow = Math.min(Math.sqrt(zoom.k), 2.5);
  const r = (moving ? 2.6 : n > 500 ? 3.2 : n > 150 ? 3.8 : 5) * (shaped ? Math.min(grow, 1.6) : 1);
  const side = (n > 3000 ? 2 : 3) * grow;
  const dots = shaped || kept ? new Squares(c) : new Pixels(c, w, h);
  for (let i = 0; i < n; i++) {
    const x = X(D[2 * i]), y = Y(D[2 * i + 1]);
    if (x < box.left - 9 || x > w || y < box.top - 9 || y > box.bottom + 9) continue;
    if (shaped) mark(c, colours.colour(i), colours.shape(i), x, y, r, faint(i) ? 0.12 : moving ? 0.75 : 0.9);
    else dots.add(x, y, side, colours.colour(i), faint(i) ? 0.1 : 0.75);
  }
  if (many && moving) {
    for (let t = 0; t < P.k; t++) {
      if (P.sizes[t] === 1) dots.add(...place(t), 3, paint(P.hue[t]), faint(P.head[t]) ? 0.2 : 1);
    }
  }
  dots.done();

  if (moving) {
    c.lineWidth = 1;
    for (const { sample, xy } of app.tracks) {
      c.strokeStyle = colours.colour(sample);
      c.globalAlpha = faint(sample) ? 0.07 : 0.4;
      c.beginPath();
      let x = X(D[2 * sample]), y = Y(D[2 * sample + 1]);
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
  }

  const hits = [], unit = many ? 1.6 : Math.min(5.5, 90 / Math.sqrt(P.k)), most = 0.045 * Math.min(w, h);
  const clusters = moving ? bySize(P.sizes) : P.k <= NUMBERED && byCluster ? bySize(P.sizes) : [];
  for (const t of clusters) {
    const [x, y] = place(t), sample = P.head[t], colour = byCluster ? paint(P.hue[t]) : ink.soft;
    const radius = moving ? Math.min(unit + most * Math.sqrt(P.sizes[t] / n), most + unit) : 9;
    const alpha = faint(sample) ? 0.2 : 1;
    if (!many || P.sizes[t] > 1) mark(c, colour, moving && byCluster ? P.shape[t] : 0, x, y, radius, alpha);
    if (P.k <= NUMBERED && radius >= 8) {
      c.globalAlpha = alpha;
      c.fillStyle = lettersOn(colour);
      c.textAlign = "center";
      c.font = "600 11px system-ui, sans-serif";
      c.fillText(String(P.number[t]), x, y + 0.5);
      c.font = FONT;
      c.globalAlpha = 1;
    }
    hits.push({ x, y, r: radius, sample });
  }
  if (app.sample >= 0) {
    const i = app.sample, x = X(D[2 * i]), y = Y(D[2 * i + 1]);
    c.strokeStyle = ink.pick;
    c.lineWidth = 2.5;
    c.beginPath();
    c.arc(x, y, 9, 0, 7);
    c.stroke();
    c.fillStyle = ink.ink;
    c.textAlign = x > w - 120 ? "right" : "left";
    c.fillText(clip(app.id(i), 24), x + (x > w - 120 ? -13 : 13), y);
  }
  c.fillStyle = ink.panel; // margins over what zooming has put there
  for (const [x, y, u, v] of [[0, 0, w, box.top - 4], [0, box.bottom + 1, w, h], [0, 0, box.left - 1, h]]) c.fillRect(x, y, u, v);
  if (legend) drawLegend(c, w, told);
  drawPlaneAxes(c, w, h, box, V, X, Y, sx, sy);
  return { hits, place: (i) => [X(D[2 * i]), Y(D[2 * i + 1])] };
}

function drawPlaneAxes(c, w, h, box, V, X, Y) {
  if (V.ticks) {
    const x = (v) => X(((v - V.low[0]) / V.span[0]) * 65535), y = (v) => Y(((v - V.low[1]) / V.span[1]) * 65535);
    const back = (f, p, j) => V.low[j] + ((p - f(V.low[j])) / (f(V.low[j] + V.span[j]) - f(V.low[j]))) * V.span[j];
    axes(c, w, h, box, x, y, evenTicks(back(x, box.left, 0), back(x, w - box.right, 0), false),
      evenTicks(back(y, box.bottom, 1), back(y, box.top, 1), false), clip(V.axes[0], 60), clip(V.axes[1], 40));
    return;
  }
  c.fillStyle = ink.soft;
  c.textAlign = "center";
  c.fillText(clip(V.axes[0], 60), w / 2, h - 9);
  c.save();
  c.translate(10, h / 2);
  c.rotate(-Math.PI / 2);
  c.fillText(clip(V.axes[1], 60), 0, 0);
  c.restore();
}

// The middle of what is seen: the median of the samples there, of the chosen ones if there are any.
function middleOf(app) {
  const { clientWidth: w, clientHeight: h } = $("plane"), seen = [[], []];
  for (let i = 0; i < app.n; i++) {
    const [x, y] = hitPlane.place(i);
    if ((app.pickedSet && !app.pickedSet[i]) || x < 0 || x > w || y < 0 || y > h) continue;
    seen[0].push(x);
    seen[1].push(y);
  }
  if (!seen[0].length) return [w / 2, h / 2];
  return seen.map((values) => Float64Array.from(values).sort()[values.length >> 1]);
}

// Magnify about a point of the canvas; what is seen stays within the whole picture.
function zoomAt(app, factor, px, py) {
  const { zoom } = app, k = Math.min(Math.max(zoom.k * factor, 1), CLOSEST);
  zoom.x = px - ((px - zoom.x) * k) / zoom.k;
  zoom.y = py - ((py - zoom.y) * k) / zoom.k;
  zoom.k = k;
  panBy(app, 0, 0);
}

function panBy(app, dx, dy) {
  const { zoom } = app, canvas = $("plane");
  zoom.x = Math.min(Math.max(zoom.x + dx, canvas.clientWidth * (1 - zoom.k)), 0);
  zoom.y = Math.min(Math.max(zoom.y + dy, canvas.clientHeight * (1 - zoom.k)), 0);
  canvas.classList.toggle("zoomed", zoom.k > 1);
  draw();
}
