'use strict';
// What FAST's pages have in common: numbers as people read them, and elements.
const byId = id => document.getElementById(id);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const known = v => v !== null && v !== undefined && Number.isFinite(v);
const trim = v => String(+v.toFixed(Math.abs(v) < 10 ? 2 : Math.abs(v) < 100 ? 1 : 0));
const short = v => {
  if (!known(v)) return '–';
  for (const [limit, unit] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
    if (Math.abs(v) >= limit) return trim(v / limit) + ' ' + unit;
  return trim(v);
};
// Every text goes in as text, never as HTML.
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'class') element.className = value;
    else if (name === 'style') element.style.cssText = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.map(c => c instanceof Node ? c : document.createTextNode(String(c))));
  return element;
};
// A row of buttons of which one is on.
const toggle = (id, change) => byId(id).addEventListener('click', event => {
  const value = event.target.dataset && event.target.dataset.value;
  if (value === undefined) return;
  for (const button of byId(id).children) button.classList.toggle('on', button === event.target);
  change(value);
});
