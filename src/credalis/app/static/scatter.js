// A cloud of points on a canvas, with a grid by which the point under the mouse is found
// at once, also among a hundred thousand: hover, pick, lasso, zoom, and keys.

import { h, present, shown } from "./dom.js";

const PAD = { left: 56, right: 14, top: 12, bottom: 44 };
const REACH = 16; // pixels within which a point is under the mouse
const MANY = 8000; // from here on points are squares: circles take too long

/**
 * @typedef {Object} Cloud
 * @property {ArrayLike<number>} x
 * @property {ArrayLike<number>} y
 * @property {ArrayLike<number>} [labels] number of the colour of each point
 * @property {ArrayLike<number>} [second] number of the colour of its rim
 * @property {ArrayLike<number>} [kinds] 0 plain, 1 with a rim, 2 a ring
 * @property {string[]} colors
 * @property {[string, string]} titles
 * @property {{points: [number, number][], color: string, dashed: boolean}[]} [hulls]
 * @property {{point: number, text: string, color: string}[]} [marks] points that stand out
 * @property {{x: number, y: number, text: string, color: string}[]} [words]
 */

/**
 * Where values are on the canvas, and back.
 * @typedef {Object} Pixels
 * @property {{left: number, top: number, width: number, height: number}} area
 * @property {{left: number, low: number, width: number, height: number}} frame
 * @property {number} kx pixels of a unit
 * @property {number} ky
 * @property {(x: number) => number} px
 * @property {(y: number) => number} py
 * @property {(px: number) => number} vx
 * @property {(py: number) => number} vy
 */

/** Points by cells of a grid, so that few have to be looked at. */
export class Grid {
  /** @param {ArrayLike<number>} x @param {ArrayLike<number>} y */
  constructor(x, y) {
    this.x = x;
    this.y = y;
    const n = x.length;
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < n; i++) {
      const [a, b] = [x[i], y[i]];
      if (!(a - a === 0 && b - b === 0)) continue;
      if (a < left) left = a;
      if (a > right) right = a;
      if (b < low) low = b;
      if (b > high) high = b;
    }
    if (left > right) [left, right, low, high] = [0, 1, 0, 1];
    if (left === right) [left, right] = [left - 0.5, right + 0.5];
    if (low === high) [low, high] = [low - 0.5, high + 0.5];
    this.left = left;
    this.right = right;
    this.low = low;
    this.high = high;
    this.size = Math.max(1, Math.min(256, Math.round(Math.sqrt(n / 3))));
    const starts = new Uint32Array(this.size * this.size + 1);
    const cells = new Int32Array(n).fill(-1);
    for (let i = 0; i < n; i++) {
      if (!(x[i] - x[i] === 0 && y[i] - y[i] === 0)) continue;
      cells[i] = this.column(x[i]) + this.size * this.row(y[i]);
      starts[cells[i] + 1]++;
    }
    for (let c = 0; c < starts.length - 1; c++) starts[c + 1] += starts[c];
    const places = starts.slice();
    this.points = new Uint32Array(starts[starts.length - 1]);
    for (let i = 0; i < n; i++) if (cells[i] >= 0) this.points[places[cells[i]]++] = i;
    this.starts = starts;
  }

  /** @param {number} x */
  column(x) {
    return Math.max(0, Math.min(this.size - 1, Math.floor((this.size * (x - this.left)) / (this.right - this.left))));
  }

  /** @param {number} y */
  row(y) {
    return Math.max(0, Math.min(this.size - 1, Math.floor((this.size * (y - this.low)) / (this.high - this.low))));
  }

  /**
   * Visit the points in the cells of a rectangle.
   * @param {number} left @param {number} right @param {number} low @param {number} high @param {(point: number) => void} visit
   */
  within(left, right, low, high, visit) {
    for (let row = this.row(low); row <= this.row(high); row++) {
      for (let column = this.column(left); column <= this.column(right); column++) {
        const cell = column + this.size * row;
        for (let k = this.starts[cell]; k < this.starts[cell + 1]; k++) visit(this.points[k]);
      }
    }
  }
}

