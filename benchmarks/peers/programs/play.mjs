// The half of a player that is the same for every Node system: asks come as lines of JSON, answers go.

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const PAYLOAD = {
  n: 1,
  text: "some payload of about one hundred bytes, which is what most people send, more or less",
};
const A_CALL = 1000;

// `system` has: open(url) → mode, submit(payload), submitMany(payloads), start(handle, alone), isFinished().
export function play(system) {
  let handled = 0;
  let expected = 0;
  let reach = () => {};
  const pickedUp = [];

  function handle(payload) {
    if (payload.at !== undefined) pickedUp.push(performance.now() - payload.at);
    handled += 1;
    if (handled >= expected) reach();
  }

  function expect(count) {
    expected = count;
    handled = 0;
    return new Promise((resolve) => (reach = resolve));
  }

  const perSecond = (count, started) => (count / (performance.now() - started)) * 1000;

  const answers = {
    prepare: () => system.open(process.argv[2]),

    async one({ seconds }) {
      await system.submit(PAYLOAD);
      let submitted = 0;
      const started = performance.now();
      while (performance.now() - started < seconds * 1000) {
        await system.submit(PAYLOAD);
        submitted += 1;
      }
      return perSecond(submitted, started);
    },

    async bulk({ count }) {
      const started = performance.now();
      for (let start = 0; start < count; start += A_CALL) {
        await system.submitMany(Array(Math.min(A_CALL, count - start)).fill(PAYLOAD));
      }
      return perSecond(count, started);
    },

    async drain({ count }) {
      const reached = expect(count);
      const started = performance.now();
      await system.start(handle, false);
      await reached;
      while (!(await system.isFinished())) await sleep(5);
      return perSecond(count, started);
    },

    async pickup({ count }) {
      await system.start(handle, true);
      await sleep(1000);
      for (let number = 0; number < count + 3; number += 1) {
        const reached = expect(1);
        await system.submit({ at: performance.now() });
        await reached;
        await sleep(50);
      }
      return pickedUp.slice(3);
    },

    async start() {
      await system.start(handle, true);
      return null;
    },
  };

  const lines = createInterface({ input: process.stdin });
  (async () => {
    for await (const line of lines) {
      const asked = JSON.parse(line);
      process.stdout.write(JSON.stringify({ answer: await answers[asked.do](asked) }) + "\n");
    }
    process.exit(0);
  })();
}
