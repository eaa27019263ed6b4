// The stage: one scene in, stepped here. Nothing below this line asks the server for anything.

let stages = 0;
const NARROW = 600;
const FINGER = 20;

function createStage(host, remember) {
  const uid = `lr${(stages += 1)}`;
  const root = el("div", { class: "lr-stage", "data-testid": "stage", tabindex: 0, role: "application" });
  const probe = el("i", { class: "lr-probe", "aria-hidden": "true" });
  const state = {
    step: 0,
    wanted: null,
    focus: 0,
    wantedFocus: null,
    pin: null,
    point: null,
    shows: "scaled",
    page: 0,
    all: false,
    walking: null,
  };
  let scene = null;
  let shape = "";
  let version = 0;
  let panels = null;
  let parts = null;
  let look = palette("light");
  host.append(root);

  const first = () => scene.prompt - 1;
  const last = () => scene.tokens.length - 1;
  const pageOf = (values) => Math.min(state.page, Math.floor((values[0].length - 1) / PAGE)) * PAGE;

  // ---- building: once per shape of the scene -------------------------------------------------------------------

  function hatch() {
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

  function tokenStrip() {
    const items = scene.labels.map((label, i) => {
      const button = el(
        "button",
        {
          type: "button",
          class: "lr-token",
          "data-cell": "",
          "data-row": i,
          "data-col": i,
          title: label,
          on: { click: () => chooseToken(i) },
        },
        clip(label, 24),
      );
      return el(
        "li",
        { class: i === scene.prompt ? "lr-divided" : "" },
        button,
        el("span", { class: "lr-index", "aria-hidden": "true" }, String(i + 1)),
      );
    });
    return el(
      "ol",
      { class: "lr-tokens", "data-panel": "tokens", "aria-label": scene.words.panel_tokens },
      ...items,
    );
  }

  function legend() {
    const pattern = { masked: `${uid}-hatch`, never: `${uid}-dots` };
    const item = (name) =>
      el(
        "li",
        {},
        el("span", { class: `lr-swatch lr-swatch-${name}`, "data-pattern": pattern[name] }),
        scene.words[`state_${name}`],
      );
    const names = ["now", "cached", "earlier", "masked", "never", "future"];
    if (scene.settings.mask === "window") names.splice(2, 0, "evicted");
    return el("ul", { class: "lr-legend lr-quiet", "aria-label": scene.words.legend }, ...names.map(item));
  }

  function pager() {
    const widest = Math.max(...["x", "q", "v"].map((vector) => scene[vector][0].length));
    const pages = Math.ceil(widest / PAGE);
    if (pages === 1) return null;
    const label = el("span", { "aria-live": "polite" });
    const turn = (by) => {
      state.page = Math.min(pages - 1, Math.max(0, state.page + by));
      say();
      draw();
    };
    const say = () =>
      setText(
        label,
        fill(scene.words.features, {
          from: state.page * PAGE + 1,
          to: Math.min(widest, (state.page + 1) * PAGE),
          n: widest,
        }),
      );
    state.page = Math.min(state.page, pages - 1);
    say();
    return el(
      "div",
      { class: "lr-pager lr-quiet" },
      el("button", { type: "button", "aria-label": scene.words.features_back, on: { click: () => turn(-1) } }, "‹"),
      label,
      el("button", { type: "button", "aria-label": scene.words.features_on, on: { click: () => turn(1) } }, "›"),
    );
  }

  function build() {
    const { words } = scene;
    panels = buildPanels(scene, uid, getComputedStyle(root).fontFamily || "sans-serif");
    const pages = pager();
    if (pages) panels.cards.projection.section.append(pages);
    const save = (kind) =>
      el(
        "button",
        {
          type: "button",
          class: "lr-plain",
          "data-save": kind,
          on: {
            click: () =>
              savePicture(root, getComputedStyle(probe).backgroundColor, kind, `last-row-${state.step + 1}`),
          },
        },
        kind.toUpperCase(),
      );
    parts?.bar.stop();
    const bar = player(words, { move: goTo, range: () => [first(), last()], at: () => state.step });
    parts = {
      bar,
      tokens: tokenStrip(),
      headline: el("p", { class: "lr-headline", "aria-live": "polite", "data-say": "step" }),
      say: el("p", { class: "lr-hidden", "aria-live": "polite", "data-say": "cell" }),
      phases: el("p", { class: "lr-quiet lr-phases" }, phasesText()),
    };
    const { cards } = panels;
    const order = ["projection", "k-cache", "v-cache", "row", "detail", "scores", "weights", "ledger"];
    root.replaceChildren(
      probe,
      hatch(),
      parts.tokens,
      parts.phases,
      el(
        "div",
        { class: "lr-bar" },
        bar.node,
        el("div", { class: "lr-tools lr-quiet" }, words.save, " ", save("svg"), save("png")),
      ),
      el("div", { class: "lr-lead" }, parts.headline, panels.ledger.summary),
      el(
        "div",
        { class: "lr-grid", "data-size": scene.tokens.length > 24 ? "large" : "small" },
        ...order.map((name) => cards[name].section),
      ),
      legend(),
      parts.say,
    );
    panels.shows.addEventListener("click", (event) => {
      const choice = event.target.closest("[data-shows-choice]");
      if (choice) {
        state.shows = choice.dataset.showsChoice;
        draw();
      }
    });
    setAttributes(root, {
      "aria-label": words.stage,
      "data-lang": scene.lang,
      "data-steps": scene.tokens.length,
      lang: scene.lang === "zh" ? "zh-Hans" : scene.lang,
    });
    fit();
  }

  function phasesText() {
    const { words, prompt } = scene;
    const prefill = fill(prompt === 1 ? words.phase_prefill_one : words.phase_prefill, { n: prompt });
    return prompt === scene.tokens.length ? prefill : `${prefill}  ${fill(words.phase_decode, { i: prompt + 1 })}`;
  }

  // On a narrow or touched page cells grow to a finger's size; what no longer fits scrolls inside its panel.
  function fit() {
    const smallest = root.clientWidth < NARROW || matchMedia("(pointer: coarse)").matches ? FINGER : 0;
    for (const { grid } of Object.values(panels.grids)) grid.fit(smallest);
    panels.scrolling = [panels.strips, ...["scores", "weights"].map((name) => panels.cards[name].box)].filter(
      (box) => box.scrollWidth > box.clientWidth + 1,
    );
    followSoon();
  }

  // Keeps the token in focus and the newest key in sight where something scrolls. It waits for the frame to be
  // painted: to ask for a scroll position earlier would lay the page out twice.
  let following = 0;
  function followSoon() {
    cancelAnimationFrame(following);
    following = requestAnimationFrame(() => setTimeout(follow));
  }

  function follow() {
    const item = parts.tokens.children[state.focus];
    if (item) reveal(parts.tokens, item.offsetLeft, item.offsetLeft + item.offsetWidth);
    for (const box of panels.scrolling) {
      const { grid } = panels.grids[box.dataset.grid || STRIPS[0]];
      const aside = box === panels.strips ? grid.node.parentElement.offsetLeft : 0;
      reveal(box, ...grid.span(state.step).map((x) => x + aside), aside);
    }
  }

  function reveal(box, from, to, aside = 0) {
    if (from - aside < box.scrollLeft || to > box.scrollLeft + box.clientWidth)
      box.scrollLeft = to - box.clientWidth * 0.7;
  }

  // ---- drawing a step: only what changes is touched --------------------------------------------------------------

  function draw() {
    const { step, focus } = state;
    const views = viewsOf(scene, step, focus, state.shows, pageOf);
    const looks = {
      score: (value) => look.signed(value, scene.ranges.score),
      weight: look.weight,
      vector: (value) => look.signed(value, scene.ranges.vector),
    };
    for (const [name, { grid }] of Object.entries(panels.grids)) {
      grid.address(grid.rows === 1 ? focus : 0, featurePage(name));
      grid.update(
        views[name],
        looks[LOOK[name] || "vector"],
        `${version}${look.theme}${featurePage(name)}${name === "scores" ? state.shows : ""}`,
      );
      grid.label(step, focus);
    }
    drawFrames();
    drawWords();
    updateLedger(panels.ledger, scene, step);
    drawTokens();
    drawTarget();
    followSoon();
    setAttributes(root, { "data-step": step, "data-focus": focus, "data-theme": look.theme });
    parts.bar.sync(fill(scene.words.slider_at, { i: step + 1, n: last() + 1, token: scene.labels[step] }));
    panels.cards.scores.box.setAttribute("data-shows", state.shows);
    for (const choice of panels.shows.children)
      setAttributes(choice, { "aria-pressed": choice.dataset.showsChoice === state.shows });
  }

  function featurePage(name) {
    const values = {
      x: scene.x,
      q: scene.q,
      k: scene.k,
      v: scene.v,
      "k-cache": scene.k,
      "v-cache": scene.v,
      "row-output": scene.o,
    }[name];
    return values ? pageOf(values) : 0;
  }

  function drawFrames() {
    const { step, focus } = state;
    const prefill = step === first();
    const rows = prefill ? { row: 0, rows: step + 1 } : { row: step };
    const { grids } = panels;
    for (const name of ["k-cache", "v-cache"]) grids[name].grid.frame([rows]);
    const held = keysHeld(scene, step);
    const read = { column: step + 1 - held, columns: held };
    const blocks = prefill
      ? [{ ...rows, columns: step + 1 }]
      : [
          { rows: step, columns: step, kind: "lr-dashed" },
          { rows: step, column: step, columns: 1, kind: "lr-dashed" },
          { ...rows, ...read },
        ];
    if (prefill) blocks.push({ row: focus, columns: step + 1, kind: "lr-thin" });
    for (const name of ["scores", "weights"]) grids[name].grid.frame(blocks);
    for (const name of STRIPS) grids[name].grid.frame([read]);
  }

  function drawWords() {
    const { words, labels, settings } = scene;
    const { step, focus } = state;
    const prefill = step === first();
    const held = keysHeld(scene, step);
    const values = {
      i: focus + 1,
      n: last() + 1,
      p: scene.prompt,
      t: step + 1,
      held,
      token: clip(labels[focus], 24),
      k: settings.d_k,
      v: settings.d_v,
      before: step,
    };
    const { cards } = panels;
    setText(parts.headline, fill(words[prefill ? "headline_prefill" : "headline_decode"], values));
    setText(cards.projection.note, fill(words[prefill ? "projection_prefill" : "projection_decode"], values));
    const shared = { ...values, kv: scene.kv_head, g: settings.kv_heads };
    for (const [name, width] of [
      ["k-cache", settings.d_k],
      ["v-cache", settings.d_v],
    ]) {
      const key = name.replace("-", "_");
      setText(cards[name].heading, fill(words[`title_${key}`], { ...shared, width }));
      setText(
        cards[name].note,
        fill(words[prefill ? "cache_prefill" : `note_${key}`], { ...shared, width }) +
          (settings.kv_heads < settings.heads ? ` ${fill(words.cache_shared, shared)}` : ""),
      );
    }
    setText(
      cards.scores.heading,
      fill(words.title_scores, {
        ...values,
        scale: state.shows === "raw" ? "" : scaleText(scene) + (scene.bias ? ` + ${words.bias}` : ""),
      }),
    );
    setText(cards.scores.note, fill(words[prefill ? "scores_prefill" : "scores_decode"], values));
    setText(cards.row.heading, fill(words[prefill ? "title_row_prefill" : "title_row"], values));
    const later =
      settings.mask === "bidirectional" || settings.mask === "prefix" ? "blocks_column_open" : "blocks_column";
    const lines = prefill ? [words.blocks_prefill] : [words.blocks_old, words[later], words.blocks_row];
    panels.blocks.replaceChildren(
      ...lines.map((line) =>
        el("li", {}, fill(line, { ...values, sub: subscript(step + 1), old: subscript(step) })),
      ),
    );
    panels.vectors.forEach(({ title }, i) => setText(title, "xqkv"[i] + subscript(focus + 1)));
  }

  function drawTokens() {
    const { step, focus } = state;
    const prefill = step === first();
    parts.tokens.querySelectorAll("button").forEach((button, i) => {
      const kind = i > step ? "future" : i === step || prefill ? "now" : "earlier";
      setAttributes(button, { "data-state": kind, "aria-current": i === focus ? "step" : null });
    });
  }

  const targetNow = () => state.pin || state.point || strongest(scene, state.focus);

  function drawTarget() {
    const { step, focus } = state;
    const target = targetNow();
    const lit = state.pin || state.point ? sourcesOf(target, focus, step) : {};
    for (const [name, { grid }] of Object.entries(panels.grids)) {
      const { boxes = [], rows = [], columns = [] } = lit[name] || {};
      const from = featurePage(name);
      const moved = boxes.map((box) => (from && box.columns === 1 ? { ...box, column: box.column - from } : box));
      grid.light(
        moved.filter((box) => (box.column ?? 0) >= 0 && (box.column ?? 0) < grid.columns),
        rows,
        columns,
      );
    }
    drawDetail(target);
  }

  function drawDetail(target) {
    const { words } = scene;
    const state_ = targetState(target, scene, state.step);
    const hidden = ["future", "never", "evicted"].includes(state_);
    const lines = hidden
      ? [[words.detail_state, words[`state_${state_}`]]]
      : LINES[target.kind](target, scene, state.all, state.step);
    const tools = el("div", { class: "lr-detail-tools" });
    if (state.pin) {
      const go = (by) => () => pin({ ...state.pin, column: state.pin.column + by });
      tools.append(
        el(
          "button",
          { type: "button", class: "lr-plain", "data-detail": "back", on: { click: go(-1) } },
          words.cell_back,
        ),
        el(
          "button",
          { type: "button", class: "lr-plain", "data-detail": "on", on: { click: go(1) } },
          words.cell_on,
        ),
        el(
          "button",
          { type: "button", class: "lr-plain", "data-detail": "unpin", on: { click: () => pin(null) } },
          words.unpin,
        ),
      );
    }
    const terms = TERMS[target.kind](scene);
    if (!hidden && terms > FEW + 1)
      tools.append(
        el(
          "button",
          {
            type: "button",
            class: "lr-plain",
            "data-detail": "all",
            "aria-pressed": state.all,
            on: {
              click: () => {
                state.all = !state.all;
                drawTarget();
              },
            },
          },
          state.all ? words.fewer : fill(words.all_terms, { n: terms }),
        ),
      );
    panels.detail.replaceChildren(
      el(
        "p",
        { class: "lr-detail-title" },
        titleOf(target, scene),
        " ",
        el("span", { class: "lr-quiet" }, words[state.pin ? "pinned" : state.point ? "pointed" : "strongest"]),
      ),
      el("dl", {}, ...lines.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
      tools,
    );
    panels.cards.detail.section.toggleAttribute("data-pinned", Boolean(state.pin));
  }

  // ---- moving ------------------------------------------------------------------------------------------------------

  function goTo(step, focus = null) {
    state.step = Math.min(last(), Math.max(first(), step));
    state.wanted = state.step;
    state.focus = focus === null || state.step !== first() ? state.step : focus;
    state.wantedFocus = state.focus;
    draw();
    remember(state.step, scene);
  }

  function chooseToken(i) {
    parts.bar.stop();
    goTo(Math.max(i, first()), i);
  }

  function pin(target) {
    state.pin = target && clampTarget({ ...target, column: Math.max(0, target.column) }, scene);
    if (state.pin) setText(parts.say, sentenceOf(state.pin, scene, state.step));
    drawTarget();
  }

  // ---- pointing, pinning, keys ------------------------------------------------------------------------------------

  const cellOf = (event) => (event.target.closest?.(".lr-box [data-cell]") ? event.target : null);

  root.addEventListener("pointerover", (event) => {
    const cell = cellOf(event);
    if (event.pointerType === "touch" || !scene || state.walking) return;
    const point = cell && targetOf(cell);
    if (!point && !state.point) return;
    state.point = point;
    if (!state.pin) drawTarget();
  });
  root.addEventListener("pointerleave", () => {
    if (!state.point || state.walking) return;
    state.point = null;
    if (!state.pin) drawTarget();
  });
  root.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    const target = targetOf(cell);
    const same = state.pin && ["panel", "row", "column", "vector"].every((key) => state.pin[key] === target[key]);
    pin(same ? null : target);
  });

  // Enter walks into a panel: the arrows then move from cell to cell until Escape.
  function walk(box) {
    const { grid } = panels.grids[box.dataset.grid];
    const start = state.pin && state.pin.panel === box.dataset.panel ? state.pin : null;
    state.walking = {
      box,
      grid,
      row: grid.rows === 1 ? 0 : (start?.row ?? Math.min(state.focus, grid.rows - 1)),
      column: Math.min(start?.column ?? 0, grid.columns - 1),
    };
    walkTo(0, 0);
  }

  function walkTo(down, right) {
    const { grid } = state.walking;
    state.walking.row = Math.min(grid.rows - 1, Math.max(0, state.walking.row + down));
    state.walking.column = Math.min(grid.columns - 1, Math.max(0, state.walking.column + right));
    const cell = grid.cellAt(state.walking.row, state.walking.column);
    cell.scrollIntoView?.({ block: "nearest", inline: "nearest" });
    state.point = targetOf(cell);
    setText(parts.say, sentenceOf(state.point, scene, state.step));
    drawTarget();
  }

  function leave() {
    state.walking = null;
    state.point = null;
    drawTarget();
  }

  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const STEPS = { ArrowLeft: "prev", ArrowRight: "next", Home: "first", End: "last", " ": "play" };

  root.addEventListener("keydown", (event) => {
    if (!scene || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const box = event.target.closest(".lr-box");
    const typing = event.target.matches("input, select, summary");
    const pressing = event.target.matches("button") && (event.key === " " || event.key === "Enter");
    if (typing || pressing) return;
    if (state.walking && box) {
      if (ARROWS[event.key]) walkTo(...ARROWS[event.key]);
      else if (event.key === "Enter") pin({ ...state.point });
      else if (event.key === "Escape") leave();
      else return;
    } else if (box && event.key === "Enter") walk(box);
    else if (event.key === "Escape" && state.pin) pin(null);
    else if (STEPS[event.key]) parts.bar.act(STEPS[event.key]);
    else return;
    event.preventDefault();
  });
  root.addEventListener("focusout", () => {
    if (state.walking) leave();
  });

  function recolour(theme) {
    look = palette(theme);
    paintBars(root, look);
  }

  function retheme() {
    const theme = themeOf(probe);
    if (theme === look.theme) return;
    recolour(theme);
    if (scene) draw();
  }
  root.addEventListener("transitionend", (event) => {
    if (event.target === probe) retheme();
  });
  const watcher = new ResizeObserver(() => {
    if (panels) fit();
  });
  watcher.observe(root);

  // ---- the scene arrives -------------------------------------------------------------------------------------------

  function update(next, startStep) {
    const before = scene;
    scene = next;
    scene.projections = Object.fromEntries(
      Object.entries(next.projections).map(([name, packed]) => [name, packed.at ? packed : unpack(packed)]),
    );
    parts?.bar.stop();
    version += 1;
    const nextShape = JSON.stringify([next.lang, next.labels, next.prompt, next.settings, next.ranges]);
    if (state.wanted === null && startStep !== null) state.wanted = startStep;
    state.step = Math.min(last(), Math.max(first(), state.wanted ?? first()));
    const kept = before && state.step === first() ? (state.wantedFocus ?? state.step) : state.step;
    state.focus = state.step === first() ? Math.min(kept, state.step) : state.step;
    state.walking = null;
    state.point = null;
    if (state.pin) state.pin = clampTarget(state.pin, scene);
    if (nextShape !== shape) build();
    shape = nextShape;
    recolour(themeOf(probe));
    draw();
  }

  function destroy() {
    parts?.bar.stop();
    cancelAnimationFrame(following);
    watcher.disconnect();
    root.remove();
  }

  return { update, destroy, root };
}