/** The cloud, its tools, and what one does with them. */
export class Scatter {
  /**
   * @param {{label: string, describe: (point: number) => string[], pick?: (point: number) => void,
   *   lasso?: (points: number[]) => void, say?: (text: string) => void, height?: string}} given
   */
  constructor({ label, describe, pick, lasso, say, height }) {
    this.describe = describe;
    this.pick = pick;
    this.lassoed = lasso;
    this.say = say ?? (() => {});
    this.isLasso = false;
    /** @type {Cloud | null} */
    this.cloud = null;
    /** @type {Grid | null} */
    this.grid = null;
    /** The lasso that is being drawn. @type {[number, number][] | undefined} */
    this.path = undefined;
    this.isPlanned = false;
    /** @type {number[]} */
    this.chosen = [];
    this.current = -1;
    this.looked = -1;
    this.view = { scale: 1, x: 0, y: 0 };
    // What changes seldom, what changes with a choice, and what follows the mouse.
    this.base = h("canvas", { "aria-hidden": "true" });
    this.middle = h("canvas", { "aria-hidden": "true" });
    this.over = h("canvas", { tabindex: 0, role: "application", "aria-roledescription": "map of points", "aria-label": label });
    this.tip = h("div", { class: "tip", hidden: true });
    this.box = h("div", { class: "canvas", style: height ? { height } : {} }, this.base, this.middle, this.over, this.tip);
    /** @param {string} text @param {string} name @param {() => void} action @param {string} [pressed] */
    const tool = (text, name, action, pressed) =>
      h("button", { type: "button", class: "tool", title: name, "aria-label": name, "aria-pressed": pressed, onclick: action }, text);
    this.lassoButton = lasso ? tool("Lasso", "Draw a line around points to choose them", () => this.setLasso(!this.isLasso), "false") : null;
    this.element = h("div", { class: "scatter" },
      h("div", { class: "tools" }, this.lassoButton,
        tool("+", "Zoom in", () => this.zoom(1.5)), tool("−", "Zoom out", () => this.zoom(1 / 1.5)),
        tool("Whole", "Show all points", () => this.reset())),
      this.box);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.box);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Draw a cloud. @param {Cloud} cloud @param {boolean} [keepsView] */
  show(cloud, keepsView = false) {
    const isSame = this.cloud && this.cloud.x === cloud.x && this.cloud.y === cloud.y;
    this.cloud = cloud;
    if (!isSame) this.grid = new Grid(cloud.x, cloud.y);
    if (!isSame && !keepsView) this.view = { scale: 1, x: 0, y: 0 };
    if (!isSame) this.current = this.looked = -1;
    this.draw();
  }

  /** Keep a ring around the point that is looked at. @param {number} point */
  ring(point) {
    this.looked = point;
    this.drawOver();
  }

  /** Let points stand out. @param {number[]} points */
  choose(points) {
    if (points === this.chosen || (!points.length && !this.chosen.length)) return;
    this.chosen = points;
    this.drawChosen();
  }

  /** @param {boolean} on */
  setLasso(on) {
    this.isLasso = on;
    this.lassoButton?.setAttribute("aria-pressed", String(on));
    this.box.classList.toggle("lasso", on);
  }

  // From values to pixels and back.

  area() {
    const { clientWidth: width, clientHeight: height } = this.box;
    return { left: PAD.left, top: PAD.top, width: Math.max(10, width - PAD.left - PAD.right), height: Math.max(10, height - PAD.top - PAD.bottom) };
  }

  frame() {
    const { left, right, low, high } = present(this.grid);
    const [dx, dy] = [0.04 * (right - left), 0.05 * (high - low)];
    const { scale, x, y } = this.view;
    const width = (right - left + 2 * dx) / scale;
    const height = (high - low + 2 * dy) / scale;
    const [cx, cy] = [(left + right) / 2 + x, (low + high) / 2 + y];
    return { left: cx - width / 2, low: cy - height / 2, width, height };
  }

  /** @returns {Pixels} */
  pixels() {
    const area = this.area();
    const frame = this.frame();
    const [kx, ky] = [area.width / frame.width, area.height / frame.height];
    return {
      area, frame, kx, ky,
      px: (x) => area.left + (x - frame.left) * kx,
      py: (y) => area.top + area.height - (y - frame.low) * ky,
      vx: (px) => frame.left + (px - area.left) / kx,
      vy: (py) => frame.low + (area.top + area.height - py) / ky,
    };
  }

