// The page of a bill at work: draws the charts as SVG, shows the bill at another cost of a label, and copies
// the configuration. Colours are in the style sheet; the data of the page come before this script.
"use strict";
const { charts, costs } = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const [SMALL, TOP, BOTTOM, RIGHT] = [13, 26, 44, 16]; // pixels: text, margins
const pen = document.createElement("canvas").getContext("2d");
pen.font = `${SMALL}px system-ui, "Segoe UI", Roboto, sans-serif`;

// How wide words are.
function widthOf(words) {
  return pen.measureText(words).width;
}

// -- numbers ----------------------------------------------------------------------------------------------

// Only digits that matter, as on the rest of the page.
function shown(number, sign = "") {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size < 1e-4 || size >= 1e16) return number.toExponential(2).replace("-", "−") + sign;
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(size)));
  const text = number.toLocaleString("en-US", { maximumFractionDigits: decimals });
  return text.replace("-", "−") + sign;
}

// Even numbers between two ends, about as many as wanted.
function evenTicks([low, high], most) {
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [0.2, 0.5, 1, 2, 2.5, 5, 10].map((one) => one * power);
  let found = steps.findIndex((one) => one >= rough * 0.999);
  while (found > 0 && Math.floor(high / steps[found]) - Math.ceil(low / steps[found]) < 2) found -= 1;
  const [step, ticks] = [steps[found], []];
  for (let place = Math.ceil(low / step); place <= Math.floor(high / step); place += 1) ticks.push(place * step);
  return ticks;
}

// -- one chart --------------------------------------------------------------------------------------------

function element(name, attributes = {}, text = null) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  return made;
}

// As much of some words as has room.
function cut(words, room) {
  let shorter = words;
  while (shorter.length > 3 && widthOf(shorter) > room) shorter = `${shorter.slice(0, -2)}…`;
  return shorter;
}

// Where a value lies between two pixels.
function scaleOf(axis, from, to) {
  const at = axis.log ? Math.log10 : (value) => value;
  const [low, high] = (axis.range ?? [0, 1]).map(at);
  return (value) => from + ((at(value) - low) / (high - low || 1)) * (to - from);
}

function ticksOf(axis, room, each) {
  const most = Math.max(2, Math.min(7, Math.floor(room / each)));
  if (!axis.ticks) return evenTicks(axis.range ?? [0, 1], most).map((one) => [one, shown(one, axis.sign)]);
  const step = Math.ceil(axis.ticks.length / most);
  return axis.ticks.filter((_, place) => place % step === 0);
}

// Ticks that do not touch: the widest needs this much room.
function fittingTicks(axis, room) {
  let ticks = ticksOf(axis, room, 80);
  const widest = () => Math.max(...ticks.map(([, text]) => widthOf(text))) + 12;
  while (ticks.length > 2 && ticks.length * widest() > room) ticks = ticks.filter((_, place) => place % 2 === 0);
  return ticks;
}

