// Numbers as people read them. A tiny weight is never printed as a bare 0.00, nor one that is almost all as 1.

const minus = (text) => text.replace("-", "−");

// Fits a cell: ".24", "−1.7", "6e−9", ">.99".
function short(value) {
  const size = Math.abs(value);
  if (size === 0 || size === 1) return minus(String(value));
  if (size < 0.005 || size >= 9999.5) return minus(value.toExponential(0).replace("e+", "e")).replace("e-", "e−");
  if (value < 1 && value >= 0.995) return ">.99";
  if (size < 0.995) return minus(value.toFixed(2).replace("0.", "."));
  return minus(size < 9.95 ? value.toFixed(1) : value.toFixed(0));
}

// For sums that a reader checks by hand: four significant digits.
function precise(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.001 || size >= 1e6) return minus(value.toExponential(3)).replace("e-", "e−").replace("e+", "e");
  const rounded = value.toPrecision(4);
  if (Math.abs(Number(rounded)) === 1 && size !== 1) return minus(value.toPrecision(8));
  return minus(rounded);
}

const scientific = (value) =>
  value === 0 ? "0" : minus(value.toExponential(1)).replace("e-", "e−").replace("e+", "e");

const whole = (value, lang) => value.toLocaleString(lang === "zh" ? "zh-CN" : "en-US");

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
  return sum;
}

// A weight matrix travels as base64 of little-endian floats (rows × columns); everything else is plain JSON.
function unpack({ data, rows, columns, bytes }) {
  const raw = Uint8Array.from(atob(data), (character) => character.charCodeAt(0)).buffer;
  const flat = bytes === 8 ? new Float64Array(raw) : new Float32Array(raw);
  return { rows, columns, at: (row, column) => flat[row * columns + column] };
}
