// A payload to fill in: fields made of the job's JSON Schema where it names simple members, and JSON for everything.
import { html, signal, view } from "../view.js";

const typeOf = (schema) => (Array.isArray(schema?.type) ? schema.type.find((type) => type !== "null") : schema?.type);
const SIMPLE = ["string", "integer", "number", "boolean"];
const isSimple = (schema) => Array.isArray(schema?.enum) || SIMPLE.includes(typeOf(schema));
const members = (schema) => Object.entries(schema?.properties ?? {});

// What a schema suggests to begin with.
export function beginning(schema) {
  const known = members(schema).filter(([, part]) => part?.default !== undefined || part?.const !== undefined);
  return Object.fromEntries(known.map(([name, part]) => [name, part.default ?? part.const]));
}

// `text` is the payload as JSON, a signal; `broken` says what is wrong with it as JSON, if anything.
export function payloadOf(text) {
  try {
    const payload = JSON.parse(text);
    if (payload !== null && typeof payload === "object" && !Array.isArray(payload)) return { payload };
    return { broken: "A payload is a JSON object." };
  } catch (error) {
    return { broken: `Not valid JSON: ${error.message}` };
  }
}
export const asText = (payload) => JSON.stringify(payload, null, 2);

function Member({ name, part, isRequired, value, change }) {
  const label = html`<span>${part.title ?? name}${isRequired && html` <span class="muted">(required)</span>`}</span>`;
  const hint = part.description && html`<small class="muted">${part.description}</small>`;
  const set = (given) => change(name, given);
  if (Array.isArray(part.enum))
    return html`<label class="field">${label}<select class="input" value=${JSON.stringify(value) ?? ""} onChange=${(event) => set(event.target.value === "" ? undefined : JSON.parse(event.target.value))}>
      <option value="">—</option>${part.enum.map((one) => html`<option value=${JSON.stringify(one)}>${String(one)}</option>`)}
    </select>${hint}</label>`;
  const type = typeOf(part);
  if (type === "boolean")
    return html`<label class="field">${label}<select class="input" value=${value === undefined ? "" : String(value)} onChange=${(event) => set({ true: true, false: false }[event.target.value])}>
      <option value="">—</option><option value="true">yes</option><option value="false">no</option>
    </select>${hint}</label>`;
  if (type === "string")
    return html`<label class="field">${label}<input class="input" type="text" value=${value ?? ""} maxlength=${part.maxLength} autocomplete="off" spellcheck=${false} onInput=${(event) => set(event.target.value === "" && !isRequired ? undefined : event.target.value)} />${hint}</label>`;
  return html`<label class="field">${label}<input class="input" type="number" step=${type === "integer" ? 1 : "any"} min=${part.minimum} max=${part.maximum} value=${value ?? ""} onInput=${(event) => set(event.target.value === "" ? undefined : Number(event.target.value))} />${hint}</label>`;
}

export const SchemaForm = view((given) => {
  const hasFields = members(given.peek().schema).some(([, part]) => isSimple(part));
  const isForm = signal(hasFields);
  return ({ schema, text }) => {
    const { payload, broken } = payloadOf(text.value);
    const change = (name, value) => {
      const { [name]: _, ...others } = payload;
      text.value = asText(value === undefined ? others : { ...payload, [name]: value });
    };
    const simple = members(schema).filter(([, part]) => isSimple(part));
    const rest = members(schema).filter(([, part]) => !isSimple(part)).map(([name]) => name);
    const isFilledIn = isForm.value && payload;
    return html`
      <fieldset class="stack tight payload">
        <legend class="row apart"><span class="strong">Payload</span>
          ${hasFields && html`<span class="tabs" role="group" aria-label="How to edit it">
            <button type="button" aria-pressed=${isForm.value} onClick=${() => (isForm.value = true)}>Form</button>
            <button type="button" aria-pressed=${!isForm.value} onClick=${() => (isForm.value = false)}>JSON</button>
          </span>`}
        </legend>
        ${isFilledIn
          ? html`
              <div class="form">${simple.map(([name, part]) => html`<${Member} key=${name} name=${name} part=${part} isRequired=${schema.required?.includes(name)} value=${payload[name]} change=${change} />`)}</div>
              ${rest.length > 0 && html`<p class="muted small">Only as JSON: ${rest.join(", ")}.</p>`}
            `
          : html`<textarea class="input mono" rows="8" aria-label="Payload as JSON" spellcheck=${false} value=${text.value} onInput=${(event) => (text.value = event.target.value)}></textarea>`}
        ${broken && html`<p class="bad small" role="alert">${broken}</p>`}
      </fieldset>
    `;
  };
});
