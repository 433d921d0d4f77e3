// Elements made of values. Text is only ever a text node: nothing here reads HTML.

/** @typedef {Node | string | number | null | undefined | false} Child */

/** @typedef {Child | Child[]} Row */

/** @typedef {Child | Row[]} Rows */

/** Lists are taken apart, and lists in them, as deep as this. @typedef {Child | Rows[]} Children */

/** @typedef {string | number | boolean | null | undefined} Value */

/**
 * An event that an element hears of itself.
 * @template {Event} E
 * @template {Element} T
 * @typedef {(event: E & {target: T}) => unknown} Listener
 */

/**
 * Attributes of an element: `on…` are listeners, `style` is an object of properties, others
 * are what they say; null and false are left out.
 * @template {Element} T
 * @typedef {{
 *   [aria: `aria-${string}`]: Value,
 *   style?: Record<string, string>,
 *   onclick?: (event: MouseEvent) => unknown,
 *   onkeydown?: (event: KeyboardEvent) => unknown,
 *   onsubmit?: Listener<SubmitEvent, T>,
 *   onchange?: Listener<Event, T>,
 *   oninput?: Listener<Event, T>,
 *   ontoggle?: Listener<Event, T>,
 * } & Partial<Record<"checked" | "class" | "disabled" | "download" | "for" | "hidden" | "href" | "id" | "max" |
 *   "maxlength" | "min" | "open" | "placeholder" | "rel" | "role" | "scope" | "selected" | "step" | "tabindex" |
 *   "target" | "text" | "title" | "type" | "value", Value>>} Attributes
 */

/**
 * Make an element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes<HTMLElementTagNameMap[K]>} [attributes]
 * @param {...Children} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (name === "style") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
    else if (name === "text") element.textContent = String(value);
    else if (["value", "checked", "disabled", "selected", "open", "indeterminate"].includes(name)) Object.assign(element, { [name]: value });
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** Add children at the end. @param {Element} element @param {Children[]} children */
export function append(element, children) {
  for (const child of /** @type {Child[]} */ (children.flat(3))) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Put children in the place of those there are. @param {Element} element @param {...Children} children */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** An element of SVG. @param {string} tag @param {Record<string, string | number>} [attributes] @param {...Children} children */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  append(element, children);
  return element;
}

/**
 * A choice among few values.
 * @param {{label: string, value: string | null, options: [string | null, string][], change: (value: string) => void, id?: string, hint?: string}} given
 */
export function choice({ label, value, options, change, id, hint }) {
  const select = h("select", { id, onchange: (event) => change(event.target.value) },
    options.map(([key, text]) => h("option", { value: key ?? "", selected: (key ?? "") === (value ?? "") }, text)));
  return h("label", { class: "field" }, h("span", {}, label), select, hint && h("small", {}, hint));
}

/**
 * Wait until somebody has stopped changing a value.
 * @template {unknown[]} A
 * @param {(...given: A) => unknown} action
 * @param {number} pause
 * @returns {(...given: A) => void}
 */
export function calmly(action, pause = 250) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => action(...given), pause);
  };
}

/** What must be there. @template T @param {T | null | undefined} value @returns {T} */
export function present(value) {
  if (value === null || value === undefined) throw new TypeError("something that must be there is missing");
  return value;
}

/** A number for a reader. @param {number} value */
export const shown = (value) => value.toLocaleString("en").replaceAll(",", "\u202f");

/** One or several. @param {number} n @param {string} one @param {string} [several] */
export const counted = (n, one, several = `${one}s`) => `${shown(n)} ${n === 1 ? one : several}`;
