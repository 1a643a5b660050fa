// The page of a bill at work: draws the charts in the reader's colours, shows the bill at another cost of a
// label, and copies the configuration. Plotly and the data of the page come before this script.
"use strict";
const { charts, dark, costs } = JSON.parse(document.getElementById("data").textContent);
const darkScheme = matchMedia("(prefers-color-scheme: dark)");
const touch = matchMedia("(pointer: coarse)").matches;

// A part of a chart with every colour in it as the reader's scheme has it.
function coloured(part, key = "") {
  if (Array.isArray(part)) return typeof part[0] === "object" ? part.map((one) => coloured(one)) : part;
  if (part !== null && typeof part === "object")
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, coloured(one, name)]));
  return (darkScheme.matches && key.endsWith("color") && dark[part]) || part;
}

// An axis with as many ticks as have room.
function fitted(axis, width) {
  const most = Math.max(2, Math.min(7, Math.floor(width / 80)));
  if (!axis.tickvals) return { ...axis, nticks: most };
  const some = (all) => all.filter((_, place) => place % Math.ceil(all.length / most) === 0);
  return { ...axis, tickvals: some(axis.tickvals), ticktext: some(axis.ticktext) };
}

async function draw(box) {
  const name = box.dataset.chart;
  const layout = { ...coloured(charts[name].layout), autosize: true, dragmode: touch ? false : "zoom" };
  layout.xaxis = fitted(layout.xaxis, box.clientWidth);
  await Plotly.react(box, coloured(charts[name].data), layout, {
    responsive: true,
    displaylogo: false,
    typesetMath: false,
    displayModeBar: touch ? false : "hover",
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
    toImageButtonOptions: { filename: name, scale: 2 },
  });
  // These buttons appear only under the pointer, so the keyboard passes them by.
  box.querySelectorAll(".modebar-btn").forEach((button) => { button.tabIndex = -1; });
}

// A chart is drawn when it is less than a screen away, and again when the scheme changes.
const boxes = [...document.querySelectorAll("[data-chart]")];
const nearby = new IntersectionObserver((seen) => {
  for (const { target } of seen.filter((one) => one.isIntersecting)) {
    nearby.unobserve(target);
    draw(target);
  }
}, { rootMargin: "100%" });
boxes.forEach((box) => nearby.observe(box));
darkScheme.addEventListener("change", () => boxes.filter((box) => box.data).forEach(draw));
addEventListener("beforeprint", () => boxes.filter((box) => !box.data).forEach(draw));

function setCost(place) {
  const { at, chart, words } = costs;
  for (const [name, text] of Object.entries(words[place]))
    document.querySelector(`[data-cost="${name}"]`).textContent = text;
  document.getElementById("cost").setAttribute("aria-valuetext", words[place].cost);
  Object.assign(charts[chart].layout.shapes[0], { x0: at[place], x1: at[place] });
  boxes.filter((box) => box.data && box.dataset.chart === chart)
    .forEach((box) => Plotly.relayout(box, { shapes: coloured(charts[chart].layout.shapes) }));
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
