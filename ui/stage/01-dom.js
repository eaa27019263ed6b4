// Small builders. Readers' words only ever arrive here as text nodes or attribute values, never as markup.

const SVG_NS = "http://www.w3.org/2000/svg";

function dress(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const el = (tag, attributes = {}, ...children) => dress(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => dress(document.createElementNS(SVG_NS, tag), attributes, children);

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
  }
}

// "row {i} of {n}" with its values; an unknown name stays visible, so that a gap is seen and not hidden.
const fill = (template, values = {}) =>
  template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";
const subscript = (n) => String(n).replace(/\d/g, (digit) => SUBSCRIPTS[digit]);

const graphemes = (text) =>
  [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)].map((part) => part.segment);

function clip(text, most) {
  const parts = graphemes(text);
  return parts.length <= most ? text : parts.slice(0, most - 1).join("") + "…";
}

let measurer = null;
function textWidth(text, font) {
  measurer ||= document.createElement("canvas").getContext("2d");
  measurer.font = font;
  return measurer.measureText(text).width;
}
