// Sends a signal to a task: its name, and a payload in JSON.
import { post, session } from "../api.js";
import { html, signal, view } from "../view.js";
import { CopyAs, call, command, literal, word } from "./copyas.js";
import { show } from "./dialogs.js";
import { Refusal } from "./refusal.js";
import { say } from "./toasts.js";

function parsed(text) {
  try {
    return { value: text.trim() === "" ? null : JSON.parse(text) };
  } catch (error) {
    return { error };
  }
}

// `name` is what the task waits for, where that is known.
export function sendSignal(id, name, done = () => {}) {
  const title = name ? `Send the signal ${name}?` : "Send a signal?";
  show(title, ({ close }) => html`<${SendSignal} id=${id} name=${name} done=${done} close=${close} />`, { at: "send_signal", of: name ? `${id} ${name}` : id });
}

export const signalAddressed = (done) => (of) => {
  const [id, ...name] = of.split(" ");
  return () => sendSignal(id, name.join(" "), done);
};

const SendSignal = view((given) => {
  const { id, name, done, close } = given.peek();
  const named = signal(name ?? "");
  const text = signal(JSON.stringify({ by: session.peek()?.id ?? null }));
  const problem = signal(null);
  const isBusy = signal(false);
  const submit = async (event) => {
    event.preventDefault();
    const { value, error } = parsed(text.peek());
    problem.value = error ? { message: `The payload is not JSON: ${error.message}` } : null;
    if (error) return;
    isBusy.value = true;
    try {
      const { is_new: isNew } = await post(`tasks/${id}/signals`, { name: named.peek(), payload: value });
      say(isNew ? "good" : "warn", isNew ? `Signal ${named.peek()} sent` : `The task had the signal ${named.peek()} already; the first counts`);
      close();
    } catch (refused) {
      problem.value = refused;
    }
    isBusy.value = false;
    done();
  };
  return () => html`
    <form class="stack" onSubmit=${submit}>
      <p>${name ? "The task that waits for it continues now." : "A task that waits for it continues; otherwise it is kept until the task asks."} The first signal of a name counts.</p>
      ${!name && html`<label class="field"><span>Name</span><input class="input" required maxlength="200" value=${named.value} onInput=${(event) => (named.value = event.target.value)} /></label>`}
      <label class="field"><span>Payload, in JSON</span><textarea class="input mono" spellcheck=${false} value=${text.value} onInput=${(event) => (text.value = event.target.value)}></textarea></label>
      <${CopyAs}
        sql=${call("send_signal", [`pgjobs.task_id('${id}')`, literal(named.value), literal(text.value)])}
        cli=${command("pgjobs tasks signal", id, word(named.value), word(text.value))}
        http=${["POST", `tasks/${id}/signals`, { name: named.value, payload: parsed(text.value).value ?? null }]} />
      <${Refusal} problem=${problem.value} />
      <div class="foot">
        <button class="button" type="button" onClick=${close}>Back</button>
        <button class="button main" type="submit" disabled=${isBusy.value}>Send signal</button>
      </div>
    </form>
  `;
});
