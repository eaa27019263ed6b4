// The one place that knows that Streamlit is there: a scene comes in with `data`, the address bar is written.

const mounted = new WeakMap();
// The module is evaluated anew when a page is left and entered again; the reader's place outlives that.
const lastSteps = (globalThis.lastRowSteps ??= new Map());
const PAUSE = 400;
const SETTLE = 50;

// The address bar is the saved state. `embed` options are Streamlit's own and stay.
function writeLink(link, place, prompt) {
  const old = new URLSearchParams(location.search);
  const params = new URLSearchParams();
  for (const [name, value] of old) if (name.startsWith("embed")) params.append(name, value);
  for (const [name, value] of Object.entries(link)) params.set(name, value);
  if (place !== prompt - 1) params.set("step", place + 1);
  const query = params.toString();
  if (query !== location.search.slice(1))
    history.replaceState(history.state, "", `${location.pathname}?${query}${location.hash}`);
}

export default function ({ data, parentElement }) {
  const { key } = data; // Streamlit's own is made anew at each mount
  let held = mounted.get(parentElement);
  if (!held) {
    held = { timer: null, link: {} };
    const remember = (place, scene) => {
      lastSteps.set(key, place);
      later(place, scene.prompt, PAUSE);
    };
    const later = (place, prompt, pause) => {
      clearTimeout(held.timer);
      held.timer = setTimeout(() => writeLink(held.link, place, prompt), pause);
    };
    held.later = later;
    held.stage = createStage(parentElement, remember);
    mounted.set(parentElement, held);
  }
  held.link = data.link;
  const start = lastSteps.has(key) ? lastSteps.get(key) : data.step === null ? null : data.step - 1;
  held.stage.update(data.scene, start);
  held.later(held.stage.place(), data.scene.prompt, SETTLE);
  return () => {
    clearTimeout(held.timer);
    held.stage.destroy();
    mounted.delete(parentElement);
  };
}
