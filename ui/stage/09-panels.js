// The panels of one scene: built here, refilled on every step. A panel knows its tensor and nothing of the others.

const PAGE = 64;

function card(name, title, subtitle, ...body) {
  const heading = el("h3", {}, title);
  const note = el("p", { class: "lr-quiet lr-subtitle" }, subtitle);
  const attributes = { class: `lr-card lr-card-${name}`, "aria-label": title };
  return { section: el("section", attributes, heading, note, ...body), heading, note };
}

// A matrix in a box of its own that scrolls, takes the keyboard, and says what it is.
function framed(panel, name, grid, say, className = "lr-scroll") {
  return el(
    "div",
    {
      class: `lr-box ${className}`,
      tabindex: 0,
      role: "group",
      "data-panel": panel,
      "data-grid": name,
      "aria-label": say,
    },
    grid.node,
  );
}

function legendBar(scene, kind) {
  const { words } = scene;
  const stops = Array.from({ length: 25 }, (_, i) => el("i", { "data-at": i / 24 }));
  const range = scene.ranges[kind];
  const marks = kind === "weight" ? ["0", "1"] : [`−${range}`, "0", `+${range}`];
  return el(
    "div",
    {
      class: "lr-bar-legend",
      "data-kind": kind,
      "data-range": range,
      role: "img",
      "aria-label": fill(words[`bar_${kind}`], { range }),
    },
    el("span", {}, fill(words[`bar_${kind}`], { range })),
    el("div", { class: "lr-ramp" }, ...stops),
    el("div", { class: "lr-ticks" }, ...marks.map((mark) => el("span", {}, mark))),
  );
}

function paintBars(root, look) {
  for (const bar of root.querySelectorAll(".lr-bar-legend")) {
    const range = Number(bar.dataset.range);
    for (const stop of bar.querySelectorAll("i")) {
      const at = Number(stop.dataset.at);
      stop.style.background = (
        bar.dataset.kind === "weight" ? look.weight(at) : look.signed((2 * at - 1) * range, range)
      ).fill;
    }
  }
}

// `sizes` is what `sizer` made. `old` are the panels of the scene before: a grid of the same shape is taken over with its cells, whatever else changed.
function buildPanels(scene, uid, family, { size, grow }, old) {
  const { words, labels } = scene;
  const n = scene.tokens.length;
  const short_ = labels.map((label) => clip(label, 10));
  const grids = {};
  const cards = {};
  const make = (name, panel, options) => {
    const shape = JSON.stringify([options, grow]);
    const same = old?.grids[name]?.shape === shape;
    grids[name] = { panel, shape, grid: same ? old.grids[name].grid : matrix({ uid, family, grow, ...options }) };
    return grids[name].grid;
  };
  const strip = (name, panel, columns, extra, className) => {
    const grid = make(name, panel, { rows: 1, columns, rowLabels: null, columnLabels: null, ...extra });
    return framed(panel, name, grid, words[`panel_${name.replace("-", "_")}`], className);
  };
  const named = (name, box) => el("div", { class: "lr-strip" }, el("span", { class: "lr-strip-name" }, name), box);

  const vectors = ["x", "q", "k", "v"].map((vector) => {
    const width = scene[vector][0].length;
    const title = el("b", { class: "lr-vector-name" });
    const box = strip(vector, "projection", Math.min(width, PAGE), {
      width: size("feature", Math.min(width, PAGE)),
      height: Math.round(20 * grow),
      vector,
    });
    return {
      title,
      node: el(
        "div",
        { class: "lr-vector" },
        title,
        box,
        el(
          "span",
          { class: "lr-quiet" },
          fill(words[`vector_${vector}${scene.encoder ? "_encoder" : ""}`] ?? words[`vector_${vector}`], {
            n: width,
          }),
        ),
      ),
    };
  });
  cards.projection = card("projection", words.panel_projection, "", ...vectors.map((vector) => vector.node));

  for (const vector of ["k", "v"]) {
    const width = Math.min(scene[vector][0].length, PAGE);
    const grid = make(`${vector}-cache`, `${vector}-cache`, {
      rows: n,
      columns: width,
      width: size("feature", width),
      height: size("row", n),
      rowLabels: short_,
      columnLabels: null,
    });
    cards[`${vector}-cache`] = card(
      `${vector}-cache`,
      "",
      "",
      framed(`${vector}-cache`, `${vector}-cache`, grid, words[`panel_${vector}_cache`]),
    );
  }

  const square = {
    rows: n,
    columns: n,
    width: size("square", n),
    height: size("square", n),
    rowLabels: short_,
    columnLabels: short_,
    numbers: n <= 12,
  };
  const shows = el(
    "div",
    { class: "lr-shows", role: "group", "aria-label": words.shows },
    ...["scaled", "raw"].map((kind) =>
      el("button", { type: "button", "data-shows-choice": kind }, words[`shows_${kind}`]),
    ),
  );
  const blocks = el("ul", { class: "lr-blocks lr-quiet" });
  for (const name of ["scores", "weights"]) {
    const box = framed(name, name, make(name, name, square), words[`panel_${name}`]);
    const axes = (...more) => el("div", { class: "lr-axes lr-quiet" }, el("span", {}, words.axes), ...more);
    cards[name] =
      name === "scores"
        ? card(name, "", "", axes(shows), box, legendBar(scene, "score"), blocks)
        : card(name, words.panel_weights, words.weights_note, axes(), box, legendBar(scene, "weight"));
    cards[name].box = box;
  }

  // The strips of one row stand under each other, key under key, so they scroll as one; their names stay in sight.
  const strips = el(
    "div",
    { class: "lr-strips" },
    ...STRIPS.map((name, i) =>
      named(
        rowTitle(name, scene),
        strip(
          name,
          name,
          n,
          {
            width: size("strip", n),
            height: Math.round((n <= 16 ? 28 : 20) * grow),
            numbers: n <= 16,
            columnLabels: i === 0 ? short_ : null,
          },
          "lr-whole",
        ),
      ),
    ),
  );
  const across = Math.min(scene.o[0].length, PAGE);
  const output = named(
    "o = a·V",
    strip("row-output", "row-output", across, {
      width: size("output", across),
      height: Math.round((across <= 16 ? 28 : 20) * grow),
      numbers: across <= 16,
    }),
  );
  cards.row = card(
    "row",
    "",
    words.row_note,
    strips,
    output,
    el(
      "div",
      { class: "lr-bars" },
      legendBar(scene, "score"),
      legendBar(scene, "weight"),
      legendBar(scene, "vector"),
    ),
  );

  if (scene.next) cards.next = nextCard(words);
  const ledger = ledgerCard(words);
  cards.ledger = card("ledger", words.panel_ledger, words.ledger_note, ledger.node);
  cards.ledger.section.dataset.panel = "ledger";
  cards.detail = card("detail", words.panel_detail, words.detail_note);
  cards.detail.section.dataset.panel = "detail";
  const detail = el("div", { class: "lr-detail-body" });
  cards.detail.section.append(detail);
  return { grids, cards, vectors, ledger, detail, shows, blocks, strips };
}

