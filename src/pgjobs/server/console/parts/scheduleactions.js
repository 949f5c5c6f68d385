// What an operator can do to a schedule.
import { post, remove } from "../api.js";
import { html } from "../view.js";
import { confirm } from "./dialogs.js";
import { TaskLink } from "./small.js";
import { say } from "./toasts.js";

export const runNow = (schedule, done) =>
  confirm({
    title: "Run the schedule now?",
    text: `${schedule.name} submits a task of ${schedule.job} at once. Its next run stays as it is.`,
    verb: "Run now",
    withReason: true,
    act: async (reason) => {
      const { task_id: id } = await post(`schedules/${schedule.id}/run`, { reason });
      say("good", html`${schedule.name} runs: task <${TaskLink} id=${id} />`);
    },
    done,
  });

const act = async (schedule, verb, reason, said) => {
  await post(`schedules/${schedule.id}/${verb}`, { reason });
  say("good", said);
};

export const pause = (schedule, done) =>
  confirm({
    title: "Pause the schedule?",
    text: `${schedule.name} does not run until it is resumed. What it has submitted goes on.`,
    verb: "Pause",
    withReason: true,
    act: (reason) => act(schedule, "pause", reason, "The schedule is paused"),
    done,
  });

export const resume = (schedule, done) =>
  confirm({
    title: "Resume the schedule?",
    text: `${schedule.name} runs again from its next time on. What it would have run meanwhile is not made up for.`,
    verb: "Resume",
    withReason: true,
    act: (reason) => act(schedule, "resume", reason, "The schedule goes on"),
    done,
  });

export const retire = (schedule, done) =>
  confirm({
    title: "Delete the schedule?",
    text: `${schedule.name} does not run any more. What it has submitted stays, and goes on.`,
    verb: "Delete",
    danger: true,
    act: async () => {
      await remove(`schedules/${schedule.id}`);
      say("good", "The schedule is deleted");
    },
    done,
  });
