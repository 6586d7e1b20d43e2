// What all pictures share: colours, markers, scales, axes.
const LIGHT = ["#0072b2", "#e69f00", "#882255", "#56b4e9", "#117733", "#e8d71e", "#d55e00", "#cc79a7"];
const DARK = ["#4aa3e0", "#f2b134", "#c95a94", "#a5dcff", "#3fae6a", "#f5ea60", "#ff7f3f", "#f0b3d3"];
const STYLES = 64; // eight colours × eight markers; clusters of a higher rank are grey dots
const FONT = "12px system-ui, sans-serif";
let ink = {};

function readTheme() {
  const css = getComputedStyle(document.documentElement);
  for (const name of ["panel", "ink", "soft", "line", "accent", "shade", "grey", "pick"]) {
    ink[name] = css.getPropertyValue(`--${name}`).trim();
  }
  ink.palette = document.documentElement.dataset.theme === "dark" ? DARK : LIGHT;
}

function colourOf(rank) { return rank < STYLES ? ink.palette[rank % 8] : ink.grey; }
function shapeOf(rank) { return rank < STYLES ? (rank + (rank >> 3)) % 8 : 0; }

// Corners of marker number `shape` around (x, y); r is about the radius of the disc of equal area.
function corners(shape, x, y, r) {
  const star = (points, inner, turn) => Array.from({ length: 2 * points }, (_, i) => {
    const q = 1.35 * r * (i % 2 ? inner : 1), angle = turn + (Math.PI * i) / points;
    return [x + q * Math.sin(angle), y - q * Math.cos(angle)];
  });
  if (shape === 1) return star(2, 1, Math.PI / 4);
  if (shape === 2) return star(1.5, 1, 0);
  if (shape === 3) return star(2, Math.SQRT1_2, 0);
  if (shape === 4) return star(1.5, 1, Math.PI);
  if (shape === 5) return star(4, 0.45, Math.PI / 4);
  if (shape === 6) return star(4, 0.45, 0);
  if (shape === 7) return star(5, 0.5, 0);
  return star(12, 1, 0).map(([u, v]) => [x + (u - x) / 1.35, y + (v - y) / 1.35]);
}

function trace(c, shape, x, y, r) {
  c.beginPath();
  if (shape === 0) return c.arc(x, y, r, 0, 7);
  for (const [u, v] of corners(shape, x, y, r)) c.lineTo(u, v);
  c.closePath();
}

// The same marker as a small SVG for lists.
function swatch(rank) {
  const make = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const picture = make("svg"), shape = make("polygon");
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("aria-hidden", "true");
  shape.setAttribute("points", corners(shapeOf(rank), 8, 8, 5.5).flat().map((v) => v.toFixed(1)).join(" "));
  shape.setAttribute("fill", colourOf(rank));
  picture.append(shape);
  return picture;
}

function mark(c, rank, x, y, r, alpha = 1) {
  c.globalAlpha = alpha;
  trace(c, shapeOf(rank), x, y, r);
  c.fillStyle = colourOf(rank);
  c.fill();
  if (r > 2.5) {
    c.lineWidth = 1;
    c.strokeStyle = ink.panel;
    c.stroke();
  }
  c.globalAlpha = 1;
}

// Context in CSS pixels, cleared, sharp on any screen.
function fresh(canvas) {
  const w = canvas.clientWidth, h = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, w, h);
  c.font = FONT;
  c.textBaseline = "middle";
  return { c, w, h };
}

function clip(text, most) { return text.length > most ? text.slice(0, most - 1) + "…" : text; }

function logTicks(lo, hi) {
  const ticks = [], decades = Math.log10(hi / lo);
  const steps = decades > 4 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 5];
  for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi)); e++) {
    for (const s of steps) {
      const v = s * 10 ** e;
      if (v >= lo * 0.999 && v <= hi * 1.001) ticks.push(v);
    }
  }
  const every = Math.ceil(ticks.length / 7);
  return ticks.filter((_, i) => i % every === 0);
}

function evenTicks(lo, hi, whole) {
  const raw = (hi - lo) / 5 || 1, p = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].find((s) => s * p >= raw) * p;
  if (whole) step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let v = Math.ceil(lo / step) * step; v <= hi + step * 1e-9; v += step) ticks.push(v);
  return ticks;
}

function scale(lo, hi, from, to, log) {
  const f = log ? Math.log : (v) => v, span = f(hi) - f(lo) || 1;
  const place = (v) => from + ((f(Math.max(v, log ? lo : v)) - f(lo)) / span) * (to - from);
  place.back = (p) => {
    const v = f(lo) + ((p - from) / (to - from)) * span;
    return log ? Math.exp(v) : v;
  };
  return place;
}

// Ticks: 40,000 as 40K.
function brief(v) {
  return Math.abs(v) >= 1e4 && Math.abs(v) < 1e15 ? v.toLocaleString("en", { notation: "compact" }) : short(v);
}

function axes(c, w, h, box, x, y, xTicks, yTicks, xName, yName) {
  c.strokeStyle = ink.line;
  c.fillStyle = ink.soft;
  c.lineWidth = 1;
  c.beginPath();
  c.moveTo(box.left, box.bottom + 0.5);
  c.lineTo(w - box.right, box.bottom + 0.5);
  c.stroke();
  c.textAlign = "center";
  for (const v of xTicks) {
    c.fillRect(x(v), box.bottom, 1, 4);
    c.fillText(brief(v), x(v), box.bottom + 12);
  }
  c.fillText(xName, (box.left + w - box.right) / 2, box.bottom + 28);
  if (!y) return;
  c.textAlign = "right";
  for (const v of yTicks) {
    c.globalAlpha = 0.5;
    c.fillStyle = ink.line;
    c.fillRect(box.left, y(v), w - box.right - box.left, 1);
    c.globalAlpha = 1;
    c.fillStyle = ink.soft;
    c.fillText(brief(v), box.left - 6, y(v));
  }
  c.save();
  c.translate(11, (box.top + box.bottom) / 2);
  c.rotate(-Math.PI / 2);
  c.textAlign = "center";
  c.fillText(yName, 0, 0);
  c.restore();
}

function cursor(c, x, top, bottom) {
  c.strokeStyle = ink.pick;
  c.lineWidth = 1.5;
  c.setLineDash([5, 3]);
  c.beginPath();
  c.moveTo(x, top);
  c.lineTo(x, bottom);
  c.stroke();
  c.setLineDash([]);
}

// γ from a little below the grid to a little above, logarithmic.
function gammaRange(gammas) {
  const positive = gammas.find((g) => g > 0) || 1;
  return [positive / 1.15, Math.max(gammas[gammas.length - 1], positive) * 1.15];
}

