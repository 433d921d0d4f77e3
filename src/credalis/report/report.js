"use strict";
(() => {
  const json = (id) => JSON.parse(document.getElementById(id).textContent);
  const say = (text) => { document.getElementById("status").textContent = text; };
  const PRINTED_WIDTH = 680;
  const config = {
    responsive: true,
    displaylogo: false,
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
  };
  const charts = [...document.querySelectorAll(".chart")];

  // A finger scrolls the page; only a mouse zooms by dragging.
  const isTouch = window.matchMedia("(pointer: coarse), (max-width: 36rem)").matches;

  // Paper is narrower than most screens, and not all browsers tell the charts.
  window.addEventListener("beforeprint", () => {
    for (const div of charts) {
      const cell = div.closest(".grid > section");
      const isHalf = cell && !cell.matches(":last-child:nth-child(odd)");
      Plotly.relayout(div, { width: isHalf ? PRINTED_WIDTH / 2 - 15 : PRINTED_WIDTH });
    }
  });
  window.addEventListener("afterprint", () => {
    for (const div of charts) Plotly.relayout(div, { width: null, autosize: true });
  });

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") === "descending" ||
          (!head.hasAttribute("aria-sort") && !("descending" in head.dataset));
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
        const isNumeric = "numeric" in head.dataset;
        const order = isNumeric
          ? (a, b) => a - b
          : new Intl.Collator("en", { numeric: true }).compare;
        const rows = [...table.tBodies[0].rows];
        // What is missing stays at the end, whichever way the rest goes.
        const known = rows.filter((row) => !isNumeric || key(row) !== "");
        const missing = rows.filter((row) => isNumeric && key(row) === "");
        known.sort((a, b) => (up ? 1 : -1) * order(key(a), key(b)));
        table.tBodies[0].append(...known, ...missing);
        say(`Sorted by ${button.textContent}, ${up ? "ascending" : "descending"}`);
      });
    });
  }

  const picture = document.getElementById("picture");
  const selects = [...document.querySelectorAll(".axes select")];
  const isOfObjects = (trace) => trace.meta === "objects";
  if (selects.length) {
    const views = json("views");
    let starts, titles;
    const redraw = () => {
      starts ??= picture.data.map((trace) => ({ x: trace.x, y: trace.y }));
      titles ??= ["xaxis", "yaxis"].map((axis) => picture.layout[axis].title.text);
      const chosen = selects.map((select) => select.value);
      const isFirst = chosen.every((value) => value === "");
      const along = (axis, trace, t) => chosen[axis] === ""
        ? starts[t]["xy"[axis]]
        : trace.customdata.map((i) => views[chosen[axis]].values[i]);
      const objects = picture.data.flatMap((trace, t) => (isOfObjects(trace) ? [t] : []));
      const others = picture.data.flatMap((trace, t) => (isOfObjects(trace) ? [] : [t]));
      Plotly.restyle(picture, {
        x: objects.map((t) => along(0, picture.data[t], t)),
        y: objects.map((t) => along(1, picture.data[t], t)),
      }, objects);
      // Outlines and prototypes belong to the first view only.
      if (others.length) Plotly.restyle(picture, { visible: isFirst }, others);
      const title = (axis) => chosen[axis] === "" ? titles[axis] : views[chosen[axis]].title;
      Plotly.relayout(picture, {
        "xaxis.title.text": title(0), "yaxis.title.text": title(1),
        "xaxis.autorange": true, "yaxis.autorange": true,
      });
    };
    for (const select of selects) select.addEventListener("change", redraw);
  }

  for (const button of document.querySelectorAll(".find")) {
    button.addEventListener("click", () => {
      const places = json("places");
      const place = places.indexOf(Number(button.dataset.object));
      for (const [curveNumber, trace] of picture.data.entries()) {
        if (!isOfObjects(trace)) continue;
        const pointNumber = Array.from(trace.customdata).indexOf(place);
        if (pointNumber < 0) continue;
        picture.scrollIntoView({ block: "center" });
        Plotly.Fx.hover(picture, [{ curveNumber, pointNumber }]);
        say(`${button.textContent} is marked in the picture`);
        return;
      }
    });
  }

  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", () => {
      const code = button.parentElement.querySelector("code");
      const done = () => { button.textContent = "Copied"; say("Copied"); };
      const select = () => window.getSelection().selectAllChildren(code);
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, select);
      else select();
    });
  }
  // One chart at a time, so that the page can be read and scrolled meanwhile.
  const draw = async () => {
    for (const div of charts) {
      const figure = json(div.dataset.figure);
      if (isTouch) figure.layout.dragmode = false;
      await Plotly.newPlot(div, figure.data, figure.layout, config);
      await new Promise((resume) => { setTimeout(resume); });
    }
    document.documentElement.dataset.ready = "yes";
  };
  draw();
})();
