// Contrast of each number or label that the stage writes: [ratio, panel, state, text], colours as the page has them.
() => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const faded = (colour, share) => [...colour.slice(0, 3), colour[3] * share];
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = (element) => {
    const chain = [];
    for (let e = element; e; e = e.parentElement) chain.unshift(e);
    return chain.reduce((under, e) => over(rgba(getComputedStyle(e).backgroundColor), under), [255, 255, 255, 1]);
  };
  const measure = (words, box) => {
    const drawn = words instanceof SVGElement;
    let under = ground(drawn ? words.ownerSVGElement : words);
    if (box) {
      const style = getComputedStyle(box);
      under = over(faded(rgba(style.fill), style.fillOpacity * style.opacity), under);
    }
    const style = getComputedStyle(words);
    const ink = over(faded(rgba(drawn ? style.fill : style.color), +style.opacity), under);
    const [a, b] = [light(ink), light(under)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const inside = (words, box) => {
    const [w, b] = [words.getBoundingClientRect(), box.getBoundingClientRect()];
    const [x, y] = [w.left + w.width / 2, w.top + w.height / 2];
    return b.left <= x && x <= b.right && b.top <= y && y <= b.bottom;
  };
  const found = [];
  for (const panel of document.querySelectorAll("[data-panel^=row-]")) {
    const boxes = [...panel.querySelectorAll("[data-cell]")];
    for (const words of panel.querySelectorAll("text")) {
      const box = words.textContent.trim() && boxes.find((one) => inside(words, one));
      if (box && box.dataset.state !== "future") found.push([measure(words, box), panel.dataset.panel, box.dataset.state, words.textContent]);
    }
  }
  for (const token of document.querySelectorAll("[data-panel=tokens] [data-cell]:not([data-state=future])")) {
    found.push([measure(token, null), "tokens", token.dataset.state, token.textContent]);
  }
  return found;
}