  /** Around a pixel, or the middle. @param {number} factor @param {number} [px] @param {number} [py] */
  zoom(factor, px, py) {
    const before = this.pixels();
    px ??= before.area.left + before.area.width / 2;
    py ??= before.area.top + before.area.height / 2;
    const [x, y] = [before.vx(px), before.vy(py)];
    this.view.scale = Math.max(1, Math.min(400, this.view.scale * factor));
    const after = this.pixels();
    this.view.x += x - after.vx(px);
    this.view.y += y - after.vy(py);
    if (this.view.scale === 1) this.view = { scale: 1, x: 0, y: 0 };
    this.later();
  }

  reset() {
    this.view = { scale: 1, x: 0, y: 0 };
    this.draw();
  }

  later() {
    if (this.isPlanned) return;
    this.isPlanned = true;
    requestAnimationFrame(() => {
      this.isPlanned = false;
      this.draw();
    });
  }

  // Drawing.

  /** @param {HTMLCanvasElement} canvas */
  prepare(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.box;
    const [w, hgt] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== hgt) [canvas.width, canvas.height] = [w, hgt];
    const context = present(canvas.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  }

  draw() {
    if (!this.cloud || !this.box.clientWidth) return;
    const context = this.prepare(this.base);
    const style = getComputedStyle(this.box);
    const ink = style.getPropertyValue("--ink").trim();
    const at = this.pixels();
    this.drawAxes(context, at, style);
    context.save();
    context.beginPath();
    context.rect(at.area.left, at.area.top, at.area.width, at.area.height);
    context.clip();
    this.drawHulls(context, at);
    this.drawPoints(context, at, ink);
    this.drawMarks(context, at, style);
    context.restore();
    this.drawChosen();
    this.drawOver();
  }

