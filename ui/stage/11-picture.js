// Save picture: the stage as it stands, as plain SVG that any program opens (no foreignObject), or as PNG.
// Boxes, text lines and the drawings are read off the page with the styles they have there.

const SKIP = ".lr-hidden, details:not([open]) > :not(summary)";
const DRAWN = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "font-size",
  "font-family",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
];

// A picture has no web fonts: Latin text falls to a system font and not to the CJK one, whose quotes are a square wide.
const families = (style) => style.fontFamily.replace(",", ", Arial, 'Liberation Sans', 'DejaVu Sans',");
const lengthOf = (text) => ({
  textLength: text.getComputedTextLength().toFixed(1),
  lengthAdjust: "spacingAndGlyphs",
});

function pictureOfMatrix(node, origin) {
  const copy = node.cloneNode(true);
  const [live, made] = [node.querySelectorAll("*"), copy.querySelectorAll("*")];
  live.forEach((part, i) => {
    const style = getComputedStyle(part);
    for (const name of DRAWN) made[i].setAttribute(name, style.getPropertyValue(name));
    if (part.localName === "text" && part.textContent)
      setAttributes(made[i], { "font-family": families(style), ...lengthOf(part) });
    made[i].removeAttribute("class");
    made[i].removeAttribute("style");
  });
  const frame = node.getBoundingClientRect();
  setAttributes(copy, {
    x: frame.left - origin.left,
    y: frame.top - origin.top,
    width: frame.width,
    height: frame.height,
    class: null,
  });
  return copy;
}

// One <text> per line, because SVG does not wrap.
function pictureOfText(text, origin) {
  const style = getComputedStyle(text.parentElement);
  const range = document.createRange();
  const lines = [];
  for (const match of text.data.matchAll(/\S+/g)) {
    range.setStart(text, match.index);
    range.setEnd(text, match.index + match[0].length);
    for (const box of range.getClientRects()) {
      if (!box.width) continue;
      const line = lines.at(-1);
      const whole_ = range.getClientRects().length === 1;
      if (whole_ && line && Math.abs(line.top - box.top) < 2) {
        line.words.push(match[0]);
        line.right = box.right;
      } else
        lines.push({
          top: box.top,
          left: box.left,
          right: box.right,
          height: box.height,
          words: [match[0]],
          part: !whole_ && match,
        });
    }
  }
  // A run without spaces (Chinese) that wraps is cut where the page cut it; the length holds where the font is missing.
  return lines.map((line) =>
    svg(
      "text",
      {
        x: line.left - origin.left,
        y: line.top - origin.top + line.height * 0.78,
        fill: style.color,
        "font-size": style.fontSize,
        "font-family": families(style),
        "font-weight": style.fontWeight,
        textLength: (line.right - line.left).toFixed(1),
        lengthAdjust: "spacingAndGlyphs",
      },
      line.part ? wrapped(text, line.part, line.top) : line.words.join(" "),
    ),
  );
}

function wrapped(text, match, top) {
  const range = document.createRange();
  let kept = "";
  let at = match.index;
  for (const part of graphemes(match[0])) {
    range.setStart(text, at);
    range.setEnd(text, at + part.length);
    if (Math.abs(range.getBoundingClientRect().top - top) < 2) kept += part;
    at += part.length;
  }
  return kept;
}

function pictureOfBox(node, origin) {
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  const filled = style.backgroundColor !== "rgba(0, 0, 0, 0)";
  const edged = parseFloat(style.borderTopWidth) > 0 && style.borderTopStyle !== "none";
  if (!box.width || (!filled && !edged)) return null;
  if (edged && parseFloat(style.borderBottomWidth) === 0) {
    const y = box.top - origin.top;
    return svg("line", {
      x1: box.left - origin.left,
      x2: box.right - origin.left,
      y1: y,
      y2: y,
      stroke: style.borderTopColor,
    });
  }
  return svg("rect", {
    x: box.left - origin.left,
    y: box.top - origin.top,
    width: box.width,
    height: box.height,
    rx: Math.min(parseFloat(style.borderTopLeftRadius) || 0, 12),
    fill: node.dataset.pattern ? `url(#${node.dataset.pattern})` : filled ? style.backgroundColor : "none",
    stroke: edged ? style.borderTopColor : "none",
    "stroke-width": edged ? style.borderTopWidth : 0,
    "stroke-dasharray": style.borderTopStyle === "dashed" ? "4 3" : "none",
  });
}

function pictureOf(root, background) {
  const origin = root.getBoundingClientRect();
  const picture = svg(
    "svg",
    { xmlns: SVG_NS, viewBox: `0 0 ${origin.width} ${origin.height}`, width: origin.width, height: origin.height },
    svg("rect", { width: origin.width, height: origin.height, fill: background }),
  );
  picture.append(pictureOfMatrix(root.querySelector(".lr-defs"), origin).querySelector("defs"));
  let clips = 0;
  const walk = (node, into) => {
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.data.trim()) into.append(...pictureOfText(node, origin));
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(SKIP) || getComputedStyle(node).display === "none")
      return;
    if (node.namespaceURI === SVG_NS) {
      if (!node.querySelector("defs")) into.append(pictureOfMatrix(node, origin));
      return;
    }
    const box = pictureOfBox(node, origin);
    if (box) into.append(box);
    let inner = into;
    if (node.matches(".lr-scroll, .lr-strips, .lr-tokens")) {
      const area = node.getBoundingClientRect();
      const id = `clip-${(clips += 1)}`;
      picture.append(
        svg(
          "clipPath",
          { id },
          svg("rect", {
            x: area.left - origin.left,
            y: area.top - origin.top,
            width: area.width,
            height: area.height,
          }),
        ),
      );
      inner = svg("g", { "clip-path": `url(#${id})` });
      into.append(inner);
    }
    node.childNodes.forEach((child) => walk(child, inner));
  };
  root.childNodes.forEach((child) => walk(child, picture));
  return new XMLSerializer().serializeToString(picture);
}

function download(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function savePicture(root, background, kind, name) {
  root.classList.add("lr-picturing"); // no buttons, a margin around: only while it is read off
  let text = "";
  try {
    text = pictureOf(root, background);
  } finally {
    root.classList.remove("lr-picturing");
  }
  const file = new Blob([text], { type: "image/svg+xml" });
  if (kind === "svg") return download(file, `${name}.svg`);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = el("canvas", { width: image.width * 2, height: image.height * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const picture = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (picture) download(picture, `${name}.png`); // null: larger than this browser can draw
}
