"use strict";
(() => {
  const json = (id) => JSON.parse(document.getElementById(id).textContent);
  const say = (text) => { document.getElementById("status").textContent = text; };
  const charts = [...document.querySelectorAll(".chart")];

  // A finger scrolls the page; only a mouse zooms by dragging.
  const isTouch = window.matchMedia("(pointer: coarse), (max-width: 36rem)").matches;
  const isNarrow = window.matchMedia("(max-width: 36rem)").matches;
  const config = {
    responsive: true,
    displaylogo: false,
    // Without a mouse the buttons would always cover a part of the chart.
    displayModeBar: isTouch ? false : "hover",
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
  };
  const small = { ...config, displayModeBar: false };

  // Charts come in light colours; on a dark page each is exchanged for its partner.
  const partners = json("dark-colors");
  const inHex = (channels) => `#${channels.map((c) => Number(c).toString(16).padStart(2, "0")).join("")}`;
  const exchanged = (text) => {
    const same = partners[text.toLowerCase()];
    if (same) return same;
    const seen = /^rgba\((\d+), ?(\d+), ?(\d+), ?([\d.]+)\)$/.exec(text);
    const partner = seen && partners[inHex(seen.slice(1, 4))];
    if (!partner) return text;
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(partner.slice(i, i + 2), 16));
    return `rgba(${r},${g},${b},${seen[4]})`;
  };
  // Texts of the table are no colours, whatever they say.
  const TEXTS = new Set(["x", "y", "z", "text", "hovertext", "name", "customdata", "ticktext", "tickvals"]);
  const darkened = (part, key) => {
    if (TEXTS.has(key)) return part;
    if (typeof part === "string") return exchanged(part);
    if (Array.isArray(part)) return part.map((each) => darkened(each, key));
    if (part && typeof part === "object") {
      return Object.fromEntries(Object.entries(part).map(([k, v]) => [k, darkened(v, k)]));
    }
    return part;
  };
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");
  let isPrinting = false;
  const isDark = () => scheme.matches && !isPrinting;
  const figureOf = (div) => {
    const figure = json(div.dataset.figure);
    if (isTouch) figure.layout.dragmode = false;
    if (isNarrow && !isPrinting && div.id === "profiles") {
      // Numbers in narrow cells would be too small to read; the hover says them.
      if (figure.data[0].x.length > 5) delete figure.data[0].texttemplate;
      figure.layout.yaxis.tickfont = { size: 11 };
    }
    return isDark() ? darkened(figure, "") : figure;
  };

  // Paper is narrower than most screens, and not all browsers tell the charts.
  const PRINTED_WIDTH = 680;
  const PRINTED_HEIGHT = 520;
  const onPaper = (div) => {
    const panel = div.closest(".panels");
    if (panel) return { width: PRINTED_WIDTH / 3 - 12 };
    const cell = div.closest(".grid > section");
    const isHalf = cell && !cell.matches(":last-child:nth-child(odd)");
    const height = isHalf ? 300 : Math.min(json(div.dataset.figure).layout.height, PRINTED_HEIGHT);
    return { width: isHalf ? PRINTED_WIDTH / 2 - 15 : PRINTED_WIDTH, height };
  };
  const drawn = new Set();
  const redraw = (div, more) => {
    const { data, layout } = figureOf(div);
    // What was zoomed stays so: the page prints as it is seen.
    for (const axis of ["xaxis", "yaxis"]) {
      const now = div.layout[axis];
      if (now?.range) Object.assign(layout[axis], { range: now.range, autorange: now.autorange });
    }
    Plotly.react(div, data, { ...layout, ...more }, div.closest(".panel") ? small : config);
    if (div.id === "picture") showView();
  };
  // Paper cannot be opened: the rules are shown on it.
  const folded = [...document.querySelectorAll(".rules:not([open])")];
  window.addEventListener("beforeprint", () => {
    isPrinting = true;
    for (const each of folded) each.open = true;
    for (const div of drawn) {
      const size = onPaper(div);
      if (size.height) div.style.height = `${size.height}px`;
      redraw(div, { ...size, autosize: false });
    }
  });
  window.addEventListener("afterprint", () => {
    isPrinting = false;
    for (const each of folded) each.open = false;
    for (const div of drawn) {
      div.style.height = `${json(div.dataset.figure).layout.height}px`;
      redraw(div, { autosize: true });
    }
  });
  scheme.addEventListener("change", () => { for (const div of drawn) redraw(div, {}); });

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
  const inPlace = document.getElementById("in-place");
  const isOfObjects = (trace) => trace.meta === "objects";
  const indices = (test) => picture.data.flatMap((trace, t) => (test(trace) ? [t] : []));
  const views = selects.length ? json("views") : [];
  const first = json(picture.dataset.figure);
  const AXES = ["xaxis", "yaxis"];

  // Ends of the two axes as they are chosen, or null where an axis shows all objects.
  const limits = () => AXES.map((axis, i) => {
    if (inPlace?.checked) return null;
    const chosen = selects[i]?.value ?? "";
    return chosen === "" ? first.layout[axis].range ?? null : views[chosen].range;
  });

  // Objects beyond the axes as arrows at the rim that point to where they are.
  const ARROWS = {
    "-1,0": "triangle-left", "1,0": "triangle-right", "0,-1": "triangle-down", "0,1": "triangle-up",
    "-1,-1": "triangle-sw", "1,-1": "triangle-se", "-1,1": "triangle-nw", "1,1": "triangle-ne",
  };
  const beyond = (ends) => {
    const found = { x: [], y: [], hovertext: [], symbol: [], customdata: [] };
    for (const trace of picture.data.filter(isOfObjects)) {
      trace.customdata.forEach((place, i) => {
        const at = [trace.x[i], trace.y[i]];
        const side = at.map((value, axis) => {
          if (!ends[axis] || value === null) return 0;
          return value < ends[axis][0] ? -1 : Number(value > ends[axis][1]);
        });
        if (!side[0] && !side[1]) return;
        const [x, y] = at.map((value, axis) => (side[axis] ? ends[axis][(side[axis] + 1) / 2] : value));
        found.x.push(x);
        found.y.push(y);
        found.hovertext.push(trace.hovertext[i]);
        found.symbol.push(ARROWS[side]);
        found.customdata.push(place);
      });
    }
    return found;
  };

  // Coordinates, titles, ends and arrows of the axes that are chosen.
  function showView() {
    if (!selects.length && !inPlace) return;
    const chosen = AXES.map((_, i) => selects[i]?.value ?? "");
    const isFirst = chosen.every((value) => value === "");
    const along = (axis, t) => chosen[axis] === ""
      ? first.data[t]["xy"[axis]]
      : first.data[t].customdata.map((i) => views[chosen[axis]].values[i]);
    const objects = indices(isOfObjects);
    Plotly.restyle(picture, { x: objects.map((t) => along(0, t)), y: objects.map((t) => along(1, t)) }, objects);
    // Outlines and prototypes belong to the first view only.
    const others = indices((trace) => !isOfObjects(trace) && trace.meta !== "extremes");
    if (others.length) Plotly.restyle(picture, { visible: isFirst }, others);
    const ends = limits();
    const [rim] = indices((trace) => trace.meta === "extremes");
    if (rim !== undefined) {
      const { symbol, ...found } = beyond(ends);
      const values = Object.fromEntries(Object.entries(found).map(([key, value]) => [key, [value]]));
      Plotly.restyle(picture, { ...values, "marker.symbol": [symbol], visible: symbol.length > 0 }, [rim]);
    }
    const update = {};
    AXES.forEach((axis, i) => {
      update[`${axis}.title.text`] = chosen[i] === "" ? first.layout[axis].title.text : views[chosen[i]].title;
      if (ends[i]) update[`${axis}.range`] = ends[i];
      else update[`${axis}.autorange`] = true;
    });
    (picture.layout.annotations ?? []).forEach((_, i) => { update[`annotations[${i}].visible`] = isFirst; });
    Plotly.relayout(picture, update);
  }
  for (const control of [...selects, inPlace].filter(Boolean)) control.addEventListener("change", showView);

  // Numbers of clusters keep clear of each other, of the frame and of the prototypes.
  const RADII = [0, 17, 24, 32, 42, 54, 68, 84];
  const TURNS = Array.from({ length: 16 }, (_, i) => (i * Math.PI) / 8);
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const numbersApart = () => {
    const { annotations = [] } = picture.layout;
    const { xaxis, yaxis } = picture._fullLayout;
    if (!annotations.length || annotations[0].visible === false) return {};
    const box = (x, y, width, height) => ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 });
    const taken = picture.data.filter((trace) => trace.name === "prototype" && trace.visible !== false)
      .flatMap((trace) => Array.from(trace.x, (x, i) => box(xaxis.d2p(x), yaxis.d2p(trace.y[i]), 14, 14)));
    const update = {};
    annotations.forEach(({ x, y, text, ax, ay }, i) => {
      const [left, top] = [xaxis.d2p(x), yaxis.d2p(y)];
      const width = 8 * text.replace(/<[^>]*>/g, "").length + 11;
      let best = { cost: Infinity };
      for (const radius of RADII) {
        for (const turn of radius ? TURNS : [0]) {
          const shift = [Math.round(radius * Math.cos(turn)), Math.round(radius * Math.sin(turn))];
          const place = box(left + shift[0], top + shift[1], width, 20);
          const isOut = place.left < 0 || place.top < 0 || place.right > xaxis._length || place.bottom > yaxis._length;
          const cost = taken.filter((each) => meet(each, place)).length + (isOut ? 1 : 0);
          if (cost < best.cost) best = { cost, shift, place };
        }
        if (best.cost === 0) break;
      }
      taken.push(best.place);
      if (best.shift[0] !== ax) update[`annotations[${i}].ax`] = best.shift[0];
      if (best.shift[1] !== ay) update[`annotations[${i}].ay`] = best.shift[1];
    });
    return update;
  };
  // The legend keeps its distance to the title of the axis, however high the chart is.
  // It takes room itself, so that a few steps are needed, but no more.
  const LEGEND_GAP = 52;
  let steps = 0;
  const tidy = () => {
    const wanted = -LEGEND_GAP / picture._fullLayout._size.h;
    const isOff = Math.abs(wanted - picture.layout.legend.y) > 0.01;
    const update = isOff && steps++ < 4 ? { "legend.y": wanted } : numbersApart();
    if (Object.keys(update).length) Plotly.relayout(picture, update);
    else steps = 0;
  };

  for (const button of document.querySelectorAll(".find")) {
    button.addEventListener("click", () => {
      const place = json("places").indexOf(Number(button.dataset.object));
      // An object at the rim is marked there.
      const traces = [...picture.data.entries()].sort(([, a], [, b]) => (b.meta === "extremes") - (a.meta === "extremes"));
      for (const [curveNumber, trace] of traces) {
        if (!trace.customdata || trace.visible === false) continue;
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
      const { data, layout } = figureOf(div);
      await Plotly.newPlot(div, data, layout, div.closest(".panel") ? small : config);
      drawn.add(div);
      if (div === picture) {
        picture.on("plotly_afterplot", tidy);
        showView();
        tidy();
      }
      await new Promise((resume) => { setTimeout(resume); });
    }
    document.documentElement.dataset.ready = "yes";
  };
  draw();
})();
