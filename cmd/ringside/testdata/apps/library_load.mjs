// Sets and gets keys by a client library with its defaults: LIBRARY URL RATE, until standard input ends. Then it prints
// which commands failed, and when each pair of them began and how long it took.
const [library, url, rate] = process.argv.slice(2);
const failed = {};
const pairs = [];
let over = false, client;
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
  // The loops begin one after the other, and stay apart.
  let turn = performance.now() + period * i / loops;
  const wait = () => new Promise((r) => setTimeout(r, Math.max(turn - performance.now(), 0)));
  await wait();
  for (let n = 0; !over; n++) {
    const key = `${library}:${i}:${n % 500}`, at = Date.now(), began = performance.now();
    try {
      await client.set(key, String(n));
      const got = await client.get(key);
      if (got !== String(n)) fail(`${key} is ${got} instead of ${n}`);
    } catch (e) { fail(e); }
    pairs.push([at, Math.round((performance.now() - began) * 1000)]);
    turn += period * Math.max(1, Math.ceil((performance.now() - turn) / period));
    await wait();
  }
}));
process.stdout.write(JSON.stringify({ failed, pairs }), () => process.exit(0));
