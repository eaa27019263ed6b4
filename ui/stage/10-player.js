// The bar under the token strip: buttons, play, slider, speed. It owns the clock and nothing else.

const ICONS = {
  first: "M4 3h2v10H4zM13 3v10L6.5 8z",
  prev: "M11.5 3v10L4.5 8z",
  play: "M4 2.5v11L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M4.5 3v10L11.5 8z",
  last: "M10 3h2v10h-2zM3 3v10l6.5-5z",
};
const SPEEDS = [0.5, 1, 2, 4];
const BEAT = 900;

const icon = (name) =>
  svg(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
    svg("path", { d: ICONS[name], fill: "currentColor" }),
  );

// move(step) takes the reader to a step; range() -> [first, last]; at() -> the step now; view.speed outlives a rebuild
function player(words, { move, range, at, view }) {
  let timer = null;
  const button = (action) =>
    el(
      "button",
      {
        type: "button",
        "data-action": action,
        title: words[`action_${action}`],
        "aria-label": words[`action_${action}`],
        on: { click: () => act(action) },
      },
      icon(action),
    );
  const buttons = Object.fromEntries(
    ["first", "prev", "play", "next", "last"].map((action) => [action, button(action)]),
  );
  const slider = el("input", {
    type: "range",
    class: "lr-slider",
    step: 1,
    "aria-label": words.slider,
    on: {
      input: () => {
        stop();
        move(Number(slider.value));
      },
    },
  });
  const pace = el(
    "select",
    {
      class: "lr-speed",
      "aria-label": words.speed,
      on: {
        change: () => {
          view.speed = Number(pace.value);
          if (timer) {
            stop();
            start();
          }
        },
      },
    },
    ...SPEEDS.map((value) =>
      el("option", { value, ...(value === view.speed ? { selected: true } : {}) }, `${value}×`),
    ),
  );

  function show() {
    const playing = timer !== null;
    buttons.play.replaceChildren(icon(playing ? "pause" : "play"));
    setAttributes(buttons.play, {
      "aria-pressed": playing,
      "aria-label": words[playing ? "action_pause" : "action_play"],
      title: words[playing ? "action_pause" : "action_play"],
    });
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    show();
  }

  function start() {
    const [first, last] = range();
    if (first === last) return;
    if (at() >= last) move(first);
    timer = setInterval(() => {
      move(at() + 1);
      if (at() >= range()[1]) stop();
    }, BEAT / view.speed);
    show();
  }

  function act(action) {
    const [first, last] = range();
    const playing = timer !== null;
    stop();
    if (action === "play") {
      if (!playing) start();
      return;
    }
    move({ first, last, prev: at() - 1, next: at() + 1 }[action]);
  }

  return {
    node: el(
      "div",
      { class: "lr-buttons", role: "group", "aria-label": words.player },
      ...Object.values(buttons),
      slider,
      pace,
    ),
    act,
    stop,
    playing: () => timer !== null,
    sync(label) {
      const [first, last] = range();
      setAttributes(slider, { min: first, max: last, "aria-valuetext": label });
      slider.disabled = first === last;
      if (Number(slider.value) !== at()) slider.value = at();
      for (const action of ["first", "prev"])
        setAttributes(buttons[action], { "aria-disabled": at() === first ? "true" : null });
      for (const action of ["next", "last"])
        setAttributes(buttons[action], { "aria-disabled": at() === last ? "true" : null });
    },
  };
}
