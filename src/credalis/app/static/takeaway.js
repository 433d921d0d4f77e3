// Step 7: what one takes away: files, and how to make them again.

import * as api from "./api.js";
import { fill, h } from "./dom.js";

/** @import { App, DoneRun, Step } from "./types.js" */

/** @type {Record<string, string>} */
const WORDS = {
  "memberships.csv": "The memberships: for each row its cluster, set, doubt and masses",
  "model.credalis": "The model, for credalis predict and credalis.load",
  "report.html": "The report: one page to send to others",
  "labels.csv": "Your groups",
  "must_link.csv": "Pairs that belong together, by your answers",
  "cannot_link.csv": "Pairs that belong apart, by your answers",
};

/** The step. @param {App} app @returns {Step} */
export function create(app) {
  const content = h("div", { class: "content" });
  const element = h("div", {}, h("p", { class: "later" }, "Files come with the first result."), content);
  let key = "";

  /** @param {DoneRun} run @param {boolean} isWriting */
  async function show(run, isWriting) {
    const base = `/api/runs/${run.number}/files/`;
    const mine = key;
    const python = await api.text(`${base}reproduce.py`);
    if (mine !== key) return;
    const files = run.files.filter((name) => name in WORDS);
    fill(content,
      h("ul", { class: "files" }, files.map((name) => h("li", {},
        h("a", { href: base + name, download: name }, name), ` ${WORDS[name]}`,
        name === "report.html" && [" ", h("a", { href: `${base}${name}?view`, target: "_blank", rel: "noopener" }, "look at it")])),
        !run.files.includes("report.html") && h("li", { class: "soft" }, isWriting ? "The report is being written…" : "The report has not been written: run again to have one.")),
      h("p", { class: "buttons" },
        h("a", { class: "button", id: "archive", href: `/api/runs/${run.number}/archive`, download: "" }, "All of it, with the table, as one ZIP"),
        h("a", { class: "button", id: "save", href: "/api/work", download: "" }, "Save this work to go on later")),
      h("h3", {}, "The same on the command line"),
      code("command", run.command),
      h("h3", {}, "The same in Python"),
      code("python", python),
      h("p", { class: "note" }, "Both need the table and the files above in the same folder, and give the same masses to the last bit with the same versions of the packages."));
  }

  /** @param {string} id @param {string} text */
  const code = (id, text) => {
    /** @type {HTMLButtonElement} */
    const button = h("button", { type: "button", class: "copy", onclick: async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      app.say("Copied");
      window.setTimeout(() => { button.textContent = "Copy"; }, 1500);
    } }, "Copy");
    return h("div", { class: "code" }, h("pre", { id, tabindex: 0 }, text), button);
  };

  return {
    element,
    update(state) {
      const { result } = app;
      const run = result && app.results().find((each) => each.number === result.number);
      element.classList.toggle("ready", Boolean(run));
      if (!run) {
        key = "";
        return false;
      }
      const isWriting = state.job?.run === run.number;
      const next = JSON.stringify([run.id, run.files, isWriting]);
      if (next !== key) {
        key = next;
        app.attempt(() => show(run, isWriting));
      }
      return true;
    },
  };
}
