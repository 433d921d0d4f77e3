// Step 1: a file, what is in it, and which columns count.

import * as api from "./api.js";
import { choice, counted, fill, h, present, shown } from "./dom.js";

/** @import { App, Preview, Role, Settings, State, Step } from "./types.js" */

/** @type {[Role, string][]} */
const ROLES = [["counts", "counts"], ["describes", "only describes"], ["out", "left out"], ["id", "names the rows"]];
/** @type {Record<string, string>} */
const KINDS = { number: "numbers", category: "categories", date: "dates", ordered: "ordered", text: "text", other: "other" };
/** @type {(keyof Settings)[]} */
const OF_TABLE = ["roles", "scale", "missing", "sheet", "delimiter", "decimal", "precomputed"];

/** What was decided, without how the command line is told otherwise. @param {string} text */
function withoutOptions(text) {
  return text.replace(/ \(--[^)]*\)/g, "");
}

/** Begin with a file, or open a saved work. @param {App} app @param {File} file */
export async function take(app, file) {
  app.say(`Reading ${file.name}`);
  present(document.getElementById("data")).classList.add("busy");
  await app.attempt(async () => {
    const most = app.state?.max_upload ?? Infinity;
    if (file.size > most) {
      throw new api.Problem(`${file.name} is larger than ${Math.round(most / 2 ** 20)} MB, which is the most the page takes: use credalis cluster, which has no limit, or a sample of the rows.`);
    }
    if (file.name.endsWith(".credalis-work")) await api.put("/api/work", file);
    else {
      await api.put(`/api/table?name=${encodeURIComponent(file.name)}`, file);
      await api.send("/api/recommendation", "POST");
    }
  });
  present(document.getElementById("data")).classList.remove("busy");
}

/** Remove everything, if it is meant. @param {App} app */
export async function forget(app) {
  if (!app.state?.table || !window.confirm("Remove the table, all answers and all results from this machine's folder of the page?")) return;
  await app.attempt(() => api.send("/api/session", "DELETE"));
}

/** The step. @param {App} app @returns {Step} */
export function create(app) {
  /** @type {HTMLInputElement} */
  const input = h("input", { type: "file", id: "file", class: "hidden", onchange: () => {
    const file = input.files?.[0];
    if (file) take(app, file);
    input.value = "";
  } });
  const demo = h("button", { type: "button", id: "demo", onclick: async () => {
    element.parentElement?.classList.add("busy");
    await app.attempt(async () => {
      await api.send("/api/demo", "POST");
      await api.send("/api/recommendation", "POST");
    });
    element.parentElement?.classList.remove("busy");
  } }, "Try the demo: 150 irises");
  const drop = h("div", { class: "drop" },
    h("p", { class: "big" }, "Drop a table here, or ", h("label", { for: "file", class: "button", tabindex: 0, onkeydown: (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        input.click();
      }
    } }, "choose a file"), input),
    h("p", { class: "note" }, "CSV, Excel, OpenDocument, Parquet, Arrow, Feather, NPY, NPZ; categories, dates and missing cells are welcome. A saved work (.credalis-work) opens too."),
    h("p", {}, demo));
  const found = h("div", {});
  const element = h("div", {}, drop, found);
  let key = "";

  /** @param {State} state */
  async function load(state) {
    const mine = key;
    try {
      /** @type {Preview} */
      const preview = await api.get("/api/preview");
      if (mine === key) show(app, found, state, preview);
    } catch (error) {
      if (mine === key) fill(found, problem(api.messageOf(error)));
    }
  }

  return {
    element,
    update(state) {
      drop.classList.toggle("small", Boolean(state.table));
      const next = state.table ? JSON.stringify([state.table.name, state.table.size, state.table.usual, OF_TABLE.map((name) => state.settings[name])]) : "";
      if (next === key) return true;
      key = next;
      if (!state.table) fill(found);
      else {
        if (!found.firstChild) fill(found, h("p", { class: "note" }, "Reading…"));
        load(state);
      }
      return true;
    },
  };
}

/** What is wrong. @param {string} text */
const problem = (text) => h("div", { class: "problem", role: "alert" }, h("strong", {}, "This does not work yet. "), text);

