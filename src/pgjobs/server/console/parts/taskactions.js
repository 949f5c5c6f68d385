// What an operator can do to one task.
import { act } from "./actions.js";

export const retryOne = (id, done, data) => act("retry_task", id, { done, data });
export const ignoreOne = (id, done, data) => act("ignore_task", id, { done, data });
export const unignoreOne = (id, done, data) => act("unignore_task", id, { done, data });
export const cancelOne = (id, done, data) => act("stop_task", id, { done, data });
export const forceEnd = (id, done, data) => act("cancel_task", id, { done, data });
