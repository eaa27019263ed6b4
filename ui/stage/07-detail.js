// One cell written out with its numbers. Sums are spelled term by term from the run's own tensors; the result on the
// right of a "=" is the run's, so a reader who adds up the terms checks the run.

const FEW = 3;
const MANY = 8;
const signed = (value) => (value < 0 ? `(${precise(value)})` : precise(value));

// a·b term by term: the first few, or all of them once asked for.
function products(left, right, words, all) {
  const n = left.length;
  const show = all || n <= FEW + 1 ? n : FEW;
  const terms = left.slice(0, show).map((a, i) => `${signed(a)}×${signed(right[i])}`);
  return terms.join(" + ") + (show < n ? ` + … ${fill(words.more_terms, { n: n - show })}` : "");
}

const vectorText = (values, all) =>
  `[${values
    .slice(0, all ? values.length : MANY)
    .map(precise)
    .join(", ")}${!all && values.length > MANY ? ", …" : ""}]`;

function scaleText(scene) {
  const { scale, temperature, d_k: width } = scene.settings;
  const root = scale === "on" ? `÷ √${width}` : "";
  return [root, temperature === 1 ? "" : `÷ ${temperature}`].filter(Boolean).join(" ") || "× 1";
}

const readsNothing = (scene, row) => !scene.visible[row].includes("1");

function scoreLines(target, scene, all) {
  const { words } = scene;
  const { row, column } = target;
  const [i, j] = [subscript(row + 1), subscript(column + 1)];
  const worked = scene.present[row][column] === "1";
  if (readsNothing(scene, row)) return [[words.detail_state, words.reads_nothing]];
  if (!worked) return [[words.detail_state, words.why_never]];
  const raw = scene.raw[row][column];
  const scaled = scene.scaled[row][column];
  const bias = scene.bias ? ` + ${signed(scene.bias[row][column])} ${words.bias}` : "";
  const lines = [
    [`q${i}·k${j}`, `${products(scene.q[row], scene.k[column], words, all)} = ${precise(raw)}`],
    [words.detail_scale, `${precise(raw)} ${scaleText(scene)}${bias} = ${precise(scaled)}`],
  ];
  if (scene.visible[row][column] !== "1")
    return [...lines, [words.detail_mask, `−∞ → a${i},${j} = 0`], ["", words.why_masked]];
  const seen = scene.scaled[row].filter((_, key) => scene.visible[row][key] === "1");
  const most = Math.max(...seen);
  const total = seen.reduce((sum, score) => sum + Math.exp(score - most), 0);
  const weight = scene.weights[row][column];
  return [
    ...lines,
    [words.detail_exponent, `e^(${precise(scaled)} − ${signed(most)}) = ${precise(Math.exp(scaled - most))}`],
    [
      words.detail_share,
      `${precise(Math.exp(scaled - most))} ÷ ${precise(total)} = ${precise(weight)}   ${fill(words.detail_sum_of, { n: seen.length })}`,
    ],
    [
      `a·v${j}`,
      `${precise(weight)} × ${vectorText(scene.v[column], all)} = ${vectorText(
        scene.v[column].map((value) => value * weight),
        all,
      )}`,
    ],
  ];
}

function outputLines(target, scene, all) {
  const { row, column } = target;
  const keys = scene.weights[row]
    .map((weight, key) => [weight, key])
    .filter(([weight, key]) => weight !== null && scene.visible[row][key] === "1");
  const weights = keys.map(([weight]) => weight);
  const values = keys.map(([, key]) => scene.v[key][column]);
  if (!keys.length) return [[`o${subscript(row + 1)}`, scene.words.reads_nothing]];
  return [[`o = Σ a·v`, `${products(weights, values, scene.words, all)} = ${precise(scene.o[row][column])}`]];
}

