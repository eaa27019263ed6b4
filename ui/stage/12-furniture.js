// What stands around the panels: the token strip, the legend, the feature pager, the save buttons.

const button = (attributes, ...children) => el("button", { type: "button", ...attributes }, ...children);

// The fills of masked and never computed cells; their ids are the stage's own, two stages do not share them.
function patterns(uid) {
  const pattern = (name, size, path) =>
    svg(
      "pattern",
      { id: `${uid}-${name}`, width: size, height: size, patternUnits: "userSpaceOnUse" },
      svg("path", { d: path, class: `lr-${name}`, fill: "none" }),
    );
  return svg(
    "svg",
    { width: 0, height: 0, class: "lr-defs", "aria-hidden": "true" },
    svg("defs", {}, pattern("hatch", 6, "M-1 7L7 -1M-1 1L1 -1M5 7L7 5"), pattern("dots", 6, "M3 3h.01")),
  );
}

function tokenStrip(scene, choose) {
  const items = scene.labels.map((label, i) => {
    const token = {
      class: "lr-token",
      "data-cell": "",
      "data-row": i,
      "data-col": i,
      title: label,
      "data-generated": i >= scene.typed,
    };
    const index = el("span", { class: "lr-index", "aria-hidden": "true" }, String(i + 1));
    const divided = i === scene.prompt ? "lr-divided" : "";
    return el("li", { class: divided }, button({ ...token, on: { click: () => choose(i) } }, clip(label, 24)), index);
  });
  return el("ol", { class: "lr-tokens", "data-panel": "tokens", "aria-label": scene.words.panel_tokens }, ...items);
}

function phasesText({ words, prompt, tokens, typed, encoder }) {
  if (encoder) return words.phase_encoder;
  const prefill = fill(prompt === 1 ? words.phase_prefill_one : words.phase_prefill, { n: prompt });
  const decode = prompt === tokens.length ? [] : [fill(words.phase_decode, { i: prompt + 1 })];
  const own = typed === tokens.length ? [] : [fill(words.phase_generated, { i: typed + 1 })];
  return [prefill, ...decode, ...own].join("  ");
}

function legend(scene, uid) {
  const filled = { masked: `${uid}-hatch`, never: `${uid}-dots` };
  const names = scene.encoder ? ["now", "masked"] : ["now", "cached", "earlier", "masked", "never", "future"];
  if (scene.mask === "window") names.splice(2, 0, "evicted");
  const item = (name) =>
    el(
      "li",
      {},
      el("span", { class: `lr-swatch lr-swatch-${name}`, "data-pattern": filled[name] }),
      scene.words[`state_${name}`],
    );
  return el("ul", { class: "lr-legend lr-quiet", "aria-label": scene.words.legend }, ...names.map(item));
}

// More than PAGE features: one page of them at a time, and it says which. turn(by) -> the page now.
function pager(scene, page, turn) {
  const widest = Math.max(...["x", "q", "v"].map((vector) => scene[vector][0].length));
  const pages = Math.ceil(widest / PAGE);
  if (pages === 1) return null;
  const { words } = scene;
  const label = el("span", { "aria-live": "polite" });
  const show = (at) =>
    setText(label, fill(words.features, { from: at * PAGE + 1, to: Math.min(widest, (at + 1) * PAGE), n: widest }));
  const step = (by) => () => {
    page = Math.min(pages - 1, Math.max(0, page + by));
    show(page);
    turn(page);
  };
  page = Math.min(page, pages - 1);
  show(page);
  return el(
    "div",
    { class: "lr-pager lr-quiet" },
    button({ "aria-label": words.features_back, on: { click: step(-1) } }, "‹"),
    label,
    button({ "aria-label": words.features_on, on: { click: step(1) } }, "›"),
  );
}

// What a saved picture says of itself: the settings by their own names.
function signature({ settings }) {
  const names = [
    "source",
    "layer",
    "head",
    "d_model",
    "d_k",
    "d_v",
    "mask",
    "positions",
    "scale",
    "temperature",
    "breaks",
    "dtype",
  ];
  return [
    "Last Row",
    ...names.filter((name) => settings[name] !== "").map((name) => `${name}=${settings[name]}`),
  ].join("  ");
}

function saveTools(words, save) {
  const tool = (kind) =>
    button({ class: "lr-plain", "data-save": kind, on: { click: () => save(kind) } }, kind.toUpperCase());
  return el("div", { class: "lr-tools lr-quiet" }, words.save, " ", tool("svg"), tool("png"));
}
