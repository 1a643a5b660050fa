"use strict";
const { charts, dark, prices } = JSON.parse(document.getElementById("data").textContent);
const atNight = matchMedia("(prefers-color-scheme: dark)");
const byFinger = matchMedia("(pointer: coarse)").matches;

function coloured(part, key = "") {
  if (Array.isArray(part)) return typeof part[0] === "object" ? part.map((one) => coloured(one)) : part;
  if (part !== null && typeof part === "object")
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, coloured(one, name)]));
  return atNight.matches && key.endsWith("color") && dark[part] || part;
}

function fitted(axis, width) {
  const most = Math.max(2, Math.min(7, Math.floor(width / 80)));
  if (!axis.tickvals) return { ...axis, nticks: most };
  const some = (all) => all.filter((_, place) => place % Math.ceil(all.length / most) === 0);
  return { ...axis, tickvals: some(axis.tickvals), ticktext: some(axis.ticktext) };
}

async function draw(box) {
  const name = box.dataset.chart;
  const layout = { ...coloured(charts[name].layout), autosize: true, dragmode: byFinger ? false : "zoom" };
  layout.xaxis = fitted(layout.xaxis, box.clientWidth);
  await Plotly.react(box, coloured(charts[name].data), layout, {
    responsive: true,
    displaylogo: false,
    typesetMath: false,
    displayModeBar: byFinger ? false : "hover",
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
    toImageButtonOptions: { filename: name, scale: 2 },
  });
  box.querySelectorAll(".modebar-btn").forEach((button) => { button.tabIndex = -1; });  // all hover, no stop
}

const boxes = [...document.querySelectorAll("[data-chart]")];
const drawn = new IntersectionObserver((seen) => {
  for (const { target } of seen.filter((one) => one.isIntersecting)) {
    drawn.unobserve(target);
    draw(target);
  }
}, { rootMargin: "100%" });
boxes.forEach((box) => drawn.observe(box));
const redraw = () => boxes.filter((box) => box.data).forEach(draw);
atNight.addEventListener("change", redraw);
addEventListener("beforeprint", () => boxes.filter((box) => !box.data).forEach(draw));

function setPrice(place) {
  const { at, chart, words } = prices;
  for (const [name, text] of Object.entries(words[place]))
    document.querySelector(`[data-price="${name}"]`).textContent = text;
  document.getElementById("price").setAttribute("aria-valuetext", words[place].price);
  Object.assign(charts[chart].layout.shapes[0], { x0: at[place], x1: at[place] });
  boxes.filter((box) => box.data && box.dataset.chart === chart)
    .forEach((box) => Plotly.relayout(box, { shapes: coloured(charts[chart].layout.shapes) }));
}

document.getElementById("price")?.addEventListener("input", (event) => setPrice(event.target.value));

document.getElementById("copy")?.addEventListener("click", async () => {
  const text = document.getElementById("configuration");
  const told = document.getElementById("copied");
  try {
    await navigator.clipboard.writeText(text.textContent);
    told.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(text);
    told.textContent = "Selected: now copy it with your keyboard";
  }
});
