// Sets and gets keys by a client library with its defaults: LIBRARY URL RATE, until standard input ends. Then it prints
// how many commands there were, which failed, and how long the slowest took.
const [library, url, rate] = process.argv.slice(2);
const failed = {};
let commands = 0, slowest = 0, over = false, client;
const fail = (e) => { failed[String(e.message || e)] = (failed[String(e.message || e)] || 0) + 1; console.error(new Date().toISOString(), library, e); };
if (library === "ioredis") {
  const { default: IORedis } = await import("ioredis");
  client = new IORedis(url);
  client.on("error", () => {}); // a connection that ends is an event, also if no command fails
} else {
  const { createClient } = await import("redis");
  client = createClient({ url, RESP: 3 });
  client.on("error", () => {});
  await client.connect();
}
process.stdin.resume();
process.stdin.on("end", () => { over = true; });
const loops = 20, period = 2000 * loops / Number(rate);
await Promise.all([...Array(loops).keys()].map(async (i) => {
  for (let n = 0; !over; n++) {
    const key = `${library}:${i}:${n % 500}`, began = Date.now();
    try {
      await client.set(key, String(n));
      const got = await client.get(key);
      if (got !== String(n)) fail(`${key} is ${got} instead of ${n}`);
    } catch (e) { fail(e); }
    commands += 2;
    slowest = Math.max(slowest, Date.now() - began);
    const left = period - (Date.now() - began);
    if (left > 0) await new Promise((r) => setTimeout(r, left));
  }
}));
console.log(JSON.stringify({ commands, failed, slowest_ms: slowest }));
process.exit(0);
