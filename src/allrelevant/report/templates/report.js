"use strict";
// Draws the plots, and lets tables be searched and sorted. Without this script the page shows drawings and tables as
// they are.
(function () {
  const root = document.documentElement;
  const NARROW = 600;  // pixels of a drawing below which its names are shortened

  // plots

  function painted(value, style) {
    if (typeof value === "string" && value.startsWith("var(--")) {
      return style.getPropertyValue(value.slice(4, -1)).trim();
    }
    if (Array.isArray(value)) return value.map((item) => painted(item, style));
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, painted(item, style)]));
    }
    return value;
  }

  function changed(layout, changes) {
    for (const [path, value] of Object.entries(changes)) {
      const keys = path.split(".");
      const last = keys.pop();
      keys.reduce((part, key) => part[key], layout)[last] = value;
    }
  }

  function draw(place, figure) {
    const box = place.parentElement;
    const { data, layout } = painted({ data: figure.data, layout: figure.layout }, getComputedStyle(root));
    place.style.minWidth = figure.width[0] + "px";
    place.style.maxWidth = figure.width[1] + "px";
    const narrow = box.clientWidth < NARROW;
    if (narrow) changed(layout, figure.narrow);
    // A finger scrolls the page and does not zoom.
    layout.dragmode = matchMedia("(pointer: coarse)").matches ? false : "zoom";
    place.dataset.narrow = narrow;
    return Plotly.react(place, data, layout, {
      responsive: true,
      displaylogo: false,
      // Nothing of the page goes anywhere: plotly.js would offer to share a chart through a server.
      showSendToCloud: false,
      plotlyServerURL: "",
      modeBarButtons: [["toImage"], ["zoom2d", "pan2d", "resetScale2d"]],
    });
  }

  function drawAll() {
    const source = document.getElementById("plots");
    if (!source || typeof Plotly === "undefined") return;
    const plots = JSON.parse(source.textContent);
    const places = [...document.querySelectorAll(".live")].filter((place) => place.dataset.plot in plots);
    const drawOne = (place) => draw(place, plots[place.dataset.plot]);
    for (const place of places) {
      const figure = place.closest("figure");
      figure.classList.add("drawn");
      try {
        drawOne(place);
      } catch (error) {
        figure.classList.remove("drawn");  // the drawing that stands still remains
        console.error(error);
      }
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => places.forEach(drawOne));
    addEventListener("resize", () => {
      for (const place of places) {
        const narrow = place.parentElement.clientWidth < NARROW;
        if (place.parentElement.clientWidth && String(narrow) !== place.dataset.narrow) drawOne(place);
      }
    });
  }

  // tables

  function setUp(section) {
    const body = section.querySelector("tbody");
    const rows = [...body.rows];
    const search = section.querySelector("input[type=search]");
    const kind = section.querySelector("select");
    const count = section.querySelector(".count");
    const more = section.querySelector(".more");
    const limit = Number(section.dataset.limit);
    let all = rows.length <= limit;

    function show() {
      const wanted = search.value.trim().toLowerCase();
      const found = [...body.rows].filter(
        (row) =>
          (!kind.value || row.dataset.class === kind.value) &&
          row.cells[0].textContent.toLowerCase().includes(wanted)
      );
      const shown = new Set(all ? found : found.slice(0, limit));
      for (const row of rows) row.classList.toggle("away", !shown.has(row));
      count.textContent = found.length === rows.length
        ? `${rows.length} features`
        : `${found.length} of ${rows.length} features`;
      more.hidden = all || found.length <= limit;
      more.textContent = `Show all ${found.length}`;
    }

    function key(row, name) {
      if (name === "name") return row.cells[0].textContent;
      const text = row.dataset[name];
      return text === "" || text === "nan" ? null : Number(text);
    }

    function sort(header) {
      const name = header.dataset.key;
      const before = header.getAttribute("aria-sort");
      const first = header.dataset.first;
      const order = before ? (before === "ascending" ? "descending" : "ascending") : first;
      for (const other of section.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const sorted = [...rows].sort((a, b) => {
        const [x, y] = [key(a, name), key(b, name)];
        if (x === null || y === null) return (x === null) - (y === null);  // what is unknown comes last
        const difference = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
        return sign * difference || a.dataset.rank - b.dataset.rank;
      });
      body.append(...sorted);
      show();
    }

    for (const header of section.querySelectorAll("th[data-key]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sort(header));
      header.append(button);
    }
    search.addEventListener("input", show);
    kind.addEventListener("change", show);
    more.addEventListener("click", () => { all = true; show(); });
    search.value = kind.value = "";
    show();
  }

  root.classList.add("scripted");
  document.querySelectorAll(".feature-list").forEach(setUp);
  drawAll();
})();
