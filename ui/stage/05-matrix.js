// A grid of cells: built once per shape, refilled afterwards, and on a step only the cells that change are touched.

const LABEL_FONT = 11;

// The size of a cell by how many there are: [up to, pixels] …
const SIZES = {
  square: [
    [8, 42],
    [12, 34],
    [16, 26],
    [24, 18],
    [32, 14],
    [48, 9],
    [Infinity, 7],
  ],
  row: [
    [8, 26],
    [12, 22],
    [16, 20],
    [24, 16],
    [32, 13],
    [48, 9],
    [Infinity, 7],
  ],
  feature: [
    [8, 22],
    [16, 14],
    [32, 7],
    [Infinity, 4],
  ],
  strip: [
    [10, 40],
    [16, 34],
    [24, 22],
    [32, 18],
    [48, 13],
    [Infinity, 11],
  ],
  output: [
    [16, 38],
    [32, 10],
    [Infinity, 6],
  ],
};

// On a narrow or touched page no cell is smaller than a finger, on a projector's width all of them grow; what does not
// fit scrolls inside its panel.
const FINGER = 20;
const NARROW = 600;
const ROOMY = 1400;
const GROWN = 1.4;

function sizer(width, coarse) {
  const least = width < NARROW || coarse ? FINGER : 0;
  const grow = width >= ROOMY ? GROWN : 1;
  const size = (kind, n) => Math.max(least, Math.round(SIZES[kind].find(([most]) => n <= most)[1] * grow));
  return { size, grow, name: `${least} ${grow}` };
}

