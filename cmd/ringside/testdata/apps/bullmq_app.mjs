// BullMQ: produce URL COUNT, or work URL.
import { Queue, Worker } from "bullmq";
import IORedis from "ioredis";

const [role, url, count] = process.argv.slice(2);
const connection = new IORedis(url, { maxRetriesPerRequest: null });
connection.on("error", () => {});

// until calls a function until it succeeds: a job may be queued twice, but none is lost.
async function until(call) {
  for (;;) {
    try {
      return await call();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

if (role === "produce") {
  const queue = new Queue("jobs", { connection });
  for (let i = 0; i < Number(count); i++) {
    await until(() => queue.add("mark", { job: `job-${i}` }, { priority: 1 + (i % 5), delay: i % 10 === 1 ? 1000 : 0, attempts: 20, backoff: 200 }));
  }
  await queue.close();
  connection.disconnect();
} else {
  const results = new IORedis(url, { maxRetriesPerRequest: null });
  results.on("error", () => {});
  const worker = new Worker("jobs", async (job) => { await results.sadd("done", job.data.job); }, { connection, concurrency: 5, lockDuration: 10000, stalledInterval: 5000 });
  worker.on("error", () => {});
}
