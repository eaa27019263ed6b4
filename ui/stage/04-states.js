// What every cell is at a step. Pure functions of the scene; rows ask (queries), columns answer (keys).

// The step in which a row was worked out: the whole prompt at once, then one row a step.
const stepOfRow = (scene, row) => Math.max(row, scene.prompt - 1);

function keyState(scene, row, step) {
  if (row > step) return "future";
  if (stepOfRow(scene, row) === step) return "now";
  const window = scene.mask === "window" ? scene.settings.width : Infinity;
  return row < step + 1 - window ? "evicted" : "cached";
}

// How many keys a step reads: all that came, or what a rolling window holds. The prefill reads its whole block.
function keysHeld(scene, step) {
  const rolls = scene.mask === "window" && step > scene.prompt - 1;
  return rolls ? Math.min(step + 1, scene.settings.width) : step + 1;
}

function scoreState(scene, row, column, step) {
  if (row > step || column > step) return "future";
  const born = stepOfRow(scene, row);
  if (column > born) return "never";
  if (scene.visible[row][column] !== "1") return "masked";
  return born === step ? "now" : "earlier";
}

const KEPT = new Set(["now", "cached"]);
const WORKED = new Set(["now", "earlier"]);