const SIGNS = {
  o: (r) => `m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  s: (r) => `m${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  "^": (r) => `m0 ${-r}l${r} ${2 * r}h${-2 * r}z`,
  v: (r) => `m0 ${r}l${r} ${-2 * r}h${-2 * r}z`,
  D: (r) => `m0 ${-r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`,
  "<": (r) => `m${-r} 0l${2 * r} ${-r}v${2 * r}z`,
  ">": (r) => `m${r} 0l${-2 * r} ${-r}v${2 * r}z`,
  x: (r) => `m${-r} ${-r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`,
  "+": (r) => `m${-r} 0h${2 * r}m${-r} ${-r}v${2 * r}`,
};

function signPath(sign, size) {
  return (SIGNS[sign] ?? SIGNS.o)(size / 2);
}

function joinedPath(places) {
  let [path, pen] = ["", "M"];
  for (const [x, y] of places) {
    if (Number.isFinite(x) && Number.isFinite(y)) {
      path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = "L";
    } else pen = "M";
  }
  return path;
}

// A line with its band and some signs, or its points.
function drawLine(line, at, into) {
  const places = line.x.map((x, place) => at(x, line.y[place]));
  const group = element("g", { class: `${line.style} ${line.kind}` });
  if (line.low) {
    const ends = [...line.x.keys()].filter((place) => line.low[place] !== null && line.high[place] !== null);
    const band = [
      ...ends.map((place) => at(line.x[place], line.high[place])),
      ...ends.reverse().map((place) => at(line.x[place], line.low[place])),
    ];
    group.append(element("path", { class: "band", d: `${joinedPath(band)}Z` }));
  }
  if (line.dashes) {
    const dash = line.dashes.map((one) => 2 * one).join(" ");
    group.append(element("path", { class: "stroke", d: joinedPath(places), "stroke-dasharray": dash || "none" }));
    if (line.sign) {
      const step = Math.max(1, Math.ceil(places.length / line.signs));
      const some = places.filter((_, place) => place % step === 0);
      group.append(element("path", { class: "sign", d: pointsPath(some, line.sign, 8) }));
    }
  } else if (line.kind === "crosses") {
    group.append(element("path", { class: "cross", d: pointsPath(places, line.sign, line.size + 2) }));
  } else group.append(element("path", { class: "sign", d: pointsPath(places, line.sign, line.size) }));
  into.append(group);
}

function pointsPath(places, sign, size) {
  const shape = signPath(sign, size);
  return places.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y))
    .map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}${shape}`).join("");
}

function drawAxes(chart, frame, x, y, svg) {
  const { left, right, top, bottom } = frame;
  for (const [value, text] of ticksOf(chart.y, bottom - top, 45)) {
    const height = y(value);
    if (height < top - 1 || height > bottom + 1) continue;
    svg.append(element("line", { class: "grid", x1: left, x2: right, y1: height, y2: height }));
    svg.append(element("text", { class: "tick y", x: left - 6, y: height + 4, "text-anchor": "end" }, text));
  }
  for (const [value, text] of fittingTicks(chart.x, right - left)) {
    const place = x(value);
    if (place < left - 1 || place > right + 1) continue;
    const half = widthOf(text) / 2 + 1;
    const middle = Math.min(Math.max(place, half), right + RIGHT - half);
    svg.append(element("line", { class: "grid", x1: place, x2: place, y1: top, y2: bottom }));
    svg.append(element("text", { class: "tick x", x: middle, y: bottom + 18, "text-anchor": "middle" }, text));
  }
  const whole = right + RIGHT;
  svg.append(element("text", { class: "name", x: 0, y: SMALL }, cut(chart.y.label, whole)));
  const under = { class: "name", x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle" };
  svg.append(element("text", under, cut(chart.x.label, right - left)));
}

// Vertical lines with words beside them; words that would lie on others are left out.
function drawMarks(chart, frame, x, svg) {
  let free = -Infinity;
  for (const mark of [...chart.marks].sort((one, other) => one.x - other.x)) {
    const place = x(mark.x);
    if (!Number.isFinite(place)) continue;
    const group = element("g", { class: "mark" });
    group.append(element("line", { x1: place, x2: place, y1: frame.top, y2: frame.bottom }));
    const width = 1.1 * widthOf(mark.text);
    const turned = place + width + 6 > frame.right;
    const start = turned ? place - 4 - width : place + 4;
    if (start > free && start > frame.left) {
      const anchor = turned ? "end" : "start";
      const words = { x: place + (turned ? -4 : 4), y: frame.top + SMALL, "text-anchor": anchor };
      group.append(element("text", words, mark.text));
      free = start + width;
    }
    svg.append(group);
  }
}

function draw(box) {
  const chart = charts[box.dataset.chart];
  const width = Math.max(240, Math.round(box.clientWidth));
  const high = chart.square ? Math.min(width - 50, 460) : Math.min(300, Math.max(210, width * 0.55));
  const left = Math.max(...ticksOf(chart.y, high, 45).map(([, text]) => widthOf(text)), 10) + 9;
  const inner = chart.square ? Math.min(width - left - RIGHT, 460) : high;
  const right = chart.square ? left + inner : width - RIGHT;
  const frame = { left, right, top: TOP, bottom: TOP + inner };
  const [x, y] = [scaleOf(chart.x, left, right), scaleOf(chart.y, frame.bottom, frame.top)];
  const height = frame.bottom + BOTTOM;
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": box.dataset.words });
  drawAxes(chart, frame, x, y, svg);
  const clip = `clip-${box.dataset.chart}`;
  const path = element("clipPath", { id: clip });
  path.append(element("rect", { x: left - 4, y: TOP - 4, width: right - left + 8, height: inner + 8 }));
  svg.append(path);
  const inside = element("g", { "clip-path": `url(#${clip})` });
  const at = (one, other) => [one === null ? NaN : x(one), other === null ? NaN : y(other)];
  for (const line of [...chart.lines].reverse()) drawLine(line, at, inside);
  svg.append(inside);
  drawMarks(chart, frame, x, svg);
  box.querySelector(":scope > svg")?.remove();
  box.append(svg);
  box.drawn = { chart, at, frame, width };
}

// -- what a line is, and what lies under the pointer ----------------------------------------------------------

function legendOf(chart) {
  const list = document.createElement("ul");
  list.className = "legend";
  for (const line of chart.lines) {
    const item = document.createElement("li");
    const svg = element("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" });
    const far = line.dashes ? [0, 1] : [0.5];
    const shape = { ...line, x: far, y: far.map(() => 0), low: undefined, signs: 9, size: 7 };
    if (line.dashes && line.sign) shape.sign = undefined;
    drawLine(shape, (one) => [2 + 24 * one, 6], svg);
    if (line.dashes && line.sign)
      drawLine({ ...line, dashes: undefined, low: undefined, x: [0.5], y: [0], size: 7 }, () => [14, 6], svg);
    item.append(svg, line.name);
    list.append(item);
  }
  return list;
}

