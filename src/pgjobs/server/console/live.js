// One event stream per tab, open while the page is seen and not paused. Its messages are hints:
// whoever shows something fetches it again. Where the stream cannot be had, we look now and then.
import { session, streamAddress } from "./api.js";
import { batch, computed, effect, signal } from "./view.js";

const GATHER = 400;
const APART = 1000;
const LOOK_WHEN_LIVE = 15000;
const LOOK_OTHERWISE = 5000;
const REOPEN_FIRST = 5000;
const REOPEN_LAST = 60000;

const watchers = new Set();
const isHidden = signal(document.visibilityState === "hidden");
const isStreaming = signal(false);
export const isPaused = signal(false);
export const clock = signal(Date.now());

export const state = computed(() => {
  if (isPaused.value) return "paused";
  if (isHidden.value) return "hidden";
  return isStreaming.value ? "live" : "polling";
});
const isAwake = computed(() => Boolean(session.value) && !isPaused.value && !isHidden.value);

document.addEventListener("visibilitychange", () => {
  isHidden.value = document.visibilityState === "hidden";
});

let hints = [];
let gathering = null;
let looked = 0;

function look() {
  gathering = null;
  looked = Date.now();
  const seen = hints;
  hints = [];
  batch(() => {
    for (const watcher of watchers) if (seen.some(watcher.wants)) watcher.refresh();
  });
}

export function lookAtAll() {
  batch(() => watchers.forEach((watcher) => watcher.refresh()));
}

function hear(message) {
  hints.push(JSON.parse(message.data));
  gathering ??= setTimeout(look, Math.max(GATHER, APART - (Date.now() - looked)));
}

// The browser reopens a stream that breaks, but gives up for good where it is refused, as by a proxy in between.
const opened = signal(0);
let patience = REOPEN_FIRST;

effect(() => {
  if (!isAwake.value) return undefined;
  opened.value;
  const stream = new EventSource(streamAddress());
  let catchingUp = null;
  let reopening = null;
  stream.onopen = () => {
    isStreaming.value = true;
    patience = REOPEN_FIRST;
    // What happened between the first look and the opening of the stream was not hinted at.
    clearTimeout(catchingUp);
    catchingUp = setTimeout(lookAtAll, APART / 2);
  };
  stream.onerror = () => {
    isStreaming.value = false;
    if (stream.readyState !== EventSource.CLOSED) return;
    reopening = setTimeout(() => (opened.value = opened.peek() + 1), patience);
    patience = Math.min(REOPEN_LAST, patience * 2);
  };
  stream.onmessage = hear;
  return () => {
    stream.close();
    clearTimeout(catchingUp);
    clearTimeout(reopening);
    clearTimeout(gathering);
    gathering = null;
    hints = [];
    isStreaming.value = false;
  };
});

effect(() => {
  if (!isAwake.value) return undefined;
  const every = isStreaming.value ? LOOK_WHEN_LIVE : LOOK_OTHERWISE;
  const timer = setInterval(lookAtAll, every);
  return () => clearInterval(timer);
});

effect(() => {
  if (!isAwake.value) return undefined;
  clock.value = Date.now();
  const timer = setInterval(() => (clock.value = Date.now()), 1000);
  return () => clearInterval(timer);
});

let wasAwake = false;
effect(() => {
  const woke = isAwake.value && !wasAwake;
  wasAwake = isAwake.value;
  if (woke) queueMicrotask(lookAtAll);
});

// Something to show: `load` is called now, when a signal it reads at once changes, when a hint that it
// `wants` comes, and now and then. What was shown stays until the next answer is there.
export function resource(leaving, load, wants = () => true) {
  const data = signal(undefined);
  const problem = signal(null);
  const isLoading = signal(true);
  const asked = signal(0);
  let latest = null;
  let isStale = false;
  const reload = () => (asked.value = asked.peek() + 1);
  // An answer that was on its way when a hint came may be older than the hint.
  const settle = (change) => {
    batch(() => (change(), (isLoading.value = false)));
    if (isStale && isAwake.peek()) reload();
  };

  leaving(
    effect(() => {
      asked.value;
      // Nobody would see the answer; it is asked for when somebody does.
      if (isHidden.peek() && isHidden.value) return;
      latest?.abort();
      const aborted = new AbortController();
      latest = aborted;
      isStale = false;
      isLoading.value = true;
      load(aborted.signal).then(
        (answer) => {
          if (latest === aborted) settle(() => ((data.value = answer), (problem.value = null)));
        },
        (error) => {
          if (latest === aborted && error.name !== "AbortError") settle(() => (problem.value = error));
        },
      );
    }),
  );
  // A refresh does not push aside an answer that is on its way.
  const watcher = { wants, refresh: () => (isLoading.peek() ? (isStale = true) : reload()) };
  watchers.add(watcher);
  leaving(() => {
    watchers.delete(watcher);
    latest?.abort();
    latest = null;
  });
  return { data, problem, isLoading, reload };
}
