// Two maps that colour-blind readers can tell apart, one pair per theme. The same number has the same colour in
// every step, head and panel; the square-root-like curve keeps small values visible and the bar is drawn with it.

const RAMPS = {
  light: {
    weight: ["#f6f8fb", "#cfe0f2", "#8dbbe2", "#3f86c4", "#0d4a8f", "#062a5c"],
    signed: ["#7d0f1d", "#c23b3f", "#ec9d8f", "#f7f6f5", "#96bfe6", "#2f78bd", "#0b3d78"],
  },
  dark: {
    weight: ["#1d232d", "#20405f", "#2c69a0", "#4f9ad8", "#97c9f2", "#e3f2ff"],
    signed: ["#ffc4b6", "#ee7766", "#8c3a36", "#272c35", "#2a5a8c", "#5aa5e6", "#c6e4ff"],
  },
};
const CURVE = 0.6;
const LEVELS = 128;

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

function luminance(rgb) {
  const [r, g, b] = rgb.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function ramp(stops) {
  const colours = stops.map(channels);
  return Array.from({ length: LEVELS + 1 }, (_, level) => {
    const place = (level / LEVELS) * (colours.length - 1);
    const low = Math.min(Math.floor(place), colours.length - 2);
    const rgb = colours[low].map((part, i) => Math.round(part + (colours[low + 1][i] - part) * (place - low)));
    // black on light, white on dark: whichever contrasts more (never below 4.5 : 1)
    return { fill: `rgb(${rgb.join(",")})`, ink: luminance(rgb) > 0.179 ? "#000" : "#fff" };
  });
}

function palette(theme) {
  const weight = ramp(RAMPS[theme].weight);
  const signed = ramp(RAMPS[theme].signed);
  const bent = (share) => Math.min(1, Math.max(0, share)) ** CURVE;
  return {
    theme,
    weight: (value) => weight[Math.round(bent(value) * LEVELS)],
    signed: (value, range) =>
      signed[Math.round((0.5 + (Math.sign(value) * bent(Math.abs(value) / range)) / 2) * LEVELS)],
  };
}

// The theme in force is read from the background the page really has, so a switch in the menu is followed live.
function themeOf(node) {
  const parts = getComputedStyle(node).backgroundColor.match(/[\d.]+/g) || ["255", "255", "255"];
  return luminance(parts.slice(0, 3).map(Number)) < 0.25 ? "dark" : "light";
}
