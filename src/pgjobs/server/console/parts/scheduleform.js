// Creating and editing a schedule, with a preview of when it would run.
import { get, put } from "../api.js";
import { moment } from "../format.js";
import { effect, html, signal, view } from "../view.js";
import { CopyAs, call, command, literal, word } from "./copyas.js";
import { show } from "./dialogs.js";
import { icon } from "./icons.js";
import { Refusal } from "./refusal.js";
import { SchemaForm, asText, payloadOf } from "./schemaform.js";
import { Bones } from "./small.js";
import { say } from "./toasts.js";

const RUNS = 10;
const MISSED = [["once", "run once, together"], ["skip", "skip"], ["each", "run each of them"]];
const EMPTY = { name: "", job: "", room: "", way: "cron", cron: "0 3 * * *", every_seconds: 3600, timezone: "UTC", priority: 5, max_attempts: null, missed: "once", overlap: true };

function bodyOf(wanted, text, schedule) {
  const { payload, broken } = payloadOf(text);
  const { way, cron, every_seconds, max_attempts, room, ...rest } = wanted;
  return {
    broken,
    body: {
      ...rest,
      room: room || null,
      ...(way === "cron" ? { cron } : { every_seconds }),
      max_attempts: max_attempts || null,
      payload: payload ?? {},
      ...(schedule && { secrets_of: schedule.id, owner: schedule.owner, project: schedule.project, tags: schedule.tags }),
    },
  };
}

const hides = (body) => body.secrets_of && JSON.stringify(body.payload).includes("…");
// Secrets that are hidden are put back by the server; a command would write what is shown in their place.
const commands = (body) => ({
  cli: !hides(body) && command(
    "pgjobs schedules add", word(body.name), word(body.job),
    body.cron ? `--cron ${word(body.cron)} --timezone ${word(body.timezone)}` : `--every ${body.every_seconds}s`,
    `--payload ${word(JSON.stringify(body.payload))}`, body.room && `--room ${word(body.room)}`, `--priority ${body.priority}`,
    body.max_attempts && `--max-attempts ${body.max_attempts}`, `--missed ${body.missed}`, body.overlap ? null : "--no-overlap",
  ),
  sql: !hides(body) && call("register_schedule", [literal(body.name), literal(body.job)], {
    cron: body.cron, every: body.cron ? null : `${body.every_seconds} seconds`, timezone: body.cron ? body.timezone : null, payload: JSON.stringify(body.payload),
    room: body.room, priority: body.priority, max_attempts: body.max_attempts, missed: body.missed, overlap: body.overlap,
  }),
  http: ["PUT", "schedules", body],
});

const Preview = ({ of, timezone }) => {
  if (of.value?.problem) return html`<div class="notice bad small" role="alert">${icon("block")}<div>${of.value.problem.message}</div></div>`;
  if (!of.value) return html`<${Bones} rows=${2} />`;
  return html`
    <p class="strong" data-words>${of.value.words}</p>
    <ol class="times" aria-label="Next runs">${of.value.upcoming.map((at) => html`<li key=${at}>${moment(at, timezone, { weekday: "short", year: "numeric" })}</li>`)}</ol>
  `;
};

