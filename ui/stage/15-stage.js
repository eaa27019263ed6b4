// The stage: one scene in, stepped here. Nothing below this line asks the server for anything.

let stages = 0;
const ORDER = ["projection", "k-cache", "v-cache", "row", "detail", "next", "ledger", "scores", "weights"];

const isCoarse = () => matchMedia("(pointer: coarse)").matches;

// remember(place, scene) is told the token the reader is at, each time it changes.
function createStage(host, remember) {
  const uid = `lr${(stages += 1)}`;
  const root = el("div", { class: "lr-stage", "data-testid": "stage", tabindex: 0, role: "group" });
  const probe = el("i", { class: "lr-probe", "aria-hidden": "true" });
  // wanted: where the reader went, kept when a shorter text holds the step back
  const view = {
    step: 0,
    focus: 0,
    wanted: null,
    wantedFocus: null,
    pin: null,
    point: null,
    shows: "scaled",
    page: 0,
    speed: 1,
  };
  let scene = null;
  let shape = "";
  let panels = null;
  let parts = null;
  let look = null;
  host.append(root);
  root.append(probe);
  // Asked once: each question makes the browser work out the styles of the whole page.
  let sizes = sizer(root.clientWidth, isCoarse());
  const family = getComputedStyle(root).fontFamily || "sans-serif";

  const first = () => scene.prompt - 1;
  const last = () => scene.tokens.length - 1;
  const pageOf = (values) => Math.min(view.page, Math.floor((values[0].length - 1) / PAGE)) * PAGE;
  const featurePage = (name) => {
    const values = { "k-cache": "k", "v-cache": "v", "row-output": "o", x: "x", q: "q", k: "k", v: "v" }[name];
    return values ? pageOf(scene[values]) : 0;
  };
  const pointer = pointing(root, () => ({ scene, view, panels, ...parts }), featurePage);

  // ---- building, once per shape of the scene -----------------------------------------------------------------------

  function build() {
    pointer.leave();
    const { words, lang } = scene;
    const open = panels?.ledger.formula.open;
    panels = buildPanels(scene, uid, family, sizes, panels);
    panels.ledger.formula.open = Boolean(open);
    parts?.bar.stop();
    parts = {
      bar: player(words, { ...walk(), view }),
      tokens: tokenStrip(scene, chooseToken),
      headline: el("p", { class: "lr-headline", "aria-live": "polite", "data-say": "step" }),
      note: el("p", { class: "lr-note", role: "status" }),
      live: el("p", { class: "lr-hidden", "aria-live": "polite", "data-say": "cell" }),
    };
    const pages = pager(scene, view.page, (page) => {
      view.page = page;
      draw();
    });
    if (pages) panels.cards.projection.section.append(pages);
    const save = (kind) =>
      savePicture(root, getComputedStyle(probe).backgroundColor, kind, `last-row-${view.step + 1}`);
    root.replaceChildren(
      probe,
      patterns(uid),
      parts.tokens,
      el("p", { class: "lr-quiet lr-phases" }, phasesText(scene)),
      el("div", { class: "lr-bar" }, parts.bar.node, saveTools(words, save)),
      el("div", { class: "lr-lead" }, parts.headline, panels.ledger.summary, parts.note),
      el(
        "div",
        { class: "lr-grid" },
        ...ORDER.filter((name) => panels.cards[name]).map((name) => panels.cards[name].section),
      ),
      legend(scene, uid),
      el("p", { class: "lr-quiet lr-signature" }, signature(scene)),
      parts.live,
    );
    panels.shows.addEventListener("click", (event) => {
      view.shows = event.target.closest("[data-shows-choice]")?.dataset.showsChoice ?? view.shows;
      draw();
    });
    setAttributes(root, {
      "aria-label": words.stage,
      "data-lang": lang,
      "data-steps": scene.tokens.length,
      lang: lang === "zh" ? "zh-Hans" : lang,
    });
    followSoon();
  }

  // Keeps the token in focus and the newest key in sight where something scrolls. It waits for the frame to be
  // painted: to ask for a size or a scroll position earlier would lay the page out twice.
  let following = 0;
  function followSoon() {
    cancelAnimationFrame(following);
    following = requestAnimationFrame(() => setTimeout(follow));
  }

  function follow() {
    const boxes = [panels.strips, panels.cards.scores.box, panels.cards.weights.box];
    panels.scrolling ??= boxes.filter((box) => box.scrollWidth > box.clientWidth + 1);
    const item = parts.tokens.children[view.focus];
    if (item) reveal(parts.tokens, item.offsetLeft, item.offsetLeft + item.offsetWidth);
    const { column } = view.pin ?? strongest(scene, view.focus);
    for (const box of panels.scrolling) {
      const { grid } = panels.grids[box.dataset.grid || STRIPS[0]];
      const aside = box === panels.strips ? grid.node.parentElement.offsetLeft : 0;
      for (const key of [view.step, Math.min(column, view.step)])
        reveal(box, ...grid.span(key).map((x) => x + aside), aside);
    }
  }

  function reveal(box, from, to, aside = 0) {
    const seen = from - aside >= box.scrollLeft && to <= box.scrollLeft + box.clientWidth;
    if (!seen) box.scrollLeft = from < box.scrollLeft + aside ? from - aside - 8 : to - box.clientWidth + 8;
  }

  // ---- drawing a step: only what changes is touched ----------------------------------------------------------------

  function draw() {
    const { step, focus, shows } = view;
    const views = viewsOf(scene, step, focus, shows, pageOf);
    const { score, vector } = scene.ranges;
    const looks = {
      weight: look.weight,
      score: (value) => look.signed(value, score),
      vector: (value) => look.signed(value, vector),
    };
    for (const [name, { grid }] of Object.entries(panels.grids)) {
      const page = featurePage(name);
      grid.address(grid.rows === 1 ? focus : 0, page);
      grid.update(views[name], looks[LOOK[name] || "vector"], `${look.theme} ${score} ${vector}`);
      grid.label(step, focus);
    }
    drawFrames();
    writeCaptions(scene, view, panels, parts.headline);
    updateLedger(panels.ledger, scene, step);
    drawTokens();
    const beyond = view.wanted > last();
    setText(parts.note, beyond ? fill(scene.words.step_clamped, { i: view.wanted + 1, n: last() + 1 }) : "");
    pointer.draw();
    followSoon();
    setAttributes(root, { "data-step": step, "data-focus": focus, "data-theme": look.theme });
    parts.bar.sync(fill(scene.words.slider_at, { i: place() + 1, n: last() + 1, token: scene.labels[place()] }));
    setAttributes(panels.cards.scores.box, { "data-shows": shows });
    for (const choice of panels.shows.children)
      setAttributes(choice, { "aria-pressed": choice.dataset.showsChoice === shows });
  }

  function drawFrames() {
    const { step, focus } = view;
    const { grids } = panels;
    const prefill = step === first();
    const held = keysHeld(scene, step);
    const read = { column: step + 1 - held, columns: held };
    const rows = prefill ? { row: 0, rows: step + 1 } : { row: step };
    const old = { rows: step, kind: "lr-dashed" };
    const blocks = prefill
      ? [
          { ...rows, ...read },
          { row: focus, ...read, kind: "lr-thin" },
        ]
      : [
          { ...old, columns: step },
          { ...old, column: step, columns: 1 },
          { ...rows, ...read },
        ];
    for (const name of ["k-cache", "v-cache"]) grids[name].grid.frame([rows]);
    for (const name of ["scores", "weights"]) grids[name].grid.frame(blocks);
    for (const name of STRIPS) grids[name].grid.frame([read]);
  }

  function drawTokens() {
    const { step, focus } = view;
    parts.tokens.querySelectorAll("button").forEach((token, i) => {
      const state = i > step ? "future" : stepOfRow(scene, i) === step ? "now" : "earlier";
      setAttributes(token, { "data-state": state, "aria-current": i === focus ? "step" : null });
    });
  }

  // ---- moving ------------------------------------------------------------------------------------------------------

  function goTo(step, focus = first()) {
    view.step = view.wanted = Math.min(last(), Math.max(first(), step));
    view.focus = view.wantedFocus = view.step === first() ? Math.min(focus, first()) : view.step;
    draw();
    remember(place(), scene);
  }

  // What the buttons, the slider and the arrows go through: the steps, or the rows of an encoder's one step.
  const walk = () =>
    scene.encoder
      ? { move: (row) => goTo(first(), Math.max(0, row)), range: () => [0, last()], at: () => view.focus }
      : { move: goTo, range: () => [first(), last()], at: () => view.step };

  // The token the reader is at: its row, within the prefill too.
  const place = () => (view.step === first() ? view.focus : view.step);

  function chooseToken(i) {
    parts.bar.stop();
    goTo(Math.max(i, first()), i);
  }

  // ---- the theme, the width, the scene -----------------------------------------------------------------------------

  function recolour(theme) {
    look = palette(theme);
    paintBars(root, look);
  }

  root.addEventListener("transitionend", (event) => {
    if (event.target !== probe || !scene || themeOf(probe) === look.theme) return;
    recolour(themeOf(probe));
    draw();
  });
  const watcher = new ResizeObserver(([entry]) => {
    const was = sizes.name;
    sizes = sizer(entry.contentRect.width, isCoarse());
    if (!panels) return;
    if (was !== sizes.name) {
      build();
      draw();
    }
    panels.scrolling = null;
    followSoon();
  });
  watcher.observe(root);

  // startStep counts from 0; null: the prefill; a token of the prompt: the prefill with its row in focus. A step and a pinned cell survive, clamped to what there is.
  function update(next, startStep) {
    scene = {
      ...next,
      projections: Object.fromEntries(
        Object.entries(next.projections).map(([name, packed]) => [name, unpack(packed)]),
      ),
    };
    parts?.bar.stop();
    pointer.leave();
    view.wanted ??= startStep;
    view.wantedFocus ??= startStep;
    view.step = Math.min(last(), Math.max(first(), view.wanted ?? first()));
    view.focus = view.step === first() ? Math.min(view.wantedFocus ?? first(), first()) : view.step;
    view.point = null;
    view.pin = view.pin && clampTarget(view.pin, scene);
    const built = shape;
    shape = JSON.stringify([next.lang, next.labels, next.typed, next.prompt, next.settings, next.ranges]);
    if (shape !== built) build();
    recolour(look?.theme ?? themeOf(probe));
    draw();
  }

  function destroy() {
    parts?.bar.stop();
    cancelAnimationFrame(following);
    watcher.disconnect();
    root.remove();
  }

  return { update, destroy, place };
}
