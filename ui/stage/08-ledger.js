// The ledger: what this step cost with the cache and without, the bytes held, and how far the twin runs are apart.
// The figures come with the scene; here they are laid out and their formula is filled in.

const FIGURES = ["mul-step", "mul-step-full", "mul-total", "mul-total-full"];

function ledgerCard(words) {
  const figure = (name, className = "") => el("output", { "data-ledger": name });
  const nodes = Object.fromEntries([...FIGURES, "cache-bytes", "delta"].map((name) => [name, figure(name)]));
  nodes["mul-step"].classList.add("lr-now");
  const part = Object.fromEntries(
    ["saved", "savedTotal", "cached", "full", "holds", "bytes", "sentence", "mark"].map((name) => [name, el("span")]),
  );
  const row = (title, ...cells) =>
    el("tr", {}, el("th", { scope: "row" }, title), ...cells.map((cell) => el("td", {}, cell)));
  const formula = el(
    "details",
    { class: "lr-formula" },
    el("summary", {}, words.formula),
    el("p", {}, part.cached),
    el("p", {}, part.full),
    el("p", { class: "lr-quiet" }, words.not_counted),
  );
  const node = el(
    "div",
    { class: "lr-ledger" },
    el(
      "div",
      {},
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", { scope: "col" }, words.multiplies),
            el("th", { scope: "col" }, words.this_step),
            el("th", { scope: "col" }, words.so_far),
          ),
        ),
        el(
          "tbody",
          {},
          row(words.with_cache, nodes["mul-step"], nodes["mul-total"]),
          row(words.without_cache, nodes["mul-step-full"], nodes["mul-total-full"]),
          row(words.saved, part.saved, part.savedTotal),
        ),
      ),
      formula,
    ),
    el(
      "div",
      {},
      el(
        "div",
        { class: "lr-twin" },
        el("p", { class: "lr-delta" }, words.twin, " ", el("b", {}, "max|Δ| = ", nodes.delta), " ", part.mark),
        el("p", { class: "lr-quiet" }, part.sentence),
      ),
      el("p", {}, el("b", {}, part.holds, " "), part.bytes, " = ", nodes["cache-bytes"], " B"),
      el("p", {}, el("b", {}, words.q_cache, " "), el("span", { class: "lr-quiet" }, words.no_q_cache)),
    ),
  );
  return { node, nodes, part, formula, summary: el("span", { class: "lr-summary" }) };
}

// full(t) and cached(t) per layer as architecture fixes them, with the numbers in their places
function formulas(scene, step) {
  const { d_model: m, d_k: k, d_v: v, heads: h, kv_heads: g, layers } = scene.settings;
  const t = step + 1;
  const held = scene.mask === "window" ? Math.min(t, scene.settings.width) : t;
  const projections = `${m}·(${h}·${k} + ${g}·${k} + ${g}·${v})`;
  const full = `${layers} × [${t}·${projections} + ${h}·${t}²·${k} + ${h}·${t}²·${v} + ${t}·${h}·${v}·${m}]`;
  const cached = `${layers} × [${projections} + ${h}·${held}·${k} + ${h}·${held}·${v} + ${h}·${v}·${m}]`;
  return { full, cached: step === scene.prompt - 1 ? full : cached, held };
}

function ratio(full, cached) {
  const value = full / cached;
  return `×${value < 10 ? value.toFixed(1) : value.toFixed(0)}`;
}

function verdictSentence(scene, step) {
  const { words, verdicts, settings } = scene;
  const key = verdicts[step];
  const base = fill(words[`verdict_${key}`], { dtype: settings.dtype });
  const breaks = key === "broken" ? scene.broken.map((name) => words[`broken_${name}`]) : [];
  const coarse = settings.dtype.endsWith("16") && (key === "zero" || key === "rounding") ? [words.coarse] : [];
  return [base, ...breaks, ...coarse].join(" ");
}

function updateLedger(ledger, scene, step) {
  const { nodes, part } = ledger;
  const { lang, settings, multiplies } = scene;
  const numbers = {
    "mul-step": multiplies.cached[step],
    "mul-step-full": multiplies.full[step],
    "mul-total": multiplies.cached_total[step],
    "mul-total-full": multiplies.full_total[step],
    "cache-bytes": scene.cache_bytes[step],
  };
  for (const [name, value] of Object.entries(numbers)) {
    setText(nodes[name], whole(value, lang));
    setAttributes(nodes[name], { "data-value": value });
  }
  const delta = scene.delta[step] === null ? "–" : scientific(scene.delta[step]);
  setText(nodes.delta, delta);
  setAttributes(nodes.delta, { "data-value": scene.delta[step] });
  const { full, cached, held } = formulas(scene, step);
  setText(part.saved, ratio(numbers["mul-step-full"], numbers["mul-step"]));
  setText(part.savedTotal, ratio(numbers["mul-total-full"], numbers["mul-total"]));
  setText(part.cached, `${scene.words.with_cache}: ${cached} = ${whole(numbers["mul-step"], lang)}`);
  setText(part.full, `${scene.words.without_cache}: ${full} = ${whole(numbers["mul-step-full"], lang)}`);
  setText(part.holds, scene.encoder ? scene.words.encoder_holds : scene.words.cache_holds);
  const layers = settings.layers > 1 ? ` × ${fill(scene.words.n_layers, { n: settings.layers })}` : "";
  setText(
    part.bytes,
    `${fill(scene.words[held === 1 ? "n_keys_one" : "n_keys"], { n: held })} × ${settings.kv_heads} × (${settings.d_k} + ${settings.d_v}) × ${scene.element_bytes} B${layers}`,
  );
  const right = ["rounding", "zero"].includes(scene.verdicts[step]);
  setAttributes(ledger.node, { "data-verdict": scene.verdicts[step] });
  const mark = right ? "✓" : "✕";
  setText(part.mark, mark);
  const times = ratio(numbers["mul-step-full"], numbers["mul-step"]);
  const saved = scene.encoder ? "" : `${scene.words.saved} ${times}  ·  `;
  setText(ledger.summary, `${saved}max|Δ| = ${delta} ${mark}`);
  setAttributes(ledger.summary, { "data-verdict": scene.verdicts[step] });
  setText(part.sentence, verdictSentence(scene, step));
}
