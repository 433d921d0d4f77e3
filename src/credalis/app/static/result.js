// Step 5: the result: the map, the object under the mouse, clusters, doubts, outliers.

import * as api from "./api.js";
import { choice, counted, fill, h, present, shown } from "./dom.js";
import { curve } from "./lines.js";
import { Scatter, hull } from "./scatter.js";

/** @import { Cloud } from "./scatter.js" */
/** @import { App, Changes, DoneRun, Found, Listed, Mass, Reason, Result, Shepard, Step, Tally, Tree } from "./types.js" */

const KINDS = ["clearly in", "between", "an outlier, nearest to"];

/** The step. @param {App} app @returns {Step} */
export function create(app) {
  const top = h("div", {});
  const below = h("div", {});
  const detail = h("div", { class: "detail", "aria-live": "polite" });
  const axes = h("div", { class: "fields" });
  const legend = h("div", { class: "legend" });
  const scatter = new Scatter({
    label: "Map of the objects. Arrow keys go from object to object, Enter shows all about one.",
    describe: (i) => words(present(app.result), i),
    pick: (i) => app.look(i),
    lasso: (objects) => app.select(objects),
    say: app.say,
    height: "32rem",
  });
  const content = h("div", { class: "content" }, top,
    h("div", { class: "split map" },
      h("div", {}, axes, h("figure", {}, scatter.element, legend)),
      detail),
    below);
  const element = h("div", {}, h("p", { class: "later" }, "The result comes after the first run."), content);
  const view = { x: 0, y: 1, outlines: "both", isMovedShown: false };
  /** @type {Result | null} */
  let drawn = null;
  let focus = -2;

  async function draw() {
    const result = present(app.result);
    const [x, y] = await Promise.all([result.axis(view.x), result.axis(view.y)]);
    if (app.result !== result) return;
    const { labels, second, kinds } = result.arrays;
    scatter.show({
      x, y, labels, second, kinds, colors: result.colors,
      titles: [result.axes[view.x].name, result.axes[view.y].name],
      hulls: outlines(result, x, y, view.outlines),
      words: middles(result, x, y),
    });
    scatter.ring(app.focus);
    scatter.choose(app.selection);
  }

  function controls() {
    const result = present(app.result);
    /** @type {[string, string][]} */
    const options = result.axes.map((axis, j) => [String(j), axis.name]);
    fill(axes,
      choice({ id: "axis-x", label: "Across", value: String(view.x), options, change: (j) => { view.x = Number(j); draw(); } }),
      choice({ id: "axis-y", label: "Up", value: String(view.y), options, change: (j) => { view.y = Number(j); draw(); } }),
      choice({ id: "outlines", label: "Outlines", value: view.outlines, options: [["both", "lower and upper"], ["lower", "lower: surely inside"], ["upper", "upper: possibly inside"], ["none", "none"]], change: (text) => { view.outlines = text; draw(); } }));
    fill(legend,
      result.colors.map((color, k) => h("span", { class: "key", style: { "--mark": color } }, result.cluster(k))),
      h("span", { class: "key rim" }, "between: rim in the other colour"), h("span", { class: "key ring" }, "outlier"),
      h("span", { class: "soft" }, "Solid: clear objects. Dashed: these and those between. Zoom with + and −, or Ctrl and the wheel."));
  }

  async function look() {
    const { focus: object } = app;
    const result = present(app.result);
    if (object < 0) {
      fill(detail, h("p", { class: "note" }, "Point at an object to see what it is; click it, or press Enter, to see its masses and why it is there."));
      return;
    }
    scatter.ring(object);
    try {
      /** @type {Found} */
      const found = await api.get(`/api/runs/${result.number}/objects/${object}`);
      if (app.focus === object && app.result === result) fill(detail, card(app, found));
    } catch (error) {
      fill(detail, h("p", { class: "problem" }, api.messageOf(error)));
    }
  }

  return {
    element,
    update() {
      const { result } = app;
      element.classList.toggle("ready", Boolean(result));
      if (!result) {
        drawn = null;
        return false;
      }
      if (result !== drawn) {
        focus = -2;
        if (result.id !== drawn?.id) Object.assign(view, { x: 0, y: 1 });
        drawn = result;
        controls();
        fill(top, summary(app));
        fill(below, rest(app));
        draw();
      } else scatter.choose(app.selection);
      if (app.focus !== focus) {
        focus = app.focus;
        look();
      }
      return true;
    },
  };
}