  drawChosen() {
    if (!this.cloud || !this.box.clientWidth) return;
    const context = this.prepare(this.middle);
    if (!this.chosen.length) return;
    const { px, py } = this.pixels();
    const { x, y } = present(this.cloud);
    const ink = getComputedStyle(this.box).getPropertyValue("--ink").trim();
    if (this.chosen.length > MANY) {
      context.fillStyle = ink;
      context.globalAlpha = 0.55;
      for (const i of this.chosen) context.fillRect(px(x[i]) - 1, py(y[i]) - 1, 2, 2);
      context.globalAlpha = 1;
      return;
    }
    context.strokeStyle = ink;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const i of this.chosen) context.rect(px(x[i]) - 5, py(y[i]) - 5, 10, 10);
    context.stroke();
  }

  /** @param {CanvasRenderingContext2D} context @param {Pixels} at @param {CSSStyleDeclaration} style */
  drawAxes(context, at, style) {
    const { area } = at;
    const soft = style.getPropertyValue("--soft").trim();
    context.strokeStyle = style.getPropertyValue("--line").trim();
    context.fillStyle = soft;
    context.lineWidth = 1;
    context.font = `12px ${style.fontFamily}`;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const value of ticks(at.frame.left, at.frame.width, area.width / 90)) {
      const x = Math.round(at.px(value)) + 0.5;
      line(context, x, area.top, x, area.top + area.height);
      context.fillText(tickText(value), x, area.top + area.height + 5);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of ticks(at.frame.low, at.frame.height, area.height / 55)) {
      const y = Math.round(at.py(value)) + 0.5;
      line(context, area.left, y, area.left + area.width, y);
      context.fillText(tickText(value), area.left - 6, y);
    }
    const [bottom, side] = present(this.cloud).titles;
    context.textAlign = "center";
    context.textBaseline = "bottom";
    context.fillText(cut(context, bottom, area.width), area.left + area.width / 2, area.top + area.height + PAD.bottom - 4);
    context.save();
    context.translate(2, area.top + area.height / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "top";
    context.fillText(cut(context, side, area.height), 0, 0);
    context.restore();
  }

  /** @param {CanvasRenderingContext2D} context @param {Pixels} at */
  drawHulls(context, at) {
    for (const { points, color, dashed } of present(this.cloud).hulls ?? []) {
      if (points.length < 3) continue;
      context.beginPath();
      points.forEach(([x, y], i) => (i ? context.lineTo(at.px(x), at.py(y)) : context.moveTo(at.px(x), at.py(y))));
      context.closePath();
      context.setLineDash(dashed ? [6, 5] : []);
      context.strokeStyle = color;
      context.lineWidth = 1.6;
      context.stroke();
      if (!dashed) {
        context.globalAlpha = 0.07;
        context.fillStyle = color;
        context.fill();
        context.globalAlpha = 1;
      }
    }
    context.setLineDash([]);
  }

  /** @param {CanvasRenderingContext2D} context @param {Pixels} at @param {string} ink */
  drawPoints(context, at, ink) {
    const { x, y, labels, second, kinds, colors } = present(this.cloud);
    const n = x.length;
    const { area, frame, kx, ky } = at;
    const [ox, oy] = [area.left - frame.left * kx, area.top + area.height + frame.low * ky];
    const isMany = n > MANY;
    const radius = isMany ? (n > 40000 ? 1.1 : 1.6) : n > 1500 ? 2.6 : 4;
    // By colour: changing it costs more than drawing.
    /** @type {Map<number, number[]>} */
    const groups = new Map();
    for (let i = 0; i < n; i++) {
      const kind = kinds ? kinds[i] : 0;
      const key = kind === 2 ? -1 : (labels ? labels[i] : 0) + (kind === 1 && second && !isMany ? 1e6 * (1 + second[i]) : 0);
      let group = groups.get(key);
      if (!group) groups.set(key, (group = []));
      group.push(i);
    }
    for (const [key, points] of groups) {
      const isRing = key === -1;
      const color = isRing ? ink : colors[(key % 1e6) % colors.length];
      context.fillStyle = color;
      if (isMany) {
        context.fillStyle = color;
        const side = 2 * radius;
        for (const i of points) {
          const px = ox + x[i] * kx;
          const py = oy - y[i] * ky;
          if (px >= area.left && px <= area.left + area.width && py >= area.top && py <= area.top + area.height) context.fillRect(px - radius, py - radius, side, side);
        }
        continue;
      }
      context.beginPath();
      for (const i of points) {
        const px = ox + x[i] * kx;
        const py = oy - y[i] * ky;
        if (!(px - px === 0 && py - py === 0)) continue;
        context.moveTo(px + radius, py);
        context.arc(px, py, radius, 0, 7);
      }
      if (isRing) {
        context.strokeStyle = ink;
        context.lineWidth = 1.5;
        context.stroke();
      } else {
        context.globalAlpha = 0.85;
        context.fill();
        context.globalAlpha = 1;
        if (key >= 1e6) {
          context.strokeStyle = colors[(Math.floor(key / 1e6) - 1) % colors.length];
          context.lineWidth = 2;
          context.stroke();
        }
      }
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {Pixels} at @param {CSSStyleDeclaration} style */
  drawMarks(context, at, style) {
    const { x: xs, y: ys, marks, words } = present(this.cloud);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `600 13px ${style.fontFamily}`;
    for (const { point, text, color } of marks ?? []) {
      const [px, py] = [at.px(xs[point]), at.py(ys[point])];
      context.beginPath();
      context.arc(px, py, 11, 0, 7);
      context.fillStyle = color;
      context.fill();
      context.lineWidth = 2;
      context.strokeStyle = style.getPropertyValue("--paper").trim();
      context.stroke();
      context.fillStyle = readable(color);
      context.fillText(text, px, py + 0.5);
    }
    for (const { x, y, text, color } of words ?? []) {
      const [px, py] = [at.px(x), at.py(y)];
      context.lineWidth = 4;
      context.strokeStyle = style.getPropertyValue("--paper").trim();
      context.strokeText(text, px, py);
      context.fillStyle = style.getPropertyValue("--ink").trim();
      context.fillText(text, px, py);
      const width = context.measureText(text).width;
      context.fillStyle = color;
      context.fillRect(px - width / 2, py + 9, width, 3);
    }
  }

  drawOver() {
    if (!this.cloud || !this.box.clientWidth) return;
    const context = this.prepare(this.over);
    const at = this.pixels();
    const style = getComputedStyle(this.box);
    const ink = style.getPropertyValue("--ink").trim();
    context.lineWidth = 3;
    context.strokeStyle = style.getPropertyValue("--accent").trim();
    for (const point of new Set([this.current, this.looked])) {
      if (point < 0) continue;
      context.beginPath();
      context.arc(at.px(this.cloud.x[point]), at.py(this.cloud.y[point]), 9, 0, 7);
      context.stroke();
    }
    if (this.path?.length) {
      context.lineWidth = 2;
      context.setLineDash([5, 4]);
      context.strokeStyle = ink;
      context.beginPath();
      this.path.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.stroke();
      context.setLineDash([]);
    }
  }

  // Finding points.

  /** The point nearest to a place within reach, or -1. @param {number} px @param {number} py @param {number} reach */
  nearest(px, py, reach = REACH) {
    const at = this.pixels();
    const { x, y } = present(this.cloud);
    let [best, closest] = [-1, reach * reach];
    const vx = at.vx(px);
    const vy = at.vy(py);
    present(this.grid).within(vx - reach / at.kx, vx + reach / at.kx, vy - reach / at.ky, vy + reach / at.ky, (i) => {
      const distance = ((x[i] - vx) * at.kx) ** 2 + ((y[i] - vy) * at.ky) ** 2;
      if (distance < closest) [best, closest] = [i, distance];
    });
    return best;
  }

  /** The points inside of a polygon of pixels. @param {[number, number][]} path */
  inside(path) {
    const at = this.pixels();
    const corners = path.map(([px, py]) => [at.vx(px), at.vy(py)]);
    const xs = corners.map((corner) => corner[0]);
    const ys = corners.map((corner) => corner[1]);
    const { x, y } = present(this.cloud);
    /** @type {number[]} */
    const found = [];
    present(this.grid).within(Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys), (i) => {
      let isInside = false;
      const [a, b] = [x[i], y[i]];
      for (let j = 0, k = xs.length - 1; j < xs.length; k = j++) {
        if (ys[j] > b !== ys[k] > b && a < ((xs[k] - xs[j]) * (b - ys[j])) / (ys[k] - ys[j]) + xs[j]) isInside = !isInside;
      }
      if (isInside) found.push(i);
    });
    return found.sort((i, j) => i - j);
  }

  /** Put a point under the cursor and show what is known about it. @param {number} i @param {boolean} isSaid */
  point(i, isSaid = false) {
    this.current = i;
    this.drawOver();
    if (i < 0) {
      this.tip.hidden = true;
      return;
    }
    const { x, y } = present(this.cloud);
    const lines = this.describe(i);
    this.tip.replaceChildren(...lines.map((text, k) => h(k ? "div" : "strong", {}, text)));
    this.tip.hidden = false;
    const at = this.pixels();
    const [px, py] = [at.px(x[i]), at.py(y[i])];
    const width = this.tip.offsetWidth;
    const isRight = px + 16 + width > this.box.clientWidth;
    this.tip.style.left = `${Math.max(2, isRight ? px - width - 14 : px + 14)}px`;
    this.tip.style.top = `${Math.max(2, Math.min(py - 10, this.box.clientHeight - this.tip.offsetHeight - 4))}px`;
    if (isSaid) this.say(lines.join(", "));
  }

  listen() {
    const over = this.over;
    /** @type {{x: number, y: number, isMoved: boolean} | null} */
    let grip = null;
    /** @param {MouseEvent} event @returns {[number, number]} */
    const place = (event) => {
      const box = over.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.cloud) return;
      const [x, y] = place(event);
      const isDragged = this.isLasso || this.view.scale > 1;
      grip = { x, y, isMoved: false };
      if (this.isLasso) this.path = [[x, y]];
      if (isDragged && event.pointerType !== "touch") over.setPointerCapture(event.pointerId);
      if (this.isLasso && event.pointerType === "touch") over.setPointerCapture(event.pointerId);
    });
    over.addEventListener("pointermove", (event) => {
      if (!this.cloud) return;
      const [x, y] = place(event);
      if (grip && this.isLasso) {
        const path = present(this.path);
        const [lastX, lastY] = path[path.length - 1];
        if ((x - lastX) ** 2 + (y - lastY) ** 2 > 16) path.push([x, y]);
        grip.isMoved = true;
        this.drawOver();
        return;
      }
      if (grip && event.buttons && (x - grip.x) ** 2 + (y - grip.y) ** 2 > 9) {
        grip.isMoved = true;
        if (this.view.scale > 1) {
          const at = this.pixels();
          this.view.x -= (x - grip.x) / at.kx;
          this.view.y += (y - grip.y) / at.ky;
          [grip.x, grip.y] = [x, y];
          this.tip.hidden = true;
          this.later();
        }
        return;
      }
      const found = this.nearest(x, y);
      if (found !== this.current) this.point(found);
    });
    /** @param {PointerEvent} event */
    const end = (event) => {
      if (!grip || !this.cloud) return;
      const [x, y] = place(event);
      const { isMoved } = grip;
      grip = null;
      if (this.isLasso && this.path) {
        const path = this.path;
        this.path = undefined;
        if (path.length > 2) {
          const points = this.inside(path);
          this.choose(points);
          this.lassoed?.(points);
          this.say(`${shown(points.length)} objects chosen`);
        } else this.drawOver();
        return;
      }
      if (isMoved) return;
      const found = this.nearest(x, y);
      this.point(found);
      if (found >= 0) this.pick?.(found);
    };
    over.addEventListener("pointerup", end);
    over.addEventListener("pointercancel", () => {
      grip = null;
      this.path = undefined;
      this.drawOver();
    });
    over.addEventListener("pointerleave", () => {
      if (!grip && document.activeElement !== over) this.point(-1);
    });
    over.addEventListener("wheel", (event) => {
      // Without a key the wheel scrolls the page.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const [x, y] = place(event);
      this.zoom(Math.exp(-event.deltaY / 300), x, y);
    }, { passive: false });
    over.addEventListener("keydown", (event) => this.key(event));
    over.addEventListener("blur", () => this.point(-1));
  }

  /** Arrows go to the next point in their direction, Enter picks it. @param {KeyboardEvent} event */
  key(event) {
    if (!this.cloud || event.altKey || event.ctrlKey || event.metaKey) return;
    /** @type {Record<string, [number, number] | undefined>} */
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[event.key];
    if (step) {
      event.preventDefault();
      this.point(this.current < 0 ? this.nearestToMiddle() : this.next(step), true);
    } else if ((event.key === "Enter" || event.key === " ") && this.current >= 0) {
      event.preventDefault();
      this.pick?.(this.current);
    } else if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.reset();
    else if (event.key === "Escape") this.point(-1);
  }

  nearestToMiddle() {
    const { area } = this.pixels();
    return this.nearest(area.left + area.width / 2, area.top + area.height / 2, 4000);
  }

  /** The nearest point in a direction, or the current one. @param {[number, number]} step */
  next([sx, sy]) {
    const at = this.pixels();
    const { x, y } = present(this.cloud);
    const [cx, cy] = [at.px(x[this.current]), at.py(y[this.current])];
    let [best, least] = [this.current, Infinity];
    for (let i = 0; i < x.length; i++) {
      const [dx, dy] = [at.px(x[i]) - cx, at.py(y[i]) - cy];
      const along = dx * sx + dy * sy;
      const across = Math.abs(dx * sy + dy * sx);
      if (along > 0.5 && across <= 2 * along) {
        const cost = along + 2 * across;
        if (cost < least) [best, least] = [i, cost];
      }
    }
    return best;
  }
}

