// Step 4: the fit, how far it is, and its end.

import * as api from "./api.js";
import { counted, fill, h } from "./dom.js";
import { curve } from "./lines.js";

/** @import { App, Progress, State, Step } from "./types.js" */

/** The step. @param {App} app @returns {Step} */
export function create(app) {
  const start = h("button", { type: "button", id: "start", class: "primary", onclick: () => begin(app) });
  const cancel = h("button", { type: "button", id: "cancel", onclick: () => app.attempt(() => api.send("/api/job", "DELETE")) }, "Cancel");
  const bar = h("progress", { max: 1, "aria-label": "How far the fit is" });
  const words = h("span", { id: "stage" });
  const chart = h("div", { class: "narrow" });
  const live = h("div", { class: "live", hidden: true }, h("p", {}, words), h("p", { class: "pair" }, bar, cancel), chart);
  const past = h("div", {});
  const element = h("div", {}, h("p", { class: "later" }, "First choose a table."), h("div", { class: "content" }, h("p", {}, start), live, past));
  let drawn = "";

  /** @param {State} state */
  function tick(state) {
    const { job } = state;
    const isFit = job?.kind === "fit";
    live.hidden = !isFit;
    start.disabled = isFit;
    if (!isFit) {
      drawn = "";
      fill(chart);
      return;
    }
    const { event, losses } = job;
    words.textContent = sentence(event);
    if (event.share === null || event.share === undefined) bar.removeAttribute("value");
    else bar.value = event.share;
    const last = losses.at(-1);
    const key = JSON.stringify(last);
    if (last && losses.length > 1 && key !== drawn) {
      drawn = key;
      fill(chart, h("figure", {}, curve(losses, { label: `The loss falls to ${last[1].toPrecision(4)}`, x: "iteration", y: "loss" })));
    }
  }

  return {
    element,
    tick,
    update(state) {
      element.classList.toggle("ready", Boolean(state.table));
      if (!state.table) return false;
      const n = state.settings.n_clusters;
      const isAgain = app.results().length > 0;
      start.textContent = n ? `${isAgain ? "Run again: find" : "Find"} ${n} clusters` : "Find clusters, and how many";
      tick(state);
      const last = state.runs.at(-1);
      fill(past,
        last?.status === "failed" && h("div", { class: "problem", role: "alert" }, h("strong", {}, "The fit has failed. "), last.error),
        last?.status === "cancelled" && h("p", { class: "note", id: "cancelled" }, "Cancelled. Nothing is computing any more."),
        last?.status === "interrupted" && h("p", { class: "note" }, "The server was ended in the middle of this fit: run it again."),
        state.runs.filter((each) => each.status === "done").length > 1 && h("div", { class: "chips", role: "group", "aria-label": "Results" },
          h("span", { class: "note" }, "Results: "),
          app.results().map((each) => h("button", { type: "button", class: "chip", "aria-pressed": String(app.result?.number === each.number), onclick: () => app.attempt(() => app.open(each.number)) },
            `${each.number}: ${each.method}, ${counted(each.n_clusters, "cluster")}${each.n_answers ? `, ${counted(each.n_answers, "answer")}` : ""}`))));
      return true;
    },
  };
}

/** Begin a fit. @param {App} app */
export const begin = (app) => app.attempt(async () => {
  await api.send("/api/runs", "POST");
  app.say("The fit has begun");
});

/** How far it is, in words. @param {Progress} event */
function sentence(event) {
  const parts = [event.stage[0].toUpperCase() + event.stage.slice(1)];
  if (event.run !== undefined && event.n_runs !== undefined && event.n_runs > 1) parts.push(`start ${event.run + 1} of ${event.n_runs}`);
  if (event.iteration) parts.push(`iteration ${event.iteration} of at most ${event.max_iter}`);
  if (event.loss !== null && event.loss !== undefined) parts.push(`loss ${event.loss.toPrecision(4)}`);
  return parts.join(", ");
}