function rowTitle(name, scene) {
  const { words } = scene;
  const bias = scene.bias ? ` + ${words.bias}` : "";
  return {
    "row-raw": "q·k",
    "row-scaled": scaleText(scene) + bias,
    "row-masked": words.row_masked,
    "row-weights": "softmax",
  }[name];
}

// view functions: each fills `out` with [state, value or null, whether the cell shows it]
function viewsOf(scene, step, focus, shows, pageOf) {
  const tell = (out, state, value, visible) => {
    out[0] = state;
    out[1] = value;
    out[2] = visible;
  };
  const score = (values) => (row, column, out) => {
    const state = scoreState(scene, row, column, step);
    tell(out, state, WORKED.has(state) ? values[row][column] : null, true);
  };
  const strip = (values, hides) => (_, column, out) => {
    const state = scoreState(scene, focus, column, step);
    const worked = state !== "future" && scene.present[focus][column] === "1";
    const hidden = hides && state === "masked";
    tell(out, state, worked && !hidden ? values[focus][column] : null, worked || hidden);
  };
  const kept = (values) => (row, column, out) => {
    const state = keyState(scene, row, step);
    tell(out, state, KEPT.has(state) ? (values[row][column + pageOf(values)] ?? null) : null, true);
  };
  const vector = (values) => (_, column, out) =>
    tell(out, "now", values[focus][column + pageOf(values)] ?? null, true);
  const weight = (row, column, out) => {
    const state = scoreState(scene, row, column, step);
    tell(out, state, state === "masked" || WORKED.has(state) ? scene.weights[row][column] : null, state !== "masked");
  };
  return {
    x: vector(scene.x),
    q: vector(scene.q),
    k: vector(scene.k),
    v: vector(scene.v),
    "k-cache": kept(scene.k),
    "v-cache": kept(scene.v),
    scores: score(scene[shows]),
    weights: weight,
    "row-raw": strip(scene.raw, false),
    "row-scaled": strip(scene.scaled, false),
    "row-masked": strip(scene.scaled, true),
    "row-weights": strip(scene.weights, false),
    "row-output": vector(scene.o),
  };
}

const LOOK = {
  scores: "score",
  "row-raw": "score",
  "row-scaled": "score",
  "row-masked": "score",
  weights: "weight",
  "row-weights": "weight",
};
