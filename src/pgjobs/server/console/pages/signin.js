// Signing in with a token; the server answers with a cookie that no script can read.
import { signIn } from "../api.js";
import { icon } from "../parts/icons.js";
import { Brand } from "../parts/layout.js";
import { Trouble } from "../parts/small.js";
import { query, refine } from "../router.js";
import { html, signal, view } from "../view.js";

export const SignIn = view(() => {
  const token = signal("");
  const problem = signal(null);
  const isBusy = signal(false);
  const submit = async (event) => {
    event.preventDefault();
    isBusy.value = true;
    problem.value = null;
    try {
      await signIn(token.value.trim());
      refine({ link: null });
    } catch (error) {
      problem.value = error;
    }
    isBusy.value = false;
  };
  return () => html`
    <main class="signin">
      <form class="panel" onSubmit=${submit}>
        <div class="inside stack">
          <${Brand} />
          <h1>Sign in</h1>
          ${query.value.link === "old" && html`<div class="notice warn" role="status">${icon("block")}<div>This link was already used or has expired. Each link signs in once. <code>pgjobs dev</code> prints a new one when it starts; a token also works.</div></div>`}
          <label class="field">
            <span>Token</span>
            <input class="input" type="password" autocomplete="off" required autofocus value=${token.value} onInput=${(event) => (token.value = event.target.value)} />
          </label>
          ${problem.value && html`<${Trouble} problem=${problem.value} always />`}
          <button class="button main" type="submit" disabled=${isBusy.value}>Sign in</button>
          <p class="muted small">
            <code>pgjobs token create NAME</code> <code class="nowrap">--superuser</code> creates an operator token; without <code class="nowrap">--superuser</code> it is read-only.
          </p>
        </div>
      </form>
    </main>
  `;
});
