// Submitting a task: a new one, a copy, or one that takes a failed one's place with another payload.
import { get, newKey, post } from "../api.js";
import { html, signal, view } from "../view.js";
import { Reason } from "./actions.js";
import { CopyAs, because, call, command, literal, word } from "./copyas.js";
import { show } from "./dialogs.js";
import { Refusal } from "./refusal.js";
import { SchemaForm, asText, beginning, payloadOf } from "./schemaform.js";
import { Bones, TaskLink } from "./small.js";
import { say } from "./toasts.js";

// `load` answers with {schema, payload, room} or more; `send` gets what was filled in and answers with the new task's id.
const Form = view((given, leaving) => {
  const { load, send, as, hasRoom, hasReason, done, close } = given.peek();
  const known = signal(null);
  const text = signal("{}");
  const room = signal("");
  const reason = signal("");
  const problem = signal(null);
  const isBusy = signal(false);
  const aborted = new AbortController();
  leaving(() => aborted.abort());
  load(aborted.signal).then(
    (found) => {
      text.value = asText(found.payload);
      room.value = found.room ?? "";
      known.value = found;
    },
    (error) => error.name === "AbortError" || (problem.value = error),
  );
  const filled = () => ({ ...payloadOf(text.value), room: room.value.trim(), reason: reason.value.trim() || null });
  // Asked again because no answer came, it makes no second task; with other contents it is another one.
  let asked = {};
  const keyOf = (what) => {
    const text = JSON.stringify(what);
    if (asked.text !== text) asked = { text, key: newKey() };
    return asked.key;
  };
  const submit = async (event) => {
    event.preventDefault();
    isBusy.value = true;
    problem.value = null;
    try {
      const id = await send(filled(), keyOf(filled()));
      say("good", html`Task submitted: <${TaskLink} id=${id} />`);
      close();
    } catch (error) {
      problem.value = error;
    }
    isBusy.value = false;
    done();
  };
  return ({ text: about, verb }) => html`
    <form class="stack" onSubmit=${submit}>
      <p>${about}</p>
      ${!known.value && !problem.value && html`<${Bones} rows=${3} />`}
      ${known.value &&
      html`
        <${SchemaForm} schema=${known.value.schema} text=${text} />
        ${hasRoom && html`<label class="field"><span>Room</span><input class="input" type="text" required value=${room.value} spellcheck=${false} onInput=${(event) => (room.value = event.target.value)} /></label>`}
        ${hasReason && html`<${Reason} reason=${reason} />`}
        ${!filled().broken && html`<${CopyAs} ...${as(filled(), known.value)} />`}
      `}
      <${Refusal} problem=${problem.value} />
      <div class="foot">
        <button class="button" type="button" onClick=${close}>Back</button>
        <button class="button main" type="submit" disabled=${isBusy.value || !known.value || Boolean(filled().broken)}>${verb}</button>
      </div>
    </form>
  `;
});

const open = (title, given, at, of) => show(title, ({ close }) => html`<${Form} ...${given} close=${close} />`, { at, of, wide: true });

const place = (room, job) => `rooms/${encodeURIComponent(room)}/tasks/${encodeURIComponent(job)}`;

export const submitTask = (job, done) =>
  open(
    "Submit a task",
    {
      text: `A task of ${job}, due now.`,
      verb: "Submit",
      hasRoom: true,
      load: async (aborted) => {
        const found = await get(`jobs/${encodeURIComponent(job)}/details`, {}, aborted);
        return { ...found, payload: beginning(found.schema) };
      },
      send: async ({ payload, room }, key) => (await post(place(room, job), { payload }, key)).id,
      as: ({ payload, room }) => ({
        sql: call("submit_task", [literal(job), literal(JSON.stringify(payload))], { room }),
        cli: command("pgjobs enqueue", word(job), word(JSON.stringify(payload)), "--room", word(room)),
        http: ["POST", place(room, job), { payload }],
      }),
      done,
    },
    "submit",
    job,
  );

const again = (id, replace, texts, done) =>
  open(
    texts.title,
    {
      ...texts,
      hasReason: true,
      load: async (aborted) => {
        const task = await get(`tasks/${id}/details`, {}, aborted);
        const { schema } = await get(`jobs/${encodeURIComponent(task.job)}/details`, {}, aborted);
        return { schema, payload: task.payload };
      },
      send: async ({ payload, reason }, key) => (await post(`tasks/${id}/resubmit`, { payload, replace, reason }, key)).task_id,
      as: ({ payload, reason }) => ({
        sql: call("resubmit_task", [`pgjobs.task_id('${id}')`, literal(JSON.stringify(payload))], { replace: replace || null, reason }),
        cli: command("pgjobs tasks resubmit", id, word(JSON.stringify(payload)), replace && "--replace", because(reason)),
        http: ["POST", `tasks/${id}/resubmit`, { payload, replace, reason }],
      }),
      done,
    },
    texts.at,
    id,
  );

const SECRETS = "Hidden secrets, shown as …, keep their value.";
export const retryEdited = (id, done) =>
  again(
    id, true,
    { at: "edit", title: "Retry with an edited payload", verb: "Retry edited", text: `A new task with this payload takes its place; this one is ignored and names the new one. ${SECRETS}` },
    done,
  );
export const duplicate = (id, done) =>
  again(
    id, false,
    { at: "duplicate", title: "Duplicate this task", verb: "Submit copy", text: `A new task with this payload; same job, room, priority, owner and tags. ${SECRETS}` },
    done,
  );