/** Round numbers of an interval, about so many. @param {number} start @param {number} width @param {number} n */
function ticks(start, width, n) {
  const rough = width / Math.max(3, Math.min(12, n));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((each) => each >= rough) ?? rough;
  const values = [];
  for (let k = Math.ceil(start / step); k * step <= start + width && values.length < 50; k++) values.push(k * step);
  return values;
}

/** @param {number} value */
const tickText = (value) => {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(0);
  return String(Number(value.toPrecision(6)));
};

/** @param {CanvasRenderingContext2D} context @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** As much of a text as fits. @param {CanvasRenderingContext2D} context @param {string} text @param {number} width */
function cut(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let n = text.length;
  while (n > 1 && context.measureText(`${text.slice(0, n)}…`).width > width) n--;
  return `${text.slice(0, n)}…`;
}

/** Black or white, whichever can be read on a colour. @param {string} color */
export function readable(color) {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const share = parseInt(color.slice(i, i + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.35 ? "#111820" : "#ffffff";
}

/** Corners of the convex hull of points. @param {[number, number][]} points @returns {[number, number][]} */
export function hull(points) {
  const sorted = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (sorted.length < 3) return sorted;
  /** @param {[number, number][]} list */
  const half = (list) => {
    /** @type {[number, number][]} */
    const chain = [];
    for (const p of list) {
      while (chain.length > 1) {
        const [a, b] = [chain[chain.length - 2], chain[chain.length - 1]];
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        chain.pop();
      }
      chain.push(p);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}
