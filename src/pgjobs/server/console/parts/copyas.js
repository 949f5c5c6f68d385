// The same action for psql, a shell and a program: what is done here can be done, and kept, anywhere.
import { placeOf } from "../api.js";
import { html } from "../view.js";
import { Copy } from "./small.js";

export const literal = (text) => (text === null || text === undefined ? "null" : `'${String(text).replaceAll("'", "''")}'`);
export const word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`);

// A call of a verb; what is empty is left out.
export function call(verb, first, named = {}) {
  const more = Object.entries(named).filter(([, value]) => value !== null && value !== undefined);
  return `select * from pgjobs.${verb}(${[...first, ...more.map(([name, value]) => `${name} => ${typeof value === "string" ? literal(value) : value}`)].join(", ")})`;
}

export const command = (...parts) => parts.filter((part) => part !== null && part !== undefined && part !== false).join(" ");
export const because = (reason) => (reason ? `--reason ${word(reason)}` : null);

const curl = ([method, path, body]) =>
  command(
    `curl -X ${method}`,
    word(placeOf(path).href),
    `-H "Authorization: Bearer $PGJOBS_TOKEN"`,
    body === undefined ? null : `-H 'Content-Type: application/json' -d ${word(JSON.stringify(body))}`,
  );

export const CopyAs = ({ sql, cli, http }) => html`
  <details class="copyas">
    <summary>Copy as psql, CLI or curl</summary>
    <dl>
      ${[["psql", sql && `${sql};`], ["CLI", cli], ["curl", http && curl(http)]].map(
        ([name, text]) => text && html`<dt>${name}</dt><dd class="sql"><pre tabindex="0"><code>${text}</code></pre><${Copy} text=${text} what=${name === "psql" ? "psql command" : `${name} command`} /></dd>`,
      )}
    </dl>
  </details>
`;