// The nearest point of each line where all are joined, else the nearest point of all.
function under(box, px, py) {
  const { chart, at } = box.drawn;
  const found = chart.lines.filter((line) => line.x.length).map((line) => {
    let [best, off] = [0, Infinity];
    line.x.forEach((one, place) => {
      const [x, y] = at(one, line.y[place]);
      const away = chart.joined ? Math.abs(x - px) : Math.hypot(x - px, y - py);
      if (away < off) [best, off] = [place, away];
    });
    return { line, place: best, off };
  });
  if (chart.joined) return found.filter(({ line }) => line.kind !== "reference");
  const points = found.filter(({ line }) => !line.dashes).sort((one, other) => one.off - other.off);
  return points.length && points[0].off < 40 ? points.slice(0, 1) : [];
}

function tell(box, event) {
  const outer = box.getBoundingClientRect();
  const drawn = box.querySelector(":scope > svg").getBoundingClientRect();
  const scale = box.drawn.width / drawn.width;
  const found = under(box, (event.clientX - outer.left) * scale, (event.clientY - drawn.top) * scale);
  box.querySelector(".tip")?.remove();
  if (!found.length) return;
  const { chart } = box.drawn;
  const tip = document.createElement("div");
  tip.className = "tip";
  const { line: first, place: nearest } = found[0];
  const head = document.createElement("strong");
  head.textContent = first.names?.[nearest] ?? `${chart.x.label} ${shown(first.x[nearest], chart.x.sign)}`;
  tip.append(head);
  for (const { line, place } of found) {
    const row = document.createElement("div");
    row.textContent = `${line.name}: ${line.y[place] === null ? "–" : shown(line.y[place], chart.y.sign)}`;
    tip.append(row);
  }
  box.append(tip);
  const left = Math.min(Math.max(0, event.clientX - outer.left + 12), outer.width - tip.offsetWidth);
  tip.style.left = `${left}px`;
  tip.style.top = `${event.clientY - outer.top + 14}px`;
}

const boxes = [...document.querySelectorAll("[data-chart]")];
for (const box of boxes) {
  const chart = charts[box.dataset.chart];
  if (chart.lines.length > 1) box.append(legendOf(chart));
  draw(box);
  for (const kind of ["pointermove", "pointerdown"]) box.addEventListener(kind, (event) => tell(box, event));
  box.addEventListener("pointerleave", () => box.querySelector(".tip")?.remove());
}
const again = new ResizeObserver((seen) => seen.forEach(({ target }) => {
  if (target.drawn && Math.round(target.clientWidth) !== target.drawn.width) draw(target);
}));
boxes.forEach((box) => again.observe(box));

// -- printing, other costs, copying ---------------------------------------------------------------------------

// A picture of its own, with the rules of this page in it.
document.querySelectorAll("button.save").forEach((button) => button.addEventListener("click", () => {
  const box = button.closest("figure").querySelector("[data-chart]");
  const picture = box.querySelector(":scope > svg").cloneNode(true);
  const style = element("style", {}, document.querySelector("style").textContent);
  picture.setAttribute("xmlns", SVG);
  picture.setAttribute("class", "chart");
  picture.prepend(style);
  const link = document.createElement("a");
  const address = URL.createObjectURL(new Blob([picture.outerHTML], { type: "image/svg+xml" }));
  Object.assign(link, { href: address, download: `${box.dataset.chart}.svg` });
  link.click();
  URL.revokeObjectURL(address);
}));

const folds = [...document.querySelectorAll("details")];
addEventListener("beforeprint", () => folds.forEach((fold) => {
  fold.dataset.open = fold.open;
  fold.open = true;
}));
addEventListener("afterprint", () => folds.forEach((fold) => { fold.open = fold.dataset.open === "true"; }));

function setCost(place) {
  const { at, chart, words } = costs;
  for (const [name, text] of Object.entries(words[place]))
    document.querySelector(`[data-cost="${name}"]`).textContent = text;
  document.getElementById("cost").setAttribute("aria-valuetext", words[place].cost);
  charts[chart].marks[0].x = at[place];
  boxes.filter((box) => box.dataset.chart === chart).forEach(draw);
}

document.getElementById("cost")?.addEventListener("input", (event) => setCost(event.target.value));

document.getElementById("copy")?.addEventListener("click", async () => {
  const text = document.getElementById("configuration");
  const status = document.getElementById("copied");
  try {
    await navigator.clipboard.writeText(text.textContent);
    status.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(text);
    status.textContent = "Selected: copy it with your keyboard";
  }
});
