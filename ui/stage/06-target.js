// A target is what a reader points at: one cell, named by its meaning and not by its place on the page.

const KIND = {
  scores: "score",
  "row-raw": "score",
  "row-scaled": "score",
  "row-masked": "score",
  weights: "weight",
  "row-weights": "weight",
  "row-output": "output",
  "k-cache": "vector",
  "v-cache": "vector",
  projection: "vector",
};
const STRIPS = ["row-raw", "row-scaled", "row-masked", "row-weights"];

function targetOf(cell) {
  const panel = cell.closest("[data-panel]").dataset.panel;
  const { row, col, vector } = cell.dataset;
  return {
    panel,
    kind: KIND[panel],
    row: Number(row),
    column: Number(col),
    vector: vector || { "k-cache": "k", "v-cache": "v" }[panel],
  };
}

// After another sentence or other sizes: the same cell where it still is, the nearest one where it is not.
function clampTarget(target, scene) {
  const last = scene.tokens.length - 1;
  const across =
    target.kind === "output"
      ? scene.o[0].length - 1
      : target.kind === "vector"
        ? scene[target.vector][0].length - 1
        : last;
  return { ...target, row: Math.min(target.row, last), column: Math.min(target.column, across) };
}

function targetState(target, scene, step) {
  if (target.kind === "score" || target.kind === "weight") return scoreState(scene, target.row, target.column, step);
  if (target.vector === "k" || target.vector === "v") return keyState(scene, target.row, step);
  return target.row > step ? "future" : stepOfRow(scene, target.row) === step ? "now" : "earlier";
}

// What the row in focus reads most: something real to look at before anyone has pointed anywhere.
function strongest(scene, focus) {
  const weights = scene.weights[focus];
  let best = 0;
  weights.forEach((weight, column) => {
    if ((weight ?? -1) > (weights[best] ?? -1)) best = column;
  });
  return { panel: "row-weights", kind: "weight", row: focus, column: best };
}

// Everything the cell came from, panel by panel: { panel or vector: { boxes, rows, columns } }.
function sourcesOf(target, focus, step) {
  const { kind, row, column, vector } = target;
  const lit = {};
  const add = (panel, box, rows = [], columns = []) => {
    lit[panel] = { boxes: [box], rows, columns };
  };
  const inFocus = row === focus;
  if (kind === "score" || kind === "weight") {
    for (const panel of ["scores", "weights"]) add(panel, { row, column, columns: 1 }, [row], [column]);
    add("k-cache", { row: column }, [column]);
    add("v-cache", { row: column }, [column]);
    if (inFocus) {
      add("q", {});
      for (const panel of STRIPS) add(panel, { column, columns: 1 }, [], [column]);
    }
  } else if (kind === "output") {
    add("v-cache", { row: 0, rows: step + 1, column, columns: 1 });
    add("weights", { row, column: 0, columns: step + 1 }, [row]);
    add("row-weights", { column: 0, columns: step + 1 });
    add("row-output", { column, columns: 1 });
  } else {
    if (vector === "k" || vector === "v") add(`${vector}-cache`, { row, column, columns: 1 }, [row]);
    if (inFocus) {
      add("x", {});
      if (vector !== "x") add(vector, { column, columns: 1 });
    }
  }
  return lit;
}
