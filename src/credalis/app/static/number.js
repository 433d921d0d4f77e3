// Step 2: how many clusters, and where: the recommendation and the δ–Bel graph.

import * as api from "./api.js";
import { calmly, counted, fill, h, present } from "./dom.js";
import { bars } from "./lines.js";
import { Scatter } from "./scatter.js";

/** @import { App, Peaks, Settings, State, Step } from "./types.js" */

const COLORS = ["#0069a8", "#f0a30a", "#009e76", "#7a1040", "#8fd3f5", "#d5470c", "#dd86b3", "#5a5200"];
const N_LISTED = 12;
/** @type {(keyof Settings)[]} */
const OF_GRAPH = ["roles", "scale", "missing", "sheet", "delimiter", "decimal", "precomputed", "method", "n_neighbors", "quantile", "seed"];

/** The step. @param {App} app @returns {Step} */
export function create(app) {
  /** @type {Peaks | null} */
  let graph = null;
  let key = "";
  const advice = h("div", { class: "advice" });
  /** @type {HTMLInputElement} */
  const slider = h("input", { type: "range", id: "n-clusters", min: 2, max: 20, step: 1, oninput: () => setNumber(Number(slider.value)) });
  /** @type {HTMLInputElement} */
  const exact = h("input", { type: "number", id: "n-clusters-exact", min: 2, max: 1000, step: 1, "aria-label": "Number of clusters, exactly", onchange: () => exact.value && setNumber(Number(exact.value)) });
  const scatter = new Scatter({
    label: "The δ–Bel graph. Arrow keys go from object to object, Enter makes one a centre or takes it back.",
    describe: (i) => {
      const { belief, delta, rows } = present(graph);
      return [name(i), `δ ${delta[i].toPrecision(3)}, Bel ${belief[i].toPrecision(3)}`, centers().includes(rows[i]) ? "a centre; click to take it back" : "click to make it a centre"];
    },
    pick: (i) => toggle(present(graph).rows[i]),
    say: app.say,
    height: "22rem",
  });
  const neighbors = h("input", { type: "range", id: "n-neighbors", min: 1, max: 100, oninput: () => {
    neighborsText.textContent = neighbors.value;
    setGraph();
  } });
  const quantile = h("input", { type: "range", id: "quantile", min: 0.05, max: 1, step: 0.05, oninput: () => {
    quantileText.textContent = Number(quantile.value).toFixed(2);
    setGraph();
  } });
  const neighborsText = h("output", { for: "n-neighbors" });
  const quantileText = h("output", { for: "quantile" });
  /** @type {HTMLInputElement} */
  const uses = h("input", { type: "checkbox", id: "uses-centers", onchange: () => app.set({ uses_centers: uses.checked }) });
  const usesText = h("small", {});
  const list = h("div", { class: "chips", role: "group", "aria-label": "Likely centres" });
  const note = h("p", { class: "note" });
  const element = h("div", {},
    h("p", { class: "later" }, "First choose a table."),
    h("div", { class: "content" },
      advice,
      h("div", { class: "fields" },
        h("div", { class: "field wide" }, h("label", { for: "n-clusters" }, "Number of clusters"), h("div", { class: "pair" }, slider, exact))),
      h("div", { class: "split" },
        h("figure", {}, scatter.element,
          h("figcaption", {}, "Centres of clusters stand apart at the upper right: they are far from any better one (δ), and many near neighbours support them (Bel). Click an object to make it a centre or to take it back; the number of clusters follows.")),
        h("div", {},
          h("h3", {}, "Likely centres"), list,
          h("label", { class: "check" }, uses, h("span", {}, "Tell the method where the centres are ", usesText)),
          h("details", {}, h("summary", {}, "Tune the graph"),
            h("div", { class: "field" }, h("label", { for: "n-neighbors" }, "K, neighbours that support a centre: ", neighborsText), neighbors),
            h("div", { class: "field" }, h("label", { for: "quantile" }, "q, how near counts as near: ", quantileText), quantile)),
          note))));

  /** @param {number} i */
  const name = (i) => {
    const { has_names: hasNames, names, rows } = present(graph);
    return hasNames ? names[i] : `row ${rows[i]}`;
  };
  const centers = () => {
    const { settings } = present(app.state);
    return settings.centers.length ? settings.centers : suggested(settings.n_clusters);
  };

  /** Rows of the objects that look most like centres. @param {number | null} n @returns {number[]} */
  function suggested(n) {
    if (!graph) return [];
    const { n_suggested: usual, ranked, rows } = graph;
    return ranked.slice(0, n ?? usual).map((i) => rows[i]);
  }

  const patch = calmly(app.set, 120);

  /** @param {number} n */
  function setNumber(n) {
    if (!(n >= 2)) return;
    const state = present(app.state);
    Object.assign(state.settings, { n_clusters: n, centers: [], uses_centers: false });
    patch({ n_clusters: n, centers: [], uses_centers: false });
    draw(state);
  }

  /** @param {number} row */
  function toggle(row) {
    const state = present(app.state);
    const now = centers();
    const next = now.includes(row) ? now.filter((each) => each !== row) : [...now, row];
    if (next.length < 2) {
      app.say("There must be two centres at least.");
      return;
    }
    const values = { centers: next, n_clusters: next.length, uses_centers: true };
    Object.assign(state.settings, values);
    patch(values);
    draw(state);
    app.say(`${now.includes(row) ? "Taken back" : "A centre"}: ${counted(next.length, "cluster")}`);
  }

  const setGraph = calmly(() => app.set({ n_neighbors: Number(neighbors.value), quantile: Number(quantile.value), centers: [], uses_centers: false }), 300);

  async function load() {
    const mine = key;
    try {
      /** @type {Peaks} */
      const found = await api.get("/api/peaks");
      if (mine !== key) return;
      graph = found;
      note.textContent = found.rows.length < found.n_rows ? `The graph shows ${found.rows.length} of ${found.n_rows} rows, drawn at random.` : "";
      draw(present(app.state));
    } catch (error) {
      if (mine !== key) return;
      graph = null;
      note.textContent = api.messageOf(error);
    }
  }

  /** @param {State} state */
  function draw(state) {
    const { settings } = state;
    const n = settings.n_clusters ?? (graph ? graph.n_suggested : 2);
    slider.max = String(Math.max(20, n));
    slider.value = String(n);
    if (document.activeElement !== exact) exact.value = String(settings.n_clusters ?? "");
    if (!graph) return;
    const { rows } = graph;
    neighbors.max = String(graph.most_neighbors);
    if (document.activeElement !== neighbors) neighbors.value = String(graph.n_neighbors);
    if (document.activeElement !== quantile) quantile.value = String(graph.quantile);
    neighborsText.textContent = neighbors.value;
    quantileText.textContent = Number(quantile.value).toFixed(2);
    const now = centers();
    const place = new Map(rows.map((row, i) => [row, i]));
    scatter.show({
      x: graph.delta, y: graph.belief, colors: ["#7b8794"], titles: ["δ: distance to a better one", "Bel: support by neighbours"],
      marks: now.flatMap((row, k) => {
        const point = place.get(row);
        return point === undefined ? [] : [{ point, text: String(k + 1), color: COLORS[k % COLORS.length] }];
      }),
    }, true);
    const listed = [...new Set([...now.map((row) => place.get(row)).filter((i) => i !== undefined), ...graph.ranked])].slice(0, Math.max(N_LISTED, now.length));
    const focused = document.activeElement?.id;
    fill(list, listed.map((i) => {
      const k = now.indexOf(rows[i]);
      return h("button", { type: "button", id: `center-${rows[i]}`, class: "chip", "aria-pressed": String(k >= 0), style: k >= 0 ? { "--mark": COLORS[k % COLORS.length] } : {}, onclick: () => toggle(rows[i]) }, name(i));
    }));
    if (focused?.startsWith("center-")) document.getElementById(focused)?.focus({ preventScroll: true });
    uses.checked = settings.uses_centers;
    uses.disabled = !settings.centers.length;
    usesText.textContent = settings.centers.length ? howCentersCount(app, state) : "Pick centres yourself to do so.";
  }

  /** @param {State} state */
  function showAdvice(state) {
    const { recommendation: found, job } = state;
    const isLooking = job?.kind === "recommendation";
    if (isLooking) {
      const share = job.event?.share;
      fill(advice, h("p", {}, "Looking for clusters… ", h("progress", share === null || share === undefined ? { "aria-label": "Looking for clusters" } : { value: share, max: 1, "aria-label": "Looking for clusters" })));
    } else if (!found) {
      fill(advice, h("button", { type: "button", id: "recommend", onclick: () => app.attempt(() => api.send("/api/recommendation", "POST")) }, "Recommend a number"));
    } else if (found.best === null) {
      fill(advice, h("p", { class: "lead" }, "No number is recommended."), h("p", {}, found.reason));
    } else {
      const isTaken = state.settings.n_clusters === found.best;
      fill(advice, h("p", { class: "lead" }, `${found.best} clusters are recommended. `,
        !isTaken && h("button", { type: "button", id: "take-advice", onclick: () => setNumber(found.best) }, `Take ${found.best}`)),
        h("ul", {}, found.votes.map((vote) => h("li", {}, vote.value === null ? `${vote.name} is undecided` : `${vote.value} by ${vote.name === "bic" ? "BIC" : vote.name}: ${vote.reason}`)),
          found.p_value !== null && found.p_value !== undefined && h("li", {}, `gaps between groups that chance alone would leave with p = ${found.p_value < 1e-4 ? "< 0.0001" : found.p_value.toPrecision(2)}`.replace("= <", "<")),
          found.notes.filter((text) => !text.startsWith("looking")).map((text) => h("li", {}, text))),
        found.curves?.agreement && h("figure", { class: "narrow" }, bars(found.numbers, found.curves.agreement, found.best, `Agreement of the methods for ${found.numbers[0]} to ${found.numbers.at(-1)} clusters; ${found.best} is recommended`), h("figcaption", {}, "How far different methods agree, for each number of clusters.")));
    }
  }

  return {
    element,
    update(state) {
      element.classList.toggle("ready", Boolean(state.table));
      if (!state.table) {
        key = "";
        graph = null;
        return false;
      }
      showAdvice(state);
      const next = JSON.stringify([state.table.name, state.table.size, OF_GRAPH.map((each) => state.settings[each])]);
      if (next !== key) {
        key = next;
        load();
      }
      draw(state);
      return true;
    },
    tick(state) {
      if (state.table) showAdvice(state);
    },
  };
}

/** @param {App} app @param {State} state */
function howCentersCount(app, state) {
  const known = app.methods;
  if (!known) return "";
  const name = state.settings.method ?? app.method ?? known.default;
  const method = known.methods.find((each) => each.name === name);
  return method ? known.centers[method.centers] : "";
}
