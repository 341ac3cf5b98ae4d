// Runs in the window's page. It catches the terminals that are opened and measures at them, from inside: when bytes were
// drawn, and when the frame after them was. The page knows nothing of it. What is fed from memory is given.

((given) => {
  if (window.bench) return;
  // sink: so many bytes are thrown away instead of drawn
  const bench = { view: undefined, views: [], marks: {}, echoes: [], under: 0, hungry: 0, chunks: 0, sink: 0 };
  window.bench = bench;

  const set = Map.prototype.set;
  Map.prototype.set = function (key, value) {
    if (value?.terminal?.write && value.element) caught(value);
    return set.call(this, key, value);
  };
  /** Ends the catching, so that nothing is measured through a changed Map. */
  bench.settle = () => {
    Map.prototype.set = set;
  };

  /** A terminal was opened. What a program prints as OSC 7777;NAME is a mark, with the time at which it was drawn. */
  function caught(view) {
    bench.view = view;
    if (bench.views.includes(view)) return;
    bench.views.push(view);
    const { terminal } = view;
    terminal.parser.registerOscHandler(7777, (name) => {
      bench.marks[name] = performance.now();
      if (name === "key" && view.benchKey !== undefined) drawn(view);
      return true;
    });
    const write = terminal.write.bind(terminal);
    view.benchWrite = write;
    terminal.write = (data, done) => {
      if (bench.sink > 0) {
        bench.sink -= data.length;
        if (bench.sink <= 0) bench.marks.sunk = performance.now();
        done?.();
        return;
      }
      if (bench.under === 0) bench.hungry += performance.now() - bench.empty;
      bench.under++;
      bench.chunks++;
      write(data, () => {
        done?.();
        if (--bench.under === 0) bench.empty = performance.now();
      });
    };
  }

  /** What a key made its program print is in the terminal's buffer, or has scrolled out of it; the next frame shows that. */
  function drawn(view) {
    const since = view.benchKey;
    view.benchKey = undefined;
    requestAnimationFrame(() => bench.echoes.push(performance.now() - since));
  }

  /** Presses a key, unless the last one is still on its way. */
  bench.key = (view = bench.view) => {
    if (view.benchKey !== undefined) return;
    view.benchKey = performance.now();
    view.terminal.input("k", true);
  };

  /** Presses the key some hundred milliseconds apart, for a while. */
  bench.keys = (milliseconds, view = bench.view) => {
    bench.echoes = [];
    view.benchKey = undefined;
    const end = performance.now() + milliseconds;
    const next = () => {
      if (performance.now() > end) return;
      bench.key(view);
      setTimeout(next, 80 + 40 * Math.random());
    };
    next();
  };

  /** From now until a terminal that is opened after this has text: bench.text, in milliseconds. */
  bench.opens = () => {
    const known = bench.views.length;
    const since = performance.now();
    bench.text = null;
    const look = () => {
      const first = bench.views[known]?.terminal.buffer.active.getLine(0)?.translateToString(true);
      if (first) bench.text = performance.now() - since;
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  };

  bench.type = (text, view = bench.view) => {
    view.terminal.input(text, true);
  };

  /** Says that somebody reads in the terminal: then it is given every byte. */
  bench.reading = (is) => {
    bench.view.searching = is;
  };

  const text = new TextEncoder().encode(given);

  /** Feeds the terminal from memory, with as much under way as the app keeps, and takes the time of it. */
  bench.feed = (bytes) => {
    bench.marks.fed = undefined;
    const { benchWrite: write } = bench.view;
    const started = performance.now();
    let sent = 0;
    let under = 0;
    const pump = () => {
      while (sent < bytes && under < 256 << 10) {
        for (let at = 0; at < text.length; at += 16 << 10) {
          const last = at + (16 << 10) >= text.length;
          write(text.subarray(at, at + (16 << 10)), last ? came : undefined);
        }
        sent += text.length;
        under += text.length;
      }
    };
    const came = () => {
      under -= text.length;
      if (sent >= bytes && under === 0) bench.marks.fed = performance.now() - started;
      else pump();
    };
    pump();
  };
})(arguments[0]);