const Editor = view((given, leaving) => {
  const { schedule, job, done, close } = given.peek();
  const wanted = signal(schedule ? { ...EMPTY, ...pick(schedule), way: schedule.cron ? "cron" : "every" } : { ...EMPTY, job: job ?? "" });
  const text = signal(asText(schedule?.payload ?? {}));
  const schema = signal({});
  const jobs = signal([]);
  const preview = signal(null);
  const problem = signal(null);
  const isBusy = signal(false);
  const aborted = new AbortController();
  leaving(() => aborted.abort());
  const change = (name, value) => (wanted.value = { ...wanted.peek(), [name]: value });

  if (!schedule) get("jobs", { limit: 200 }, aborted.signal).then((answer) => (jobs.value = answer.items), () => {});
  // Asked when the typing rests; an older answer does not take the place of a newer one.
  let timer = null;
  let latest = 0;
  const look = (timing) => {
    const mine = (latest += 1);
    get("schedules/preview", { ...timing, quantity: RUNS }, aborted.signal).then(
      (answer) => mine === latest && (preview.value = answer),
      (error) => mine === latest && error.name !== "AbortError" && (preview.value = { problem: error }),
    );
  };
  leaving(
    effect(() => {
      const { way, cron, every_seconds, timezone } = wanted.value;
      const timing = way === "cron" ? { cron, timezone } : { every_seconds };
      clearTimeout(timer);
      timer = setTimeout(() => look(timing), 250);
    }),
  );
  leaving(() => clearTimeout(timer));
  let asked = null;
  leaving(
    effect(() => {
      const { job } = wanted.value;
      if (job === asked || !/^[^:]+:[^:]+:./.test(job)) return;
      asked = job;
      get(`jobs/${encodeURIComponent(job)}/details`, {}, aborted.signal).then((found) => asked === job && (schema.value = found.schema ?? {}), () => {});
    }),
  );

  const submit = async (event) => {
    event.preventDefault();
    isBusy.value = true;
    problem.value = null;
    try {
      await put("schedules", bodyOf(wanted.peek(), text.peek(), schedule).body);
      say("good", schedule ? "Schedule changed" : "Schedule created");
      close();
    } catch (error) {
      problem.value = error;
    }
    isBusy.value = false;
    done();
  };
  const field = (name, label, more = {}) => html`
    <label class="field"><span>${label}</span><input class="input" spellcheck=${false} autocomplete="off" value=${wanted.value[name] ?? ""} onInput=${(event) => change(name, more.type === "number" ? (event.target.value === "" ? null : Number(event.target.value)) : event.target.value)} ...${more} /></label>
  `;
  return () => {
    const now = wanted.value;
    const { body, broken } = bodyOf(now, text.value, schedule);
    return html`
      <form class="stack" onSubmit=${submit}>
        <div class="form">
          ${field("name", "Name", { required: true, maxlength: 200, readonly: Boolean(schedule) })}
          ${field("job", "Job", { required: true, list: "schedule-jobs", placeholder: "room:category:name", readonly: Boolean(schedule) })}
          <datalist id="schedule-jobs">${jobs.value.map((one) => html`<option value=${one.full_name}></option>`)}</datalist>
        </div>
        <div class="row wrap">
          <div class="tabs" role="group" aria-label="When">
            <button type="button" aria-pressed=${now.way === "cron"} onClick=${() => change("way", "cron")}>By cron</button>
            <button type="button" aria-pressed=${now.way === "every"} onClick=${() => change("way", "every")}>At an interval</button>
          </div>
        </div>
        <div class="form">
          ${now.way === "cron"
            ? html`${field("cron", "Cron: minute, hour, day, month, weekday", { required: true })}${field("timezone", "Time zone", { required: true })}`
            : field("every_seconds", "Every … seconds", { type: "number", min: 1, required: true })}
        </div>
        <section class="stack tight preview" aria-label="Preview" aria-live="polite"><h3>Next ${RUNS} runs${now.way === "cron" && html`, in ${now.timezone}`}</h3><${Preview} of=${preview} timezone=${now.way === "cron" ? now.timezone : "UTC"} /></section>
        <${SchemaForm} key=${JSON.stringify(schema.value)} schema=${schema.value} text=${text} />
        <details class="copyas"><summary>More options</summary>
          <div class="form">
            ${!schedule && field("room", "Room (else the job's)")}
            ${field("priority", "Priority, 1 is the most urgent", { type: "number", min: 1, max: 10, required: true })}
            ${field("max_attempts", "Attempts (else as the job says)", { type: "number", min: 1, max: 10000 })}
            <label class="field"><span>Missed runs</span><select class="input" value=${now.missed} onChange=${(event) => change("missed", event.target.value)}>${MISSED.map(([value, label]) => html`<option value=${value}>${label}</option>`)}</select></label>
            <label class="check"><input type="checkbox" checked=${now.overlap} onChange=${(event) => change("overlap", event.target.checked)} />Runs may overlap</label>
          </div>
        </details>
        ${!broken && html`<${CopyAs} ...${commands(body)} />`}
        <${Refusal} problem=${problem.value} />
        <div class="foot">
          <button class="button" type="button" onClick=${close}>Back</button>
          <button class="button main" type="submit" disabled=${isBusy.value || Boolean(broken)}>${schedule ? "Save changes" : "Create schedule"}</button>
        </div>
      </form>
    `;
  };
});

const NAMES = ["name", "job", "room", "cron", "every_seconds", "timezone", "priority", "max_attempts", "missed", "overlap"];
const pick = (schedule) => Object.fromEntries(NAMES.map((name) => [name, schedule[name]]).filter(([, value]) => value !== null));

const open = (title, given, at, of) => show(title, ({ close }) => html`<${Editor} ...${given} close=${close} />`, { at, of, wide: true });

export const create = (job, done) => open("Create a schedule", { job, done }, "create", job);
export async function edit(id, done) {
  try {
    const schedule = await get(`schedules/${id}`);
    open("Edit the schedule", { schedule, done }, "edit", id);
  } catch (error) {
    say("bad", error.message);
  }
}
