// What happens in the page itself: choosing a bar, and turning a drag into numbered requests.
window.dash_clientside = window.dash_clientside || {};
(function () {
  const tab = Math.random().toString(36).slice(2) + Date.now().toString(36);
  let number = 0;
  // The slider also moves when the page sets it: only what follows a hand or a key on it is a drag, and what is done
  // elsewhere ends that. An answer that comes late must not hold again what was let go.
  let touched = -Infinity;
  let down = false;
  const within = (event) => event.target instanceof Element && event.target.closest("#range, .slider") !== null;
  const note = (event) => { touched = down || within(event) ? performance.now() : -Infinity; };
  document.addEventListener("pointerdown", (event) => { down = within(event); note(event); }, true);
  document.addEventListener("pointermove", (event) => { if (down) note(event); }, true);
  document.addEventListener("pointerup", (event) => { if (down) note(event); down = false; }, true);
  document.addEventListener("keydown", note, true);
  // Dash compares a number that was typed with the one at the last blur or Enter, even if the page set another since.
  document.addEventListener("focusin", ({ target }) => {
    if (!target.matches("input[type=number]")) return;
    const name = target.id.startsWith("{") ? JSON.parse(target.id) : target.id;
    const count = Math.round(performance.now());
    window.dash_clientside.set_props(name, { n_blur: count, n_submit: count });
  });
  const skip = () => window.dash_clientside.no_update;
  const close = (a, b, unit) => Math.abs(a - b) <= 1e-9 + 1e-6 * unit;
  window.dash_clientside.allrelevant = {
    name: () => tab,
    choose: function (click) {
      const point = click && click.points && click.points.find((one) => one.customdata);
      return point ? point.customdata : skip();
    },
    drag: function (limits, feature, state, end) {
      if (!limits || !state || performance.now() - touched > 500) return skip();
      const held = (state.held || {})[feature] || [0, end];
      if (close(limits[0], held[0], end) && close(limits[1], held[1], end)) return skip();
      number += 1;
      return { number: number, feature: feature, limits: limits };
    },
  };
})();
