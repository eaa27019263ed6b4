// The sentences of a step: what each panel shows now, in the reader's language.

function writeCaptions(scene, view, panels, headline) {
  const { words, settings } = scene;
  const { step, focus } = view;
  const phase = scene.encoder ? "encoder" : step === scene.prompt - 1 ? "prefill" : "decode";
  const values = {
    i: focus + 1,
    n: scene.tokens.length,
    p: scene.prompt,
    t: step + 1,
    before: step,
    held: keysHeld(scene, step),
    token: clip(scene.labels[focus], 24),
    k: settings.d_k,
    v: settings.d_v,
    kv: scene.kv_head,
    g: settings.kv_heads,
    sub: subscript(step + 1),
    w: settings.width,
  };
  const say = (key, more = {}) => fill(words[key], { ...values, ...more });
  const { cards } = panels;
  const masked = scene.encoder && scene.mask !== "bidirectional" ? "_masked" : "";
  setText(headline, say(`headline_${phase}${masked}`));
  setText(cards.projection.note, [say(`projection_${phase}`), ...(scene.normed ? [words.normed] : [])].join(" "));
  setText(cards.row.heading, say(`title_row_${phase}`));
  setText(cards.scores.note, say(`scores_${phase}`));
  const bias = scene.bias ? ` + ${words.bias}` : "";
  setText(cards.scores.heading, say("title_scores", { scale: view.shows === "raw" ? "" : scaleText(scene) + bias }));
  const dropped = phase === "prefill" && scene.mask === "window" && scene.prompt > settings.width ? "_window" : "";
  const shared = settings.kv_heads < settings.heads ? ` ${say("cache_shared")}` : "";
  for (const [name, width] of [
    ["k_cache", settings.d_k],
    ["v_cache", settings.d_v],
  ]) {
    const { heading, note } = cards[name.replace("_", "-")];
    setText(heading, say(`title_${name}${scene.encoder ? "_encoder" : ""}`, { width }));
    setText(note, say(phase === "decode" ? `note_${name}` : `cache_${phase}${dropped}`) + shared);
  }
  const looksAhead = scene.mask === "bidirectional" || scene.mask === "prefix";
  const blocks =
    phase !== "decode"
      ? [`blocks_${phase}`]
      : ["blocks_old", looksAhead ? "blocks_column_open" : "blocks_column", "blocks_row"];
  panels.blocks.replaceChildren(...blocks.map((key) => el("li", {}, say(key))));
  setText(
    cards.weights.note,
    [words.weights_note, ...(scene.job ? [fill(words.job, { job: scene.job })] : [])].join(" "),
  );
  if (scene.next) updateNext(cards.next, scene, focus, say);
  panels.vectors.forEach(({ title }, i) => setText(title, "xqkv"[i] + subscript(focus + 1)));
}
