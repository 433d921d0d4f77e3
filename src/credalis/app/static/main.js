// The state of the page and its steps. Every step is told of every change of the state.

import * as api from "./api.js";
import { fill, h, present } from "./dom.js";
import * as data from "./data.js";
import * as number from "./number.js";
import * as method from "./method.js";
import * as run from "./run.js";
import * as result from "./result.js";
import * as answer from "./answer.js";
import * as takeaway from "./takeaway.js";

/** @import { App, Job, Names, ResultFile, State, Step } from "./types.js" */

/** @type {[string, string, {create: (app: App) => Step}][]} */
const STEPS = [
  ["data", "Data", data],
  ["number", "How many, and where", number],
  ["method", "Method", method],
  ["run", "Run", run],
  ["result", "Result", result],
  ["answer", "Answer", answer],
  ["takeaway", "Take away", takeaway],
];

const status = present(document.getElementById("status"));
const toast = present(document.getElementById("toast"));

const isDark = window.matchMedia("(prefers-color-scheme: dark)");

/** What steps share. @type {App} */
const app = {
  state: null,
  result: null,
  selection: [],
  focus: -1,

  /** Tell those who cannot see. */
  say(text) {
    status.textContent = text;
  },

  /** Do something on the server; what is wrong is shown. */
  async attempt(action) {
    try {
      app.clear();
      return await action();
    } catch (error) {
      app.fail(error);
      return undefined;
    }
  },

  fail(error) {
    if (!(error instanceof api.Problem)) console.error(error);
    fill(toast, h("p", {}, api.messageOf(error)),
      h("button", { type: "button", "aria-label": "Close this message", onclick: app.clear }, "×"));
    toast.classList.add("shown");
  },

  clear() {
    toast.classList.remove("shown");
    toast.replaceChildren();
  },

  set(values) {
    return app.attempt(() => api.send("/api/settings", "PATCH", values));
  },

  /** The runs that have a result, the last one last. */
  results() {
    return (app.state?.runs ?? []).filter((each) => each.status === "done");
  },

  /** Show a result. */
  async open(number) {
    const { id } = present(app.results().find((each) => each.number === number));
    if (app.result && app.result.id === id) return;
    const base = `/api/runs/${number}/files/`;
    /** @type {ResultFile} */
    const found = await api.get(`${base}result.json`);
    const [names, rows, labels, second, kinds, doubt] = await Promise.all([
      /** @type {Promise<Names>} */ (api.get(`${base}names.json`)),
      api.array(`${base}rows.bin`, Int32Array),
      api.array(`${base}labels.bin`, Int32Array),
      api.array(`${base}second.bin`, Int32Array),
      api.array(`${base}kinds.bin`, Int32Array),
      api.array(`${base}doubt.bin`, Float32Array),
    ]);
    const sets = found.has_sets ? await api.array(`${base}sets.bin`, Uint32Array) : null;
    /** @type {Map<number, Float32Array>} */
    const axes = new Map();
    app.result = {
      number, id, ...found, light: found.colors, colors: isDark.matches ? found.dark_colors : found.colors, names, arrays: { rows, labels, second, kinds, doubt, sets },
      async axis(j) {
        if (!axes.has(j)) axes.set(j, await api.array(`${base}axis-${j}.bin`, Float32Array));
        return present(axes.get(j));
      },
      title: (i) => (names.has_names ? names.names[i] : `object ${names.names[i]}`),
      cluster: (k) => (found.cluster_names ? found.cluster_names[k] : `cluster ${k}`),
    };
    app.selection = [];
    app.focus = -1;
    update();
  },

  /** Choose objects on the map. */
  select(objects) {
    app.selection = objects;
    update();
  },

  /** Look at one object, wherever it is named. */
  look(object) {
    app.focus = object;
    update();
  },

  update,
};

const steps = STEPS.map(([id, title, module], i) => {
  const step = module.create(app);
  const heading = h("h2", { id: `${id}-title` }, h("span", { class: "number", "aria-hidden": "true" }, i + 1), title);
  const section = h("section", { id, class: "step", "aria-labelledby": `${id}-title` }, heading, step.element);
  present(document.getElementById("steps")).append(section);
  const link = h("a", { href: `#${id}` }, h("span", { class: "number", "aria-hidden": "true" }, i + 1), title);
  present(document.getElementById("nav")).append(h("li", {}, link));
  return { id, step, section, link };
});

function update() {
  if (!app.state) return;
  for (const { step, section, link } of steps) {
    const isReady = step.update(app.state) !== false;
    section.classList.toggle("waiting", !isReady);
    link.classList.toggle("waiting", !isReady);
  }
  const table = app.state.table?.name;
  document.title = table ? `${table} – credalis` : "credalis";
}

/** A new state: show the newest result, unless somebody looks at an older one. @param {State} state */
async function take(state) {
  const before = app.state;
  const wasNewest = !app.result || app.result.id === app.results().at(-1)?.id;
  app.state = state;
  const newest = app.results().at(-1);
  const isGone = app.result && !app.results().some((each) => each.id === app.result?.id);
  if (isGone) app.result = null;
  update();
  document.documentElement.dataset.ready = "";
  const isNew = !before && state.table && !state.is_reopened && !state.runs.length;
  // A table that was named on the command line.
  if (isNew && !state.recommendation && !state.job) await app.attempt(() => api.send("/api/recommendation", "POST"));
  if (newest && (wasNewest || !app.result) && app.result?.id !== newest.id) {
    await app.attempt(() => app.open(newest.number));
    if (before) app.say("The result is there.");
  }
}

/** @param {Job | null} job */
function takeJob(job) {
  if (!app.state) return;
  app.state.job = job;
  for (const { step } of steps) step.tick?.(app.state);
}

isDark.addEventListener("change", () => {
  if (app.result) app.result = { ...app.result, colors: isDark.matches ? app.result.dark_colors : app.result.light };
  update();
});

let timer = 0;
api.listen({
  state: take,
  job: takeJob,
  lost(isLost) {
    // The server may be starting again: complain when it stays away.
    clearTimeout(timer);
    if (isLost) timer = window.setTimeout(() => document.body.classList.add("lost"), 1500);
    else document.body.classList.remove("lost");
  },
});

document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  if (file) data.take(app, file);
});

fill(present(document.getElementById("footer")),
  h("p", { class: "gone", role: "status" }, "The server does not answer. If you have ended it, start credalis app again: your work is kept."),
  h("p", {}, "credalis · served by this machine · ",
    h("button", { type: "button", class: "plain", onclick: () => data.forget(app) }, "forget this table and everything about it")));
