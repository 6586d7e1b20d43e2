// What all pictures share: colours, markers, sheets to draw on, scales, axes.
const LIGHT = ["#0072b2", "#e69f00", "#882255", "#56b4e9", "#117733", "#e8d71e", "#d55e00", "#cc79a7",
  "#3b0f70", "#b2df8a", "#1a1a1a", "#9966ff"];
const DARK = ["#4aa3e0", "#f2b134", "#c95a94", "#a5dcff", "#3fae6a", "#f5ea60", "#ff7f3f", "#f0b3d3",
  "#7d5fff", "#c5ecae", "#f4f4f4", "#94692d"];
// cividis, from little to much
const SCALE = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
const FONT = "12px system-ui, sans-serif";
let ink = {};

function readTheme() {
  const css = getComputedStyle(document.documentElement);
  for (const name of ["panel", "ink", "soft", "line", "accent", "shade", "grey", "pick"]) {
    ink[name] = css.getPropertyValue(`--${name}`).trim();
  }
  ink.palette = document.documentElement.dataset.theme === "dark" ? DARK : LIGHT;
}

function paint(hue) { return hue < 0 ? ink.grey : ink.palette[hue]; }
function rgb(colour) { return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)); }
const hex = (parts) => "#" + parts.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("");

// Colour of a share 0 … 1; dark sheets begin lighter, so that little is still seen.
function shade(share) {
  if (!Number.isFinite(share)) return ink.grey;
  const from = document.documentElement.dataset.theme === "dark" ? 2 : 0;
  const at = from + Math.min(Math.max(share, 0), 1) * (SCALE.length - 1 - from), low = Math.min(Math.floor(at), SCALE.length - 2);
  const one = rgb(SCALE[low]), two = rgb(SCALE[low + 1]);
  return hex(one.map((v, j) => v + (two[j] - v) * (at - low)));
}

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
function swatch(hue, form) {
  const make = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const picture = make("svg"), shape = make("polygon");
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("aria-hidden", "true");
  shape.setAttribute("points", corners(form, 8, 8, 5.5).flat().map((v) => v.toFixed(1)).join(" "));
  shape.setAttribute("fill", paint(hue));
  picture.append(shape);
  return picture;
}

function mark(c, colour, shape, x, y, r, alpha = 1) {
  c.globalAlpha = alpha;
  trace(c, shape, x, y, r);
  c.fillStyle = colour;
  c.fill();
  if (r > 2.5) {
    c.lineWidth = 1;
    c.strokeStyle = ink.panel;
    c.stroke();
  }
  c.globalAlpha = 1;
}

// Dark or light letters, whichever is read on this colour.
function lettersOn(colour) {
  const [r, g, b] = rgb(colour);
  return 0.3 * r + 0.6 * g + 0.1 * b > 140 ? "#111111" : "#ffffff";
}

// Context in CSS pixels, cleared, sharp on any screen; or the sheet of a picture to keep.
function fresh(canvas) {
  if (canvas.sheet) {
    const { c, w, h } = canvas.sheet;
    c.fillStyle = ink.panel;
    c.fillRect(0, 0, w, h);
    c.font = FONT;
    c.textBaseline = "middle";
    return { c, w, h, kept: true };
  }
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

// The part of a canvas context that the pictures use, written down as SVG.
class Sketch {
  constructor(w, h) {
    Object.assign(this, { w, h, parts: [], path: "", turn: [], globalAlpha: 1, dash: "" });
    Object.assign(this, { fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, textAlign: "left", font: FONT });
    this.ruler = document.createElement("canvas").getContext("2d");
  }
  add(text) { this.parts.push(text); }
  get alpha() { return this.globalAlpha < 1 ? ` opacity="${+this.globalAlpha.toFixed(3)}"` : ""; }
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${x.toFixed(2)} ${y.toFixed(2)}`; }
  lineTo(x, y) { this.path += `${this.path ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`; }
  closePath() { this.path += "Z"; }
  arc(x, y, r) { // whole circles only
    this.moveTo(x - r, y);
    for (const end of [x + r, x - r]) this.path += `A${r.toFixed(2)} ${r.toFixed(2)} 0 1 0 ${end.toFixed(2)} ${y.toFixed(2)}`;
  }
  fill() { this.add(`<path d="${this.path}" fill="${this.fillStyle}"${this.alpha}/>`); }
  stroke() {
    this.add(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${this.dash}${this.alpha}/>`);
  }
  fillRect(x, y, w, h) {
    this.add(`<rect x="${x.toFixed(2)}" y="${y.toFixed(2)}" width="${w.toFixed(2)}" height="${h.toFixed(2)}" fill="${this.fillStyle}"${this.alpha}/>`);
  }
  setLineDash(steps) { this.dash = steps.length ? ` stroke-dasharray="${steps.join(" ")}"` : ""; }
  measureText(text) { this.ruler.font = this.font; return this.ruler.measureText(text); }
  fillText(text, x, y) {
    const anchor = { center: "middle", right: "end" }[this.textAlign] || "start";
    const safe = String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/[^\t\n\r\x20-\uFFFD]/g, "");
    const turn = this.turn.length ? ` transform="${this.turn.join(" ")}"` : "";
    this.add(`<text x="${x.toFixed(2)}" y="${y.toFixed(2)}" dy=".35em" text-anchor="${anchor}" font-size="${parseInt(this.font, 10)}" fill="${this.fillStyle}"${turn}${this.alpha}>${safe}</text>`);
  }
  save() { this.turn = []; }
  restore() { this.turn = []; }
  translate(x, y) { this.turn.push(`translate(${x} ${y})`); }
  rotate(angle) { this.turn.push(`rotate(${(angle * 180) / Math.PI})`); }
  text() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.w}" height="${this.h}" viewBox="0 0 ${this.w} ${this.h}" ` +
      `font-family="system-ui, sans-serif">${this.parts.join("")}</svg>`;
  }
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

