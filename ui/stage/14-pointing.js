// Pointing, pinning and the keys. What is pointed at lights up with all that it came from, and is written out.

const HIDDEN = new Set(["future", "never", "evicted"]);
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const STEPS = { ArrowLeft: "prev", ArrowRight: "next", Home: "first", End: "last", " ": "play" };

// stage() -> { scene, view, panels, bar, live }; view.pin and view.point are targets or null
function pointing(root, stage, featurePage) {
  let walking = null;
  let all = false;

  const targetNow = ({ scene, view }) => view.pin || view.point || strongest(scene, view.focus);

  function draw() {
    const { scene, view, panels } = stage();
    const target = targetNow(stage());
    const lit = view.pin || view.point ? sourcesOf(target, view.focus, view.step) : {};
    for (const [name, { grid }] of Object.entries(panels.grids)) {
      const { boxes = [], rows = [], columns = [] } = lit[name] || {};
      const moved = boxes.map((box) =>
        box.columns === 1 ? { ...box, column: box.column - featurePage(name) } : box,
      );
      grid.light(
        moved.filter(({ column = 0 }) => column >= 0 && column < grid.columns),
        rows,
        columns,
      );
    }
    write(scene, view, panels, target);
  }

  function write(scene, view, panels, target) {
    const { words } = scene;
    const state = targetState(target, scene, view.step);
    const lines = HIDDEN.has(state)
      ? [[words.detail_state, words[`state_${state}`]]]
      : LINES[target.kind](target, scene, all);
    const most = readsNothing(scene, target.row) ? "" : words.strongest;
    const how = view.pin ? words.pinned : view.point ? words.pointed : most;
    const held = document.activeElement?.dataset?.detail;
    panels.detail.replaceChildren(
      el("p", { class: "lr-detail-title" }, titleOf(target, scene), " ", el("span", { class: "lr-quiet" }, how)),
      el("dl", {}, ...lines.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
      el(
        "div",
        { class: "lr-detail-tools" },
        ...tools(scene, view, HIDDEN.has(state) ? 0 : TERMS[target.kind](scene, target)),
      ),
    );
    if (held) panels.detail.querySelector(`[data-detail="${held}"]`)?.focus();
    panels.cards.detail.section.toggleAttribute("data-pinned", Boolean(view.pin));
  }

  function tools({ words }, view, terms) {
    const tool = (name, run, text, more = {}) =>
      button({ class: "lr-plain", "data-detail": name, on: { click: run }, ...more }, text);
    const go = (by) => () => pin({ ...view.pin, column: view.pin.column + by });
    const kept = view.pin
      ? [
          tool("back", go(-1), words.cell_back),
          tool("on", go(1), words.cell_on),
          tool("unpin", () => pin(null), words.unpin),
        ]
      : [];
    if (terms <= FEW + 1) return kept;
    const toggle = () => {
      all = !all;
      draw();
    };
    return [
      ...kept,
      tool("all", toggle, all ? words.fewer : fill(words.all_terms, { n: terms }), { "aria-pressed": String(all) }),
    ];
  }

  function pin(target) {
    const { scene, view, live } = stage();
    view.pin = target && clampTarget({ ...target, column: Math.max(0, target.column) }, scene);
    if (view.pin) setText(live, sentenceOf(view.pin, scene, view.step));
    draw();
  }

  function point(target) {
    const { view } = stage();
    if (!target && !view.point) return;
    view.point = target;
    if (!view.pin || walking) draw();
  }

  // Enter walks into a panel: the arrows then move from cell to cell until Escape.
  function walk(box) {
    const { view, panels } = stage();
    const { grid } = panels.grids[box.dataset.grid];
    const start = view.pin?.panel === box.dataset.panel ? view.pin : null;
    const row = grid.rows === 1 ? 0 : (start?.row ?? view.focus);
    walking = { grid, row: Math.min(row, grid.rows - 1), column: Math.min(start?.column ?? 0, grid.columns - 1) };
    walkBy(0, 0);
  }

  function walkBy(down, right) {
    const { scene, view, live } = stage();
    const { grid } = walking;
    walking.row = Math.min(grid.rows - 1, Math.max(0, walking.row + down));
    walking.column = Math.min(grid.columns - 1, Math.max(0, walking.column + right));
    const cell = grid.cellAt(walking.row, walking.column);
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    view.pin = null;
    point(targetOf(cell));
    setText(live, sentenceOf(view.point, scene, view.step));
  }

  function leave() {
    if (!walking) return;
    walking = null;
    point(null);
  }

  function press(event, box) {
    const { view, bar } = stage();
    const { key } = event;
    if (walking && box && ARROWS[key]) walkBy(...ARROWS[key]);
    else if (walking && box && key === "Enter") pin({ ...view.point });
    else if (walking && key === "Escape") leave();
    else if (box && key === "Enter") walk(box);
    else if (key === "Escape" && view.pin) pin(null);
    else if (STEPS[key]) {
      leave();
      bar.act(STEPS[key]);
    } else return;
    event.preventDefault();
  }

  const cellOf = (event) => (event.target.closest?.(".lr-box [data-cell]") ? event.target : null);

  root.addEventListener("keydown", (event) => {
    if (!stage().scene || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey)
      return;
    const own = event.target.matches("input, select, summary");
    const pressed = event.target.matches("button") && (event.key === " " || event.key === "Enter");
    if (!own && !pressed) press(event, event.target.closest(".lr-box"));
  });
  root.addEventListener("focusout", leave);
  root.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch" || walking || !stage().scene) return;
    const cell = cellOf(event);
    point(cell && targetOf(cell));
  });
  root.addEventListener("pointerleave", () => {
    if (!walking && stage().scene) point(null);
  });
  root.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    const [target, { pin: held }] = [targetOf(cell), stage().view];
    const same = held && ["panel", "row", "column", "vector"].every((part) => held[part] === target[part]);
    pin(same ? null : target);
  });

  return { draw, leave };
}
