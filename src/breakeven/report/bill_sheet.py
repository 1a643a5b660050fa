"""How the page of a bill looks, over what every page has: one number first, then calm."""

BILL_SHEET = """
body { max-width: 76rem; }
.overline { margin: 0 0 .25rem; color: var(--quiet); }
h1 { max-width: none; font-size: clamp(1.9rem, 5.5vw, 3.2rem); letter-spacing: -.02em; text-wrap: balance; }
header { max-width: none; margin-bottom: 2.25rem; }
th, li, dd, label { overflow-wrap: anywhere; }
.bill { border-top: 1px solid var(--rule); border-bottom: 1px solid var(--rule); font-size: 1rem; }
.facts, .bill + p { color: var(--quiet); font-size: .92rem; overflow-wrap: anywhere; }
.facts { max-width: none; margin-bottom: 0; }
.bill + p { margin-top: .6rem; }
caption { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
.bill thead th { background: none; color: var(--quiet); font-weight: 400; }
.bill tbody th { font-weight: 400; }
.bill .chosen > * { background: var(--tint); font-weight: 650; }
.bill .chosen > th { box-shadow: inset .25rem 0 var(--link); }
.bill small { display: block; color: var(--quiet); font-size: .8rem; font-weight: 400; white-space: nowrap; }
.figures, .charts { grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); }
.chart { height: 24rem; min-width: 0; }
.square.chart { height: auto; aspect-ratio: 1; max-width: 34rem; }
.charts > div { min-width: 0; }
details { margin: .6rem 0 0; }
summary { padding: .3rem 0; color: var(--link); font-size: .92rem; cursor: pointer; }
.prices { max-width: 54rem; margin: 1.25rem 0 2rem; }
.prices label { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; }
.prices output { font-size: 1.5rem; font-weight: 650; font-variant-numeric: tabular-nums; }
input[type="range"] { width: 100%; height: 2rem; margin: 0; accent-color: var(--link); cursor: pointer; }
.ends { display: flex; justify-content: space-between; max-width: none; }
.ends, dt { color: var(--quiet); font-size: .85rem; }
dl {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem 1.25rem;
  margin: 1.25rem 0;
}
dd { margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; }
pre {
  margin: 0; padding: 1rem 1.1rem; overflow-x: auto; border: 1px solid var(--rule); border-radius: .4rem;
  background: var(--tint); line-height: 1.5;
}
pre code { padding: 0; background: none; }
.copying { display: flex; align-items: center; gap: .75rem; margin-bottom: .6rem; min-height: 2.5rem; }
button {
  min-height: 2.5rem; padding: .3rem 1rem; border: 1px solid var(--rule); border-radius: .4rem;
  background: var(--tint); color: var(--ink); font: inherit; cursor: pointer;
}
button:hover { border-color: var(--quiet); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.notes { max-width: 46rem; padding-left: 1.2rem; }
.notes li { padding: .2rem 0; }
@media (max-width: 44rem) {
  .bill, .bill tbody, .bill tr { display: block; }
  .bill { border: 0; }
  .bill thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  .bill tr {
    display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .5rem 1rem; margin-bottom: .75rem;
    padding: .75rem 1rem .85rem; border: 1px solid var(--rule); border-radius: .5rem;
  }
  .bill .chosen { background: var(--tint); box-shadow: inset .25rem 0 var(--link); }
  .bill .chosen > *, .bill .chosen > th { background: none; box-shadow: none; }
  .bill tbody th { grid-column: 1 / -1; font-weight: 650; }
  .bill td:last-child { grid-column: 1 / -1; }
  .bill th, .bill td { padding: 0; border: 0; text-align: left; white-space: normal; }
  .bill td, .bill small { white-space: normal; overflow-wrap: anywhere; }
  .bill td::before {
    content: attr(data-name); display: block; color: var(--quiet); font-size: .85rem; font-weight: 400;
  }
}
"""
