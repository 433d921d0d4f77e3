// Requests to the server, which is on this machine.

/** @import { Job, State } from "./types.js" */

/** What the server says is wrong. */
export class Problem extends Error {}

/** The words of an error. @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** @param {string} path @param {RequestInit} [options] @returns {Promise<Response>} */
async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Problem("The server does not answer. Is credalis app still running in its terminal?");
  }
  if (response.ok) return response;
  let text = `The server has answered with ${response.status}.`;
  try {
    /** @type {{error?: string}} */
    const said = await response.clone().json();
    text = said.error ?? text;
  } catch {
    text = (await response.text()) || text;
  }
  throw new Problem(text);
}

/** What the server answers; the caller knows of which type. @template T @param {string} path @returns {Promise<T>} */
export const get = async (path) => (await request(path)).json();

/** A file as text. @param {string} path */
export const text = async (path) => (await request(path)).text();

/** Ask for a change. @param {string} path @param {"POST" | "PATCH" | "DELETE"} method @param {object} [body] @returns {Promise<unknown>} */
export async function send(path, method, body) {
  const headers = { "Content-Type": "application/json" };
  const options = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
  return (await request(path, options)).json();
}

/** Hand over a file. @param {string} path @param {Blob} file @returns {Promise<unknown>} */
export const put = async (path, file) => (await request(path, { method: "PUT", body: file })).json();

/** A file of numbers. @template T @param {string} path @param {new (buffer: ArrayBuffer) => T} type */
export async function array(path, type) {
  return new type(await (await request(path)).arrayBuffer());
}

/**
 * Hear of changes as long as somebody looks: browsers allow few connections to a server,
 * and tabs in the background would take them.
 * @param {{state: (state: State) => void, job: (job: Job | null) => void, lost: (isLost: boolean) => void}} hear
 */
export function listen(hear) {
  /** @type {EventSource | null} */
  let source = null;
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource("/api/events");
    source.addEventListener("state", (event) => hear.state(JSON.parse(event.data)));
    source.addEventListener("job", (event) => hear.job(JSON.parse(event.data)));
    source.addEventListener("open", () => hear.lost(false));
    source.addEventListener("error", () => hear.lost(true));
  };
  const close = () => {
    source?.close();
    source = null;
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  open();
}
