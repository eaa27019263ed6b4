// What the model makes of the row in focus: the likeliest words, from the run's own probabilities.

function nextCard(words) {
  const list = el("ol", { class: "lr-next", "data-panel": "next" });
  const { section, heading, note } = card("next", "", "", list);
  return { section, heading, note, list, words };
}

// One bar a word: [label, probability]; the word that the text goes on with is marked.
function updateNext(panel, scene, focus, say) {
  const { top, chosen } = scene.next[focus];
  const { words } = panel;
  const open = chosen === null ? "next_open" : focus + 1 < scene.typed ? "next_typed" : "next_generated";
  setText(panel.heading, say(scene.encoder ? "title_fill" : "title_next"));
  setText(panel.note, scene.encoder ? words.fill_note : say(open));
  const rows = top.map(([label, share], at) => {
    const mine = at === chosen;
    const said = `${label} ${percent(share)}${mine ? `, ${words.chosen}` : ""}`;
    return el(
      "li",
      { "data-value": share, "data-chosen": mine, "aria-label": said },
      el("span", { class: "lr-next-word" }, clip(label, 14)),
      el("span", { class: "lr-next-bar" }, el("i", { style: `width: ${Math.max(0.4, share * 100)}%` })),
      el("span", { class: "lr-next-share" }, percent(share)),
    );
  });
  panel.list.replaceChildren(...rows);
}

const percent = (share) => {
  if (share >= 0.001 && share < 0.9995) return `${(share * 100).toFixed(1)}%`;
  return share >= 1e-5 && share < 0.5
    ? `${Number((share * 100).toPrecision(1))}%`
    : share >= 0.5
      ? `${precise(share * 100)}%`
      : `${scientific(share * 100)}%`;
};
