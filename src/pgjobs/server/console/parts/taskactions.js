// What an operator can do to one task.
import { post } from "../api.js";
import { confirm } from "./dialogs.js";
import { say } from "./toasts.js";

const act = async (id, verb, reason, said) => {
  await post(`tasks/${id}/${verb}`, { reason });
  say("good", said);
};

export const retryOne = (id, done) =>
  confirm({
    title: "Retry the task?",
    text: "It starts over: due now, no attempts used. Its history is kept.",
    verb: "Retry",
    withReason: true,
    act: (reason) => act(id, "retry", reason, "The task starts over"),
    done,
  });

export const ignoreOne = (id, done) =>
  confirm({
    title: "Ignore the task?",
    text: "It is put aside until somebody unignores or retries it.",
    verb: "Ignore",
    withReason: true,
    act: (reason) => act(id, "ignore", reason, "The task is put aside"),
    done,
  });

export const unignoreOne = (id, done) =>
  confirm({
    title: "Take the task up again?",
    text: "It goes back into line, due now.",
    verb: "Unignore",
    act: (reason) => act(id, "unignore", reason, "The task is back in line"),
    done,
  });

export const cancelOne = (id, isHeld, done) =>
  confirm({
    title: "Cancel the task?",
    text: isHeld
      ? "Its worker is asked to stop, and learns of it with its next sign of life."
      : "It ends now and will not run.",
    verb: isHeld ? "Ask to stop" : "Cancel the task",
    danger: true,
    withReason: true,
    act: (reason) => act(id, "cancel", reason, isHeld ? "The worker is asked to stop" : "The task is cancelled"),
    done,
  });
