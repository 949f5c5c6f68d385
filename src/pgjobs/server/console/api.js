// The public HTTP API, the same that programs use. The browser's session is a cookie no script can
// read; changes carry its CSRF token.
import { signal } from "./view.js";

const root = new URL("../", document.baseURI);

export const session = signal(undefined); // undefined: not asked yet; null: signed out
export const isAway = signal(false); // The server could not be reached when it was asked last.
export const readFrom = signal(null); // Who answers lists where there is a standby, as the server put it last.
export const cells = signal([]); // The names of all cells, where a server has several.
export const missing = signal(""); // Those that the last list leaves out, as the server put it.
const CELL = "pgjobs-cell";
// The one that is looked at, in this tab; none means all. Another choice begins anew: no list is to mix two.
export const cell = sessionStorage.getItem(CELL) ?? "";
export function chooseCell(name) {
  if (name) sessionStorage.setItem(CELL, name);
  else sessionStorage.removeItem(CELL);
  location.reload();
}
export const isOverCells = () => cells.value.length > 1 && !cell;
let skew = 0; // The server's clock minus ours, in milliseconds, as far as its answers tell.

export const serverNow = () => Date.now() + skew;

// What went wrong, as the server told it (RFC 9457), or that it could not be reached.
export class Problem extends Error {
  constructor(body) {
    super(body.detail ?? body.title);
    this.status = body.status;
    this.kind = (body.type ?? "").split("/").pop();
    this.errors = body.errors ?? [];
  }
}

const unreachable = () => new Problem({ status: 0, title: "The server cannot be reached." });

const AN_ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-/;

function place(path, values = {}) {
  const url = new URL(path.startsWith("/") ? path.slice(1) : `v1/joblib/${path}`, root);
  for (const [name, value] of Object.entries(values)) {
    if (value === "" || value === null || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, one);
  }
  // An id leads to its cell by itself.
  if (cell && !AN_ID.test(path)) url.searchParams.set("cell", cell);
  return url;
}

async function send(method, path, { values, body, key, signal: aborted } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET" && session.peek()?.csrf_token) headers["X-CSRF-Token"] = session.peek().csrf_token;
  if (key) headers["Idempotency-Key"] = key;
  let answer, text;
  const asked = Date.now();
  try {
    answer = await fetch(place(path, values), {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: aborted,
      credentials: "same-origin",
    });
    text = await answer.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    isAway.value = true;
    throw unreachable();
  }
  isAway.value = false;
  learnSkew(Date.parse(answer.headers.get("Date") ?? ""), asked, Date.now());
  if (answer.headers.has("PgJobs-Read")) readFrom.value = told(answer.headers.get("PgJobs-Read"));
  learnCells(answer.headers);
  const content = read(answer, text);
  if (answer.ok && content !== undefined) return content;
  if (answer.status === 401 && path !== "session") session.value = null;
  if (cell && answer.status === 422 && content?.detail?.startsWith("There is no cell ")) chooseCell("");
  throw new Problem(content ?? { status: answer.status, title: wrong(answer) });
}

// What names the one cell that answers says nothing of the others.
function learnCells(headers) {
  if (!headers.has("PgJobs-Cells")) return;
  const names = headers.get("PgJobs-Cells").split(",");
  if (names.join() !== cells.peek().join()) cells.value = names;
  if (!headers.has("PgJobs-Cell")) missing.value = (headers.get("PgJobs-Missing") ?? "").replace(/; reason="([^"]*)"/g, " ($1)");
}

// `standby; lag=0.4`, or `primary; reason="standby is away"`.
function told(header) {
  const lag = /^standby; lag=([\d.]+)/.exec(header);
  return lag ? { isStandby: true, lag: Number(lag[1]) } : { isStandby: false, reason: /reason="([^"]*)"/.exec(header)?.[1] ?? "" };
}

// The server stamped its answer, in whole seconds, between our question and its arrival: that says how far the clocks
// can be apart. What we believe moves only as far as it must, so that a slow answer, which says little, moves nothing.
function learnSkew(told, asked, answered) {
  if (Number.isNaN(told)) return;
  skew = Math.min(Math.max(skew, told - answered), told + 1000 - asked);
}

// What the answer says; undefined where it is not ours, but that of something between us and the server.
function read(answer, text) {
  if (!text) return null;
  try {
    return answer.headers.get("Content-Type")?.includes("json") ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

const wrong = (answer) =>
  answer.ok ? "Unexpected response (a proxy?), or only part of one." : answer.statusText || `Something went wrong (${answer.status}).`;

// Somebody who signed in again in another tab has another CSRF token; who has become somebody else is asked first.
async function ask(method, path, given) {
  const before = session.peek();
  try {
    return await send(method, path, given);
  } catch (error) {
    if (error.status !== 403 || method === "GET" || !before?.csrf_token) throw error;
    await whoAmI();
    const now = session.peek();
    if (!now || now.csrf_token === before.csrf_token) throw error;
    if (now.id !== before.id) throw new Problem({ status: 403, title: `You are signed in as ${now.id} now. Try again if you mean it.` });
    return send(method, path, given);
  }
}

export const get = (path, values, aborted) => ask("GET", path, { values, signal: aborted });
// Whoever asks again with the same key, because no answer came, gets what the first one made.
export const post = (path, body = {}, key = null) => ask("POST", path, { body, key });
export const newKey = () => `console-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;
export const remove = (path) => ask("DELETE", path);
export const put = (path, body) => ask("PUT", path, { body });
export const streamAddress = () => place("events").href;
export const placeOf = (path) => place(path);

// Nothing is asked by a tab that nobody has looked at yet.
export async function seen() {
  while (document.visibilityState === "hidden") await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
}

export async function whoAmI() {
  await seen();
  try {
    session.value = await get("session");
  } catch (error) {
    if (error.status === 401 || error.status === 403) session.value = null;
    else throw error;
  }
}

export async function signIn(token) {
  session.value = await post("session", { token });
}

export async function signOut() {
  await remove("session");
  session.value = null;
}

// What the server will let this user do; it decides again at every request.
export const mayOperate = () => Boolean(session.value?.is_superuser);
