// Step 6: the questions that the data cannot answer, and groups that somebody knows.

import * as api from "./api.js";
import { counted, fill, h, present, shown } from "./dom.js";
import { begin } from "./run.js";
import { name } from "./result.js";

/** @import { App, Question, Questions, Said, State, Step } from "./types.js" */

const SAID = { same: "same cluster", different: "different clusters", unknown: "cannot tell" };

/** The step. @param {App} app @returns {Step} */
export function create(app) {
  const asked = h("div", { id: "questions" });
  const group = h("div", { class: "group" });
  const given = h("div", {});
  const content = h("div", { class: "content" },
    h("p", {}, "Some things only you can know. Each answer is taken into account by the next run."),
    h("h3", {}, "Do these two belong together?"), asked,
    h("h3", {}, "Do you know a group?"), group,
    given);
  const element = h("div", {}, h("p", { class: "later" }, "Questions come with the first result."), content);
  /** @type {Question[]} */
  let pairs = [];
  let key = "";

  async function load() {
    const mine = key;
    try {
      /** @type {Questions} */
      const found = await api.get(`/api/runs/${present(app.result).number}/questions`);
      if (mine !== key) return;
      pairs = found.pairs;
      ask();
    } catch (error) {
      if (mine === key) fill(asked, h("p", { class: "note" }, api.messageOf(error)));
    }
  }

  function ask() {
    const pair = pairs[0];
    if (!pair) {
      fill(asked, h("p", { class: "note" }, "There is nothing left to ask: all objects have been compared with the examples of the clusters."));
      return;
    }
    /** @param {Said} answer */
    const say = async (answer) => {
      const button = document.activeElement;
      await app.attempt(() => api.send("/api/answers", "POST", { kind: "pair", a: pair.a.row, b: pair.b.row, answer }));
      app.say(`Noted: ${SAID[answer]}`);
      if (button instanceof HTMLElement && button.id) window.setTimeout(() => document.getElementById(button.id)?.focus({ preventScroll: true }), 0);
    };
    fill(asked,
      h("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Two objects side by side" }, h("table", { class: "versus" },
        h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, name(app, pair.a.object)), h("th", { scope: "col" }, name(app, pair.b.object)))),
        h("tbody", {}, pair.cells.map((cell) => h("tr", { class: cell.differs ? "differs" : "" }, h("th", { scope: "row" }, cell.column, cell.differs && h("span", { class: "hidden" }, " (differs much)")), h("td", {}, cell.a), h("td", {}, cell.b)))))),
      h("p", { class: "buttons" },
        h("button", { type: "button", id: "same", onclick: () => say("same") }, "Same cluster"),
        h("button", { type: "button", id: "different", onclick: () => say("different") }, "Different clusters"),
        h("button", { type: "button", id: "unknown", onclick: () => say("unknown") }, "Cannot tell")),
      h("p", { class: "note" }, `So far: same ${Math.round(100 * pair.same)} %, different ${Math.round(100 * pair.different)} %. Columns in which they differ much are marked.`,
        Math.max(pair.same, pair.different) > 0.9 && " An example of each cluster is compared with the others first: what you say later then counts for more."));
  }

  function groups() {
    const n = app.selection.length;
    const box = h("input", { type: "text", id: "group-name", maxlength: 40, placeholder: "a name, as in “regular customers”", "aria-label": "Name of the group" });
    const add = () => box.value.trim() && app.attempt(async () => {
      const { arrays } = present(app.result);
      const rows = app.selection.map((i) => arrays.rows[i]);
      await api.send("/api/answers", "POST", { kind: "group", name: box.value, rows });
      app.select([]);
    });
    fill(group, n
      ? h("form", { class: "pair", onsubmit: (event) => { event.preventDefault(); add(); } }, h("span", {}, `${counted(n, "object")} chosen.`), box, h("button", { type: "submit", id: "name-group" }, "They are one group"))
      : h("p", { class: "note" }, "Choose “Lasso” at the map and draw a line around objects that you know to belong together; then give them a name here."));
  }

  /** @param {State} state */
  function answers(state) {
    const list = state.answers;
    const result = present(app.result);
    /** @param {number} row */
    const title = (row) => {
      const i = result.arrays.rows.indexOf(row);
      return i < 0 ? `row ${row}` : result.title(i);
    };
    fill(given, list.length > 0 && [
      h("h3", {}, "What you have said"),
      h("ul", { class: "answers", id: "answers" }, list.map((each) => h("li", {},
        each.kind === "pair" ? `${title(each.a)} and ${title(each.b)}: ${SAID[each.answer]}` : `${each.name}: ${each.rows.length > 4 ? `${shown(each.rows.length)} rows` : each.rows.map(title).join(", ")}`,
        " ", h("button", { type: "button", class: "plain", "aria-label": "Take this answer back", onclick: () => app.attempt(() => api.send(`/api/answers/${each.id}`, "DELETE")) }, "take back")))),
      h("p", { class: "buttons" },
        h("button", { type: "button", id: "again", class: "primary", disabled: state.job?.kind === "fit", onclick: () => { begin(app); present(document.getElementById("run")).scrollIntoView(); } }, "Run again with the answers"),
        h("button", { type: "button", id: "undo", onclick: () => app.attempt(() => api.send("/api/answers/last", "DELETE")) }, "Undo the last answer")),
    ]);
  }

  let shownAnswers = "";
  return {
    element,
    update(state) {
      element.classList.toggle("ready", Boolean(app.result));
      if (!app.result) {
        key = "";
        return false;
      }
      const said = JSON.stringify([app.result.id, state.answers]);
      if (said !== key) {
        key = said;
        load();
      }
      const isNamed = group.querySelector("input");
      if (!isNamed || isNamed.value === "" || !app.selection.length) groups();
      const now = JSON.stringify([said, state.job?.kind]);
      if (now !== shownAnswers) {
        shownAnswers = now;
        answers(state);
      }
      return true;
    },
  };
}
