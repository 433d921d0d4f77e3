// Step 3: the method; the default is explained, others are for those who know them.

import * as api from "./api.js";
import { fill, h, present } from "./dom.js";
import { typed } from "./data.js";

/** @import { App, Methods, Preview, Step } from "./types.js" */

/** The step. @param {App} app @returns {Step} */
export function create(app) {
  const content = h("div", { class: "content" });
  const element = h("div", {}, h("p", { class: "later" }, "First choose a table."), content);
  let key = "";

  async function load() {
    app.methods ??= /** @type {Methods} */ (await api.get("/api/methods"));
    /** @type {Preview} */
    const preview = await api.get("/api/preview");
    app.method = preview.method;
    show(preview);
    app.update();
  }

  /** @param {Preview} preview */
  function show(preview) {
    const { answers, settings } = present(app.state);
    const { default: usual, methods } = present(app.methods);
    const isOpen = Boolean(content.querySelector("details[open]")) || settings.method !== null;
    const hasNames = answers.some((each) => each.kind === "group");
    const found = methods.find((each) => each.name === (settings.method ?? preview.method)) ?? methods[0];
    // As the command line does: names of groups are labels, which not all methods take.
    const isOther = settings.method === null && hasNames && !found.uses_labels;
    const used = isOther ? present(methods.find((each) => each.name === usual)) : found;
    const why = isOther
      ? `You have named groups, which ${found.name} cannot use: therefore ${used.name}.`
      : preview.is_gower && settings.method === null
      ? "Your table has categories or missing cells, so rows are compared column by column, and a method is taken that needs no more than such dissimilarities."
      : "";
    fill(content,
      h("p", { class: "lead" }, `${used.name}. `, h("span", { class: "plainly" }, used.title)),
      h("p", { class: "note" }, settings.method === null && used.name === "Consensus" && !isOther
        ? "Several different methods cluster the rows. Where they agree you get a clear answer, where they do not you are told so."
        : why || `In a report it says: ${used.words}.`),
      h("details", { id: "advanced", open: isOpen },
        h("summary", {}, "Advanced: another method, its parameters, the seed"),
        h("div", { class: "fields" },
          h("label", { class: "field" }, h("span", {}, "Method"),
            h("select", { id: "method", onchange: (event) => app.set({ method: event.target.value || null }) },
              h("option", { value: "", selected: settings.method === null }, "chosen for you"),
              methods.filter((each) => !each.needs_pairs || answers.some((answer) => answer.kind === "pair") || each.name === settings.method).map((each) => h("option", { value: each.name, selected: settings.method === each.name }, each.name))),
            h("small", {}, settings.method === null ? "" : used.title)),
          typed("parameters", "Parameters of the method", settings.parameters.join("; "), "key=value; key=value", (text) => app.set({ parameters: (text ?? "").split(";").map((each) => each.trim()).filter(Boolean) })),
          h("label", { class: "field" }, h("span", {}, "Clear from a belief of"),
            h("input", { id: "clear-level", type: "number", min: 0.67, max: 1, step: 0.01, placeholder: "0.7", value: settings.clear_level ?? "", onchange: (event) => app.set({ clear_level: event.target.value === "" ? null : Number(event.target.value) }) }),
            h("small", {}, "How sure it must be before a row counts as clearly in a cluster.")),
          h("label", { class: "field" }, h("span", {}, "Outliers, at most"),
            h("input", { id: "outlier-rate", type: "number", min: 0.001, max: 0.5, step: 0.001, placeholder: "as usual", value: settings.outlier_rate ?? "", onchange: (event) => app.set({ outlier_rate: event.target.value === "" ? null : Number(event.target.value) }) }),
            h("small", {}, "Share of ordinary rows that may be called outliers, as in 0.05.")),
          h("label", { class: "field" }, h("span", {}, "Seed"),
            h("input", { id: "seed", type: "number", min: 0, max: 4294967295, step: 1, value: settings.seed, onchange: (event) => app.set({ seed: Number(event.target.value || 0) }) }),
            h("small", {}, "The same seed gives the same result."))),
        h("details", {}, h("summary", {}, "All methods in one sentence each"),
          h("dl", { class: "methods" }, methods.flatMap((each) => [h("dt", {}, each.name), h("dd", {}, each.title)])))));
  }

  return {
    element,
    update(state) {
      element.classList.toggle("ready", Boolean(state.table));
      if (!state.table) {
        key = "";
        return false;
      }
      const { settings } = state;
      const next = JSON.stringify([state.table, settings.roles, settings.method, settings.parameters, settings.missing, settings.seed, settings.clear_level, settings.outlier_rate, settings.precomputed, state.answers.some((each) => each.kind === "pair"), state.answers.some((each) => each.kind === "group")]);
      if (next !== key) {
        key = next;
        load().catch((error) => fill(content, h("p", { class: "note" }, api.messageOf(error))));
      }
      return true;
    },
  };
}
