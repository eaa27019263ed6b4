// In every measured page: arm(event, ready) starts a clock when the reader's event arrives and stops it two frames after
// `ready()` has become true, that is, once what it asked for is painted.
window.bench = {
  arm(event, ready) {
    window.bench.result = new Promise((done) => {
      const onEvent = () => {
        removeEventListener(event, onEvent, true);
        const start = performance.now();
        const painted = () => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
        const check = () => {
          if (!ready()) return false;
          watcher.disconnect();
          painted();
          return true;
        };
        const watcher = new MutationObserver(check);
        watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      };
      addEventListener(event, onEvent, true);
    });
  },
};