/** @param {App} app @param {Element} place @param {State} state @param {Preview} preview */
function show(app, place, state, preview) {
  const { settings } = state;
  const table = present(state.table);
  const openDetails = new Set([...place.querySelectorAll("details[open]")].map((each) => each.id));
  const focused = document.activeElement?.id;
  const counting = preview.columns.filter((column) => (settings.roles[column.name] ?? column.role) === "counts");
  /** @param {string} name @param {Role} role */
  const setRole = (name, role) => {
    const roles = { ...settings.roles };
    if (role === "id") for (const [other, each] of Object.entries(roles)) if (each === "id") delete roles[other];
    if (role === table.usual[name]) delete roles[name];
    else roles[name] = role;
    settings.roles = roles;
    app.set({ roles });
  };
  const rows = preview.columns.map((column, j) => {
    const role = settings.roles[column.name] ?? column.role;
    const id = `role-${j}`;
    return h("tr", { class: role },
      h("th", { scope: "row" }, column.name),
      h("td", { class: "text" }, KINDS[column.kind] ?? column.kind),
      h("td", {}, column.n_missing ? shown(column.n_missing) : column.n_missing === 0 ? "–" : ""),
      h("td", { class: "text" },
        h("label", { class: "hidden", for: id }, `What ${column.name} is for`),
        h("select", { id, onchange: (event) => setRole(column.name, /** @type {Role} */ (event.target.value)) },
          ROLES.map(([value, text]) => h("option", { value, selected: value === role }, text)))),
      h("td", { class: "text soft" }, withoutOptions(column.why ?? "") || preview.rows.slice(0, 4).map((row) => row[j]).filter(Boolean).join(", ")));
  });
  const head = [counted(preview.n_rows ?? 0, "row"), counted(counting.length, "column that counts", "columns that count")];
  if (preview.n_dropped) head.push(`${shown(preview.n_dropped)} rows left out`);
  fill(place,
    state.is_reopened && h("p", { class: "note reopened" }, "Your work is open again where you left it."),
    h("p", { class: "lead" }, h("strong", {}, table.name), `: ${head.join(", ")}`),
    preview.problem && problem(preview.problem),
    preview.warnings.length > 0 && h("ul", { class: "warnings" }, preview.warnings.map((text) => h("li", {}, text))),
    h("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Columns" },
      h("table", { class: "columns" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "column"), h("th", { scope: "col", class: "text" }, "holds"), h("th", { scope: "col" }, "missing"), h("th", { scope: "col", class: "text" }, "is for"), h("th", { scope: "col", class: "text" }, "looks like"))),
        h("tbody", {}, rows))),
    preview.decisions.length > 0 && h("details", { id: "decisions", open: openDetails.has("decisions") || !place.querySelector("#decisions") },
      h("summary", {}, "What was decided about the table"),
      h("ul", {}, preview.decisions.map((text) => h("li", {}, withoutOptions(text))))),
    h("details", { id: "first-rows", open: openDetails.has("first-rows") },
      h("summary", {}, "First rows"),
      h("div", { class: "table", tabindex: 0, role: "region", "aria-label": "First rows" }, h("table", {},
        h("thead", {}, h("tr", {}, preview.columns.map((column) => h("th", { scope: "col" }, column.name)))),
        h("tbody", {}, preview.rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))))),
    h("details", { id: "reading", open: openDetails.has("reading") },
      h("summary", {}, "How it is read and scaled"),
      h("div", { class: "fields" },
        choice({ id: "scale", label: "Numbers are", value: settings.scale, change: (scale) => app.set({ scale }), options: [[null, "scaled to mean 0, deviation 1"], ["robust", "scaled to median 0, quartiles 1 apart"], ["none", "taken as they are"]], hint: "Columns in different units should be scaled." }),
        choice({ id: "missing", label: "Missing cells", value: settings.missing, change: (missing) => app.set({ missing }), options: [[null, "as suits the method"], ["pairwise", "leave the column out of a comparison"], ["drop", "leave the row out"], ["impute", "are filled with medians"], ["error", "are an error"]] }),
        choice({ id: "decimal", label: "Decimal sign", value: settings.decimal, change: (decimal) => app.set({ decimal }), options: [[null, "as detected"], [".", "point"], [",", "comma"]] }),
        typed("delimiter", "Delimiter of a text file", settings.delimiter, "as detected", (delimiter) => app.set({ delimiter })),
        preview.format === "excel" && typed("sheet", "Sheet", settings.sheet, "the first with several rows", (sheet) => app.set({ sheet })),
        h("label", { class: "check" }, h("input", { type: "checkbox", id: "precomputed", checked: settings.precomputed, onchange: (event) => app.set({ precomputed: event.target.checked }) }), "The table is a square matrix of dissimilarities"))));
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

/** A text that can be left out. @param {string} id @param {string} label @param {string | null} value @param {string} hint @param {(value: string | null) => void} change */
export const typed = (id, label, value, hint, change) =>
  h("label", { class: "field" }, h("span", {}, label),
    h("input", { id, type: "text", value: value ?? "", placeholder: hint, onchange: (event) => change(event.target.value || null) }));
