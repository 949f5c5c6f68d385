// pg-boss: batches of 500, fetched again at once while they come full.

import { readFileSync } from "node:fs";
import { PgBoss } from "pg-boss";
import { play } from "./play.mjs";

const { version } = JSON.parse(readFileSync(`${import.meta.dirname}/node_modules/pg-boss/package.json`));
let boss;

play({
  async open(connectionString) {
    boss = new PgBoss({ connectionString, useListenNotify: true });
    boss.on("error", (error) => console.error(error));
    await boss.start();
    await boss.createQueue("run", { notify: true });
    return `pg-boss ${version}, work() with batches of 500 × 2, burst while full; pickup: notify on`;
  },

  submit: (payload) => boss.send("run", payload),

  submitMany: (payloads) => boss.insert("run", payloads.map((data) => ({ data }))),

  async start(handle, alone) {
    const busy = { batchSize: 500, burstWhenBatchFull: true, localConcurrency: 2 };
    const options = { pollingIntervalSeconds: 0.5, ...(alone ? {} : busy) };
    await boss.work("run", options, async (jobs) => {
      for (const job of jobs) handle(job.data);
    });
  },

  async isFinished() {
    const { rows } = await boss.getDb().executeSql(
      "select exists (select from pgboss.job where state < 'completed' and name = 'run') as is_left",
    );
    return !rows[0].is_left;
  },
});