/** What is known about an object at once. @param {Result} result @param {number} i @returns {string[]} */
export function words(result, i) {
  const { labels, kinds, doubt, sets } = result.arrays;
  const kind = kinds[i];
  let place = result.cluster(labels[i]);
  if (kind === 1 && sets) {
    const inside = result.colors.map((_, k) => k).filter((k) => (sets[i] >>> k) & 1);
    place = inside.map((k) => result.cluster(k)).join(" and ");
  }
  return [result.title(i), `${KINDS[kind]} ${place}`, `doubt ${doubt[i].toFixed(2)}`];
}

/**
 * Outlines of what is surely and what is possibly in each cluster.
 * @param {Result} result @param {Float32Array} x @param {Float32Array} y @param {string} which
 */
function outlines(result, x, y, which) {
  const { labels, kinds, sets } = result.arrays;
  /** @type {NonNullable<Cloud["hulls"]>} */
  const found = [];
  result.colors.forEach((color, k) => {
    /** @type {[number, number][]} */
    const lower = [];
    /** @type {[number, number][]} */
    const upper = [];
    for (let i = 0; i < x.length; i++) {
      if (kinds[i] === 2 || !(x[i] - x[i] === 0 && y[i] - y[i] === 0)) continue;
      const isIn = sets ? (sets[i] >>> k) & 1 : labels[i] === k;
      if (!isIn) continue;
      upper.push([x[i], y[i]]);
      if (kinds[i] === 0) lower.push([x[i], y[i]]);
    }
    if (which === "both" || which === "upper") found.push({ points: hull(upper), color, dashed: true });
    if (which === "both" || which === "lower") found.push({ points: hull(lower), color, dashed: false });
  });
  return found;
}

/** Names of the clusters, where their clear objects are. @param {Result} result @param {Float32Array} x @param {Float32Array} y */
function middles(result, x, y) {
  const { labels, kinds } = result.arrays;
  return result.colors.flatMap((color, k) => {
    let [sx, sy, n] = [0, 0, 0];
    for (let i = 0; i < x.length; i++) {
      if (labels[i] === k && kinds[i] === 0 && x[i] - x[i] === 0 && y[i] - y[i] === 0) [sx, sy, n] = [sx + x[i], sy + y[i], n + 1];
    }
    return n ? [{ x: sx / n, y: sy / n, text: result.cluster_names ? result.cluster(k) : String(k), color }] : [];
  });
}

/** Above the map. @param {App} app */
function summary(app) {
  const result = present(app.result);
  const run = app.results().find((each) => each.number === result.number);
  return [
    h("p", { class: "lead", id: "lead" }, result.lead),
    h("p", { class: "soft" }, result.how),
    result.silences.length > 0 && h("ul", { class: "warnings" }, result.silences.map((text) => h("li", {}, text))),
    run?.warnings && run.warnings.length > 0 && h("ul", { class: "warnings" }, run.warnings.map((text) => h("li", {}, text))),
    h("dl", { class: "facts" }, result.facts.map((fact) => h("div", { style: fact.color ? { "--mark": fact.color === "#333333" ? "var(--ink)" : fact.color } : {} }, h("dt", {}, fact.name), h("dd", {}, fact.value, h("small", {}, fact.note))))),
    result.changes && changes(app, result.changes, run),
  ];
}

