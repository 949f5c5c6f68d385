// What an operator can do to a schedule.
import { act } from "./actions.js";

const step = (name) => (schedule, done) => act(name, schedule.id, { done, data: schedule });

export const runNow = step("run_schedule");
export const pause = step("pause_schedule");
export const resume = step("resume_schedule");
export const retire = step("retire_schedule");
