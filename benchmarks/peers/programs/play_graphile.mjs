// Graphile Worker: 24 at once from a local queue of 500, completions sent together. It deletes what is done.

import { readFileSync } from "node:fs";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { play } from "./play.mjs";

const { version } = JSON.parse(readFileSync(`${import.meta.dirname}/node_modules/graphile-worker/package.json`));
const logger = new Logger(() => () => {});
let url;
let utils;

play({
  async open(connectionString) {
    url = connectionString;
    utils = await makeWorkerUtils({ connectionString, logger });
    await utils.migrate();
    return `Graphile Worker ${version}, 24 at once, local queue 500, completions sent together; pickup: no local queue; keeps no history`;
  },

  submit: (payload) => utils.addJob("run", payload),

  submitMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: "run", payload }))),

  async start(handle, alone) {
    const busy = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
    await run({
      preset: { worker: { connectionString: url, concurrentJobs: 24, maxPoolSize: 26, logger, ...(alone ? {} : busy) } },
      taskList: { run: async (payload) => handle(payload) },
      noHandleSignals: true,
    });
  },

  isFinished: () =>
    utils.withPgClient(async (client) => {
      const { rows } = await client.query("select exists (select from graphile_worker._private_jobs) as is_left");
      return !rows[0].is_left;
    }),
});