/** What is otherwise than before. @param {App} app @param {Changes} found @param {DoneRun | undefined} run */
function changes(app, found, run) {
  /** @param {keyof Tally} word */
  const step = (word) => {
    const called = found.after[word] === 1 ? word.replace(/s$/, "") : word;
    return found.before[word] === found.after[word] ? `still ${shown(found.after[word])} ${called}` : `${shown(found.before[word])} → ${shown(found.after[word])} ${called}`;
  };
  return h("div", { class: "changes", id: "changes" },
    h("h3", {}, `What changed since result ${run?.before ?? ""}`),
    h("p", {}, found.n_moved ? `${counted(found.n_moved, "object")} moved to another cluster. ` : "No object moved to another cluster. ",
      `Of all objects, ${step("clear")}, ${step("between")}, ${step("outliers")}. `,
      found.n_clearer > 0 && `${counted(found.n_clearer, "object")} became clear. `,
      found.n_vaguer > 0 && `${counted(found.n_vaguer, "object")} came into doubt. `,
      found.n_moved > 0 && h("button", { type: "button", id: "show-moved", onclick: () => app.select(found.all_moved) }, "Show them on the map")),
    found.moved.length > 0 && h("p", { class: "chips" }, found.moved.slice(0, 12).map((i) => name(app, i))));
}

/** A name of an object that leads to it. @param {App} app @param {number} i */
export function name(app, i) {
  return h("button", { type: "button", class: "find", onclick: () => {
    present(document.querySelector("#result .map")).scrollIntoView({ block: "start" });
    app.look(i);
  } }, present(app.result).title(i));
}

/** All about one object. @param {App} app @param {Found} found */
function card(app, found) {
  const result = present(app.result);
  /** @param {number[]} clusters */
  const color = (clusters) => (clusters.length === 1 ? result.colors[clusters[0]] : clusters.length ? "var(--mixed)" : "var(--ink)");
  return [
    h("h3", {}, found.name),
    h("p", {}, found.why[0].toUpperCase() + found.why.slice(1), "."),
    h("table", { class: "masses" }, h("caption", {}, "How its mass is divided"),
      h("tbody", {}, found.masses.map((each) => h("tr", {}, h("th", { scope: "row" }, title(result, each)),
        h("td", {}, h("span", { class: "bar", style: { "--width": `${(100 * each.mass).toFixed(1)}%`, "--mark": color(each.clusters) } })),
        h("td", {}, each.mass.toFixed(2)))))),
    h("h4", {}, "Why it is there"),
    found.near.map((each) => h("div", { class: "near", style: { "--mark": result.colors[each.cluster] } },
      h("p", {}, h("strong", {}, result.cluster(each.cluster)), ` plausibility ${each.plausibility.toFixed(2)}`),
      h("ul", {},
        each.for.map((reason) => h("li", {}, h("b", {}, "for "), cell(reason))),
        each.against.map((reason) => h("li", {}, h("b", {}, "against "), cell(reason))),
        each.like.length > 0 && h("li", {}, "most like ", each.like.map((i, k) => [k ? ", " : "", name(app, i)]))))),
    found.unusual.length > 0 && h("div", { class: "near" }, h("p", {}, h("strong", {}, "unusual")), h("ul", {}, found.unusual.map((reason) => h("li", {}, cell(reason))))),
    h("details", {}, h("summary", {}, "Its row of the table"),
      h("table", {}, h("tbody", {}, found.cells.map((cell) => h("tr", {}, h("th", { scope: "row" }, cell.column), h("td", {}, cell.value)))))),
  ];
}

/** A cell that speaks for or against a cluster. @param {Reason} reason */
const cell = (reason) => `${reason.column} ${reason.value} (typical: ${reason.typical})`;

/** A set in words. @param {Result} result @param {Mass} mass */
function title(result, { set, clusters }) {
  if (!clusters.length) return "∅: none of them";
  if (clusters.length === result.n_clusters && clusters.length > 1) return "Ω: cannot tell";
  return result.cluster_names ? clusters.map((k) => result.cluster(k)).join(" or ") : clusters.length === 1 ? result.cluster(clusters[0]) : `${set.slice(1, -1).split(",").join(" or ")}`;
}