// options: uid, rows, columns, width and height of a cell, rowLabels, columnLabels (or null), numbers (print the
// value in the cell), vector (of a projection). Returns the node and the few things that can be asked of it.
function matrix(options) {
  const { rows, columns, width, height, rowLabels, columnLabels, numbers, uid } = options;
  const gap = Math.min(width, height) >= 12 ? 2 : 1;
  const grow = options.grow ?? 1;
  const font = Math.min(LABEL_FONT * grow, Math.max(7, height));
  const columnFont = Math.min(LABEL_FONT * grow, Math.max(7, width));
  const family = options.family || "sans-serif";
  const widest = (labels, size) => Math.max(0, ...labels.map((label) => textWidth(label, `${size}px ${family}`)));
  const left = rowLabels ? Math.ceil(widest(rowLabels, font)) + 8 : 3;
  const wide = columnLabels ? Math.ceil(widest(columnLabels, columnFont)) : 0;
  const level = wide <= width - 1;
  const top = columnLabels ? (level ? 16 * grow : Math.ceil(Math.min(84 * grow, wide * 0.85 + 10))) : 0;
  const slant = columnLabels && !level ? Math.ceil(wide * 0.55) : 0;
  const full = [left + columns * width + Math.max(2, slant), top + rows * height + 2];

  const cells = svg("g", { transform: `translate(${left} ${top})` });
  const frames = svg("g", { transform: `translate(${left} ${top})`, class: "lr-frames" });
  const lights = svg("g", { transform: `translate(${left} ${top})`, class: "lr-lights" });
  const rowNodes = (rowLabels || []).map((label, row) =>
    svg(
      "text",
      {
        class: "lr-label",
        x: left - 6,
        y: top + (row + 0.5) * height - gap / 2,
        "font-size": font,
        "text-anchor": "end",
      },
      label,
    ),
  );
  const columnNodes = (columnLabels || []).map((label, column) => {
    const x = left + (column + 0.5) * width - gap / 2;
    return level
      ? svg("text", { class: "lr-label", x, y: top - 8, "font-size": columnFont, "text-anchor": "middle" }, label)
      : svg(
          "text",
          {
            class: "lr-label",
            x: 0,
            y: 0,
            "font-size": columnFont,
            transform: `translate(${x} ${top - 5}) rotate(-58)`,
          },
          label,
        );
  });
  const node = svg(
    "svg",
    {
      class: "lr-matrix",
      viewBox: `0 0 ${full[0]} ${full[1]}`,
      width: full[0],
      height: full[1],
      "aria-hidden": "true",
    },
    ...rowNodes,
    ...columnNodes,
    cells,
    frames,
    lights,
  );

  const rects = [];
  const texts = [];
  const states = new Array(rows * columns);
  const values = new Array(rows * columns);
  let drawn = null;
  let addressed = "";
  let lit = [];
  const dyes = new Map();
  const dye = (label, kind) => {
    if (dyes.get(label) === kind) return;
    dyes.set(label, kind);
    label.setAttribute("data-kind", kind);
  };
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const place = {
        x: column * width,
        y: row * height,
        width: width - gap,
        height: height - gap,
        rx: gap > 1 ? 3 : 1,
      };
      const rect = svg("rect", { ...place, "data-cell": "", "data-vector": options.vector });
      rects.push(rect);
      if (numbers) {
        texts.push(
          svg("text", {
            class: "lr-number",
            "font-size": LABEL_FONT * grow,
            x: place.x + place.width / 2,
            y: place.y + place.height / 2,
            "text-anchor": "middle",
          }),
        );
      }
    }
  }
  cells.append(...rects, ...texts);

  function paint(at, state, value, print, look, mark) {
    const rect = rects[at];
    rect.setAttribute("data-state", state);
    if (value === null) rect.removeAttribute("data-value");
    else rect.setAttribute("data-value", String(value));
    const colour = print !== null && look;
    rect.style.fill = colour
      ? colour.fill
      : state === "masked"
        ? `url(#${uid}-hatch)`
        : state === "never"
          ? `url(#${uid}-dots)`
          : "";
    if (!numbers) return;
    texts[at].style.fill = colour ? colour.ink : "";
    setText(texts[at], print !== null ? short(print) : mark);
  }

  // view(row, column, out) fills out with [state, value or null, whether the cell shows it (or the mark of its state)]
  const out = ["", null, false];
  function update(view, look, version) {
    const stale = version !== drawn;
    drawn = version;
    for (let row = 0, at = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1, at += 1) {
        view(row, column, out);
        const [state, value, visible] = out;
        if (!stale && states[at] === state && values[at] === value) continue;
        states[at] = state;
        values[at] = value;
        const print = visible && value !== null ? value : null;
        paint(
          at,
          state,
          value,
          print,
          print === null ? null : look(print),
          visible && state === "masked" ? "−∞" : "",
        );
      }
    }
  }

  const outline = (className, { row = 0, column = 0, rows: high = 1, columns: across = columns }) =>
    svg("rect", {
      class: className,
      x: column * width - 1.5,
      y: row * height - 1.5,
      width: across * width - gap + 3,
      height: high * height - gap + 3,
      rx: 4,
    });

  function place(layer, className, boxes) {
    const wanted = boxes.filter((box) => (box.rows ?? 1) > 0 && (box.columns ?? 1) > 0);
    if (!wanted.length && !layer.childNodes.length) return;
    layer.replaceChildren(...wanted.map((box) => outline(`${className} ${box.kind || ""}`, box)));
  }

  return {
    node,
    update,
    frame: (boxes) => place(frames, "lr-frame", boxes),
    light(boxes, litRows = [], litColumns = []) {
      place(lights, "lr-light", boxes);
      for (const label of lit) label.removeAttribute("data-lit");
      lit = [...litRows.map((row) => rowNodes[row]), ...litColumns.map((column) => columnNodes[column])].filter(
        Boolean,
      );
      for (const label of lit) label.setAttribute("data-lit", "");
    },
    label(step, focus) {
      rowNodes.forEach((label, row) => dye(label, row === focus ? "now" : row > step ? "later" : "seen"));
      columnNodes.forEach((label, column) => dye(label, column > step ? "later" : "seen"));
    },
    // Where the grid stands in its tensor: a strip moves with the row in focus, a wide cache turns its pages.
    address(row, column) {
      const place_ = `${row}:${column}`;
      if (place_ === addressed) return;
      addressed = place_;
      rects.forEach((rect, at) => {
        rect.setAttribute("data-row", row + Math.floor(at / columns));
        rect.setAttribute("data-col", column + (at % columns));
      });
    },
    span: (column) => [left + column * width, left + (column + 1) * width],
    rows,
    columns,
    cellAt: (row, column) => rects[row * columns + column],
  };
}