// Rotary: the pair of a feature, and the angle of the position that the run used (RoFormer, eq. 34).
function rotation(scene, row, column) {
  const width = scene.settings.d_k;
  const half = width / 2;
  const halves = scene.settings.pairing === "halves";
  const pair = halves ? column % half : Math.floor(column / 2);
  const first = halves ? column < half : column % 2 === 0;
  const partner = halves ? (first ? column + half : column - half) : first ? column + 1 : column - 1;
  return { partner, first, angle: scene.positions[row] * scene.base ** ((-2 * pair) / width) };
}

function vectorLines(target, scene, all) {
  const { words } = scene;
  const { row, column, vector } = target;
  const value = scene[vector][row][column];
  if (vector === "x")
    return [
      [
        `x${subscript(row + 1)}`,
        `${precise(value)}   ${scene.normed ? words.x_normed : scene.settings.layer === 1 ? words.x_first : words.x_later}`,
      ],
    ];
  const stale = vector === "k" && row === scene.stale_row;
  if (stale)
    return [[`k${subscript(row + 1)}`, `${precise(value)}   ${fill(words.stale_cell, { i: row + 1, j: row })}`]];
  const matrix_ = scene.projections[vector];
  const columnOf = (feature) => scene.x[row].map((_, j) => matrix_.at(j, feature));
  const sum = (feature) => dot(scene.x[row], columnOf(feature));
  const name = `${vector}${subscript(row + 1)}[${column + 1}]`;
  const written = products(scene.x[row], columnOf(column), words, all);
  if (scene.settings.positions !== "rotary" || vector === "v")
    return [[`${name} = Σ x·w`, `${written} = ${precise(value)}`]];
  const { partner, first, angle } = rotation(scene, row, column);
  const [mine, other] = [sum(column), sum(partner)];
  return [
    ["Σ x·w", `${written} = ${precise(mine)}`],
    [
      words.rotated,
      `${precise(mine)}×cos(${precise(angle)}) ${first ? "−" : "+"} ${signed(other)}×sin(${precise(angle)}) = ${precise(value)}`,
    ],
  ];
}

const LINES = { score: scoreLines, weight: scoreLines, output: outputLines, vector: vectorLines };
// How many terms its sum has: what "all terms" unfolds. None where nothing was worked out.
const scoreTerms = (scene, { row, column }) =>
  scene.present[row][column] === "1" && !readsNothing(scene, row) ? scene.settings.d_k : 0;
const TERMS = {
  score: scoreTerms,
  weight: scoreTerms,
  output: (scene, { row }) => [...scene.visible[row]].filter((seen) => seen === "1").length,
  vector: (scene, { vector }) => (vector === "x" ? 0 : scene.settings.d_model),
};

function titleOf(target, scene) {
  const { words, labels } = scene;
  const { row, column, kind, vector } = target;
  const query = { i: row + 1, query: clip(labels[row], 12) };
  if (kind === "score" || kind === "weight")
    return fill(words[`title_${kind}`], { ...query, j: column + 1, key: clip(labels[column], 12) });
  if (kind === "output") return fill(words.title_output, { ...query, f: column + 1 });
  return fill(words[`title_${vector}`], { ...query, f: column + 1 });
}

// The same in one sentence, for a reader who hears the page.
function sentenceOf(target, scene, step) {
  const state = targetState(target, scene, step);
  const { row, column, kind } = target;
  const stateWords = scene.words[`state_${state}`];
  if (state === "future" || state === "never" || state === "evicted")
    return `${titleOf(target, scene)}: ${stateWords}`;
  if (kind !== "score" && kind !== "weight") {
    const value = kind === "output" ? scene.o[row][column] : scene[target.vector][row][column];
    return `${titleOf(target, scene)}: ${precise(value)}. ${stateWords}`;
  }
  if (scene.visible[row][column] !== "1")
    return `${titleOf(target, scene)}: ${scene.present[row][column] === "1" ? scene.words.state_masked : scene.words.why_never}`;
  return fill(scene.words.say_score, {
    title: titleOf(target, scene),
    raw: precise(scene.raw[row][column]),
    scaled: precise(scene.scaled[row][column]),
    weight: precise(scene.weights[row][column]),
    state: stateWords,
  });
}