/** Below the map. @param {App} app */
function rest(app) {
  const result = present(app.result);
  return [
    h("h3", {}, "The clusters"),
    h("div", { class: "cards" }, result.clusters.map((each) => h("article", { class: "card", style: { "--mark": result.colors[each.cluster] } },
      h("h4", {}, result.cluster_names ? each.name : `Cluster ${each.cluster}`),
      h("p", { class: "soft" }, each.sizes),
      each.known.map((known) => h("p", {}, h("strong", {}, known.share), " ", h("small", {}, known.note))),
      each.words && h("p", {}, each.words),
      each.described && h("p", { class: "soft" }, `Described by ${each.described}`),
      h("p", { class: "soft" }, `Lower approximation ${shown(each.lower)}, upper ${shown(each.upper)}`),
      each.typical.length > 0 && h("p", {}, "Typical: ", each.typical.map((i, k) => [k ? ", " : "", name(app, i)]))))),
    tree(result),
    h("div", { class: "twins" },
      listed(app, "Doubtful objects", result.between, "between"),
      listed(app, "Outliers", result.outliers, "outliers")),
    h("details", { id: "diagrams" }, h("summary", {}, "How well it fits: diagrams"),
      h("div", { class: "twins" },
        result.shepard && shepard(result.shepard),
        result.history.length > 1 && h("figure", {}, curve(result.history.map((loss, i) => [i + 1, loss]), { label: `The loss falls from ${result.history[0].toPrecision(4)} to ${result.history[result.history.length - 1].toPrecision(4)}`, x: "iteration", y: "loss" }), h("figcaption", {}, "The loss after each iteration of the best start.")),
        !result.shepard && h("p", { class: "note" }, "The Shepard diagram is there for methods that match dissimilarities: EVCLUS and NNEVCLUS."))),
  ];
}

/** The partition in a few questions. @param {Result} result */
function tree(result) {
  const place = h("div", {});
  return h("details", { id: "tree", ontoggle: async (event) => {
    if (!event.target.open || place.firstChild) return;
    fill(place, h("p", { class: "note" }, "Looking for questions…"));
    try {
      /** @type {Tree} */
      const found = await api.get(`/api/runs/${result.number}/tree`);
      fill(place, found.lines.length > 0 && h("pre", { tabindex: 0 }, found.lines.join("\n")), h("p", { class: "note" }, found.caption || "There are no columns to ask about."));
    } catch (error) {
      fill(place, h("p", { class: "problem" }, api.messageOf(error)));
    }
  } }, h("summary", {}, "The clusters in a few questions"), place);
}

/** Objects to look at. @param {App} app @param {string} heading @param {Listed} found @param {string} id */
function listed(app, heading, found, id) {
  return h("section", { class: "listed", id: `list-${id}` }, h("h3", {}, heading), h("p", { class: "note" }, found.text),
    found.objects.length > 0 && h("div", { class: "table", tabindex: 0, role: "region", "aria-label": heading }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "object"), h("th", { scope: "col", class: "text" }, "why"), h("th", { scope: "col" }, "doubt"))),
      h("tbody", {}, found.objects.map((each) => h("tr", {}, h("th", { scope: "row" }, name(app, each.object)), h("td", { class: "text" }, each.why), h("td", {}, each.doubt.toFixed(2))))))));
}

/** The diagram of the fit. @param {Shepard} found */
function shepard(found) {
  const scatter = new Scatter({ label: "Shepard diagram", describe: (i) => [`δ* ${found.targets[i].toFixed(2)}`, `conflict ${found.conflicts[i].toFixed(2)}`], height: "18rem" });
  const figure = h("figure", {}, h("h4", {}, "Shepard diagram"), scatter.element,
    h("figcaption", {}, `How much the masses of two objects contradict each other, against how dissimilar the objects are: the closer to the diagonal, the better. ${found.shown}. Root mean squared residual ${found.residual.toPrecision(3)}.`));
  scatter.show({ x: found.targets, y: found.conflicts, colors: ["#0069a8"], titles: ["transformed dissimilarity δ*", "degree of conflict"], hulls: [{ points: [[0, 0], [1, 1], [1, 1]], color: "#d5470c", dashed: true }] });
  return figure;
}
