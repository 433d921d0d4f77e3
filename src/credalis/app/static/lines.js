// Small charts of lines and bars, as SVG.

import { svg } from "./dom.js";

const WIDTH = 420;
const HEIGHT = 150;

/**
 * A curve that goes on while one looks.
 * @param {[number, number][]} points
 * @param {{label: string, x: string, y: string}} words
 */
export function curve(points, words) {
  const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "lines", role: "img", "aria-label": words.label });
  if (points.length < 2) return chart;
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  /** @param {number} value */
  const x = (value) => 46 + ((WIDTH - 56) * (value - left)) / (right - left || 1);
  /** @param {number} value */
  const y = (value) => 10 + ((HEIGHT - 40) * (high - value)) / (high - low || 1);
  chart.append(
    svg("path", { d: `M46 10V${HEIGHT - 30}H${WIDTH - 10}`, class: "axis" }),
    svg("polyline", { points: points.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" "), class: "curve" }),
    svg("circle", { cx: x(xs[xs.length - 1]), cy: y(ys[ys.length - 1]), r: 3.5, class: "dot" }),
    svg("text", { x: 42, y: 16, class: "tick end" }, short(high)),
    svg("text", { x: 42, y: HEIGHT - 31, class: "tick end" }, short(low)),
    svg("text", { x: WIDTH - 10, y: HEIGHT - 14, class: "tick end" }, `${words.x} ${right}`),
    svg("text", { x: 46, y: HEIGHT - 14, class: "tick" }, words.y),
  );
  return chart;
}

/**
 * Bars, one for each number.
 * @param {number[]} numbers @param {(number | null)[]} heights @param {number | null} best @param {string} label
 */
export function bars(numbers, heights, best, label) {
  const chart = svg("svg", { viewBox: `0 0 ${WIDTH} 120`, class: "lines", role: "img", "aria-label": label });
  const known = heights.map((height) => height ?? 0);
  const most = Math.max(...known, 1e-9);
  const step = (WIDTH - 10) / numbers.length;
  numbers.forEach((number, i) => {
    const height = Math.max(1, (84 * Math.max(known[i], 0)) / most);
    chart.append(
      svg("rect", { x: 5 + i * step + step * 0.15, y: 98 - height, width: step * 0.7, height, rx: 2, class: number === best ? "column best" : "column" }),
      svg("text", { x: 5 + (i + 0.5) * step, y: 114, class: number === best ? "tick middle strong" : "tick middle" }, String(number)),
      svg("text", { x: 5 + (i + 0.5) * step, y: 94 - height, class: "tick middle small" }, known[i].toFixed(2)),
    );
  });
  return chart;
}

/** @param {number} value */
const short = (value) => (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e5) ? value.toExponential(1) : String(Number(value.toPrecision(3))));
