"""How the page looks: light or dark as the reader's system is, two charts a row where two have room."""

STYLE_SHEET = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1f2328; --quiet: #59626e; --rule: #d9dde2; --tint: #f5f7f9; --link: #005fa3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181c; --ink: #e4e7eb; --quiet: #a3acb8; --rule: #363b43; --tint: #1e2126; --link: #6cbcf5;
  }
}
* { box-sizing: border-box; }
html { text-size-adjust: 100%; -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 82rem;
  background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, "Segoe UI", Roboto, sans-serif;
}
header, p, nav { max-width: 46rem; }
h1 { margin: 0 0 .5rem; font-size: clamp(1.6rem, 5vw, 2.3rem); line-height: 1.2; }
h2 {
  margin: 3.5rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--rule);
  font-size: 1.5rem; line-height: 1.25;
}
h3 { margin: 0 0 .5rem; font-size: 1.1rem; line-height: 1.35; }
h1, h2, h3, p, figcaption { overflow-wrap: break-word; }
p { margin: 0 0 .9rem; }
a { color: var(--link); text-underline-offset: .15em; }
code {
  padding: .1em .3em; border-radius: .2rem; background: var(--tint);
  font: .9em ui-monospace, Menlo, Consolas, monospace;
}
.lead { color: var(--quiet); font-size: 1.15rem; }
nav { margin-top: 2rem; }
nav ol { margin: .25rem 0 0; padding-left: 1.5rem; }
nav li { padding: .2rem 0; }
nav ul { margin: 0; padding: 0; list-style: none; font-size: .9rem; }
nav ul li { display: inline-block; margin-right: 1rem; padding: .15rem 0; }
.table { margin: 1.75rem 0; }
.scroll { overflow-x: auto; border: 1px solid var(--rule); border-radius: .4rem; }
table {
  width: 100%; border-collapse: collapse;
  font-size: .92rem; line-height: 1.4; font-variant-numeric: tabular-nums;
}
th, td { padding: .45rem .8rem; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { background: var(--tint); vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; }
thead .number { white-space: normal; }
td:not(.sentence) { white-space: nowrap; }
.sentence { min-width: 24rem; }
.figures, .charts {
  display: grid; gap: 1rem 2rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 27rem), 1fr));
}
.figures { margin-top: 1.75rem; row-gap: 2.5rem; }
figure { margin: 0; min-width: 0; }
figure.wide { grid-column: 1 / -1; }
.charts img { display: block; width: 100%; height: auto; }
figcaption { color: var(--quiet); max-width: 60rem; }
figcaption p { margin: .4rem 0 0; max-width: none; }
.files { margin: .4rem 0 0; font-size: .85rem; }
.files a { display: inline-block; margin-right: .9rem; padding: .2rem 0; }
@media print { figure, tr { break-inside: avoid; } }
"""
