// Elements made of values. Text is only ever a text node: nothing here reads HTML.

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 */

/**
 * Make an element.
 * @param {string} tag
 * @param {Object<string, any>} [attributes] `on…` are listeners, `style` is an object of
 *   properties, `class`, `text` and others are what they say; null and false are left out.
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
    else if (name === "text") element.textContent = value;
    else if (["value", "checked", "disabled", "selected", "open", "indeterminate"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** @param {Element} element @param {any[]} children */
export function append(element, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Put children in the place of those there are. @param {Element} element @param {...any} children */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** An element of SVG. @param {string} tag @param {Object<string, any>} [attributes] @param {...any} children */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  append(element, children);
  return element;
}

/**
 * A choice among few values.
 * @param {{label: string, value: any, options: [any, string][], change: (value: string) => void, id?: string, hint?: string}} given
 */
export function choice({ label, value, options, change, id, hint }) {
  const select = h("select", { id, onchange: (event) => change(event.target.value) },
    options.map(([key, text]) => h("option", { value: key ?? "", selected: (key ?? "") === (value ?? "") }, text)));
  return h("label", { class: "field" }, h("span", {}, label), select, hint && h("small", {}, hint));
}

/** Wait until somebody has stopped changing a value. @param {(...given: any[]) => void} action @param {number} pause */
export function calmly(action, pause = 250) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => action(...given), pause);
  };
}

/** A number for a reader. @param {number} value */
export const shown = (value) => value.toLocaleString("en").replaceAll(",", "\u202f");

/** One or several. @param {number} n @param {string} one @param {string} [several] */
export const counted = (n, one, several = `${one}s`) => `${shown(n)} ${n === 1 ? one : several}`;
