// How a job is retried and recorded.
import { duration } from "../format.js";
import { html, signal, view } from "../view.js";
import { Reason } from "./actions.js";
import { CopyAs, because, call, command, literal, word } from "./copyas.js";
import { Refusal } from "./refusal.js";

const NUMBERS = [
  ["max_attempts", "Attempts", 1, 10000, 1],
  ["backoff_base_seconds", "First backoff, in seconds", 0, 3155760000, "any"],
  ["backoff_cap_seconds", "Longest backoff, in seconds", 0, 3155760000, "any"],
];

// What would be different.
function foreseen(job, wanted) {
  const changed = [
    ["attempts", job.max_attempts, wanted.max_attempts, String],
    ["first backoff", job.backoff_base_seconds, wanted.backoff_base_seconds, duration],
    ["longest backoff", job.backoff_cap_seconds, wanted.backoff_cap_seconds, duration],
    ["events", job.events, wanted.events, (kept) => (kept === "full" ? "every step" : "failures and operator actions")],
  ].filter(([, now, then]) => now !== then);
  if (!changed.length) return "Nothing is different yet.";
  return `Changes: ${changed.map(([name, now, then, say]) => `${name} ${say(now)} → ${say(then)}`).join(", ")}.`;
}

export const Policy = view((given) => {
  const { job, save, done, close } = given.peek();
  const wanted = signal({ max_attempts: job.max_attempts, backoff_base_seconds: job.backoff_base_seconds, backoff_cap_seconds: job.backoff_cap_seconds, events: job.events });
  const reason = signal("");
  const problem = signal(null);
  const isBusy = signal(false);
  const change = (name, value) => (wanted.value = { ...wanted.peek(), [name]: value });
  const body = () => ({ ...wanted.value, reason: reason.value.trim() || null });
  const sql = () => {
    const { max_attempts, backoff_base_seconds: base, backoff_cap_seconds: cap, events } = wanted.value;
    return call("set_job_policy", [literal(job.full_name)], { max_attempts, backoff_base: `${base} seconds`, backoff_cap: `${cap} seconds`, events, reason: reason.value.trim() || null });
  };
  const cli = () => {
    const { max_attempts, backoff_base_seconds: base, backoff_cap_seconds: cap, events } = wanted.value;
    return command("pgjobs jobs policy", word(job.full_name), `--max-attempts ${max_attempts} --backoff ${base}s --longest-backoff ${cap}s --events ${events}`, because(reason.value.trim()));
  };
  const submit = async (event) => {
    event.preventDefault();
    isBusy.value = true;
    problem.value = null;
    try {
      await save(body());
      close();
    } catch (error) {
      problem.value = error;
    }
    isBusy.value = false;
    done();
  };
  return () => html`
    <form class="stack" onSubmit=${submit}>
      <p>For tasks submitted from now on; backoff also for those that fail from now on. A worker that registers the job with a policy in its code sets that again when it starts.</p>
      <div class="form">
        ${NUMBERS.map(([name, label, min, max, step]) => html`<label class="field"><span>${label}</span><input class="input" type="number" required min=${min} max=${max} step=${step} value=${wanted.value[name]} onInput=${(event) => change(name, event.target.valueAsNumber)} /></label>`)}
        <label class="field"><span>Events</span><select class="input" value=${wanted.value.events} onChange=${(event) => change("events", event.target.value)}><option value="failures">failures and operator actions</option><option value="full">every step</option></select></label>
      </div>
      <${Reason} reason=${reason} />
      <p class="muted" data-preview>${foreseen(job, wanted.value)}</p>
      <${CopyAs} sql=${sql()} cli=${cli()} http=${["POST", `jobs/${job.id}/policy`, body()]} />
      <${Refusal} problem=${problem.value} />
      <div class="foot">
        <button class="button" type="button" onClick=${close}>Back</button>
        <button class="button main" type="submit" disabled=${isBusy.value}>Change policy</button>
      </div>
    </form>
  `;
});
