"""Sets and gets keys by redis-py with its defaults: URL RATE, until standard input ends. Then it prints how many
commands there were, which failed, and how long the slowest took."""
import json
import sys
import threading
import time

import redis

url, rate = sys.argv[1], float(sys.argv[2])
client = redis.Redis.from_url(url, decode_responses=True)
loops = 20
period = 2 * loops / rate
over = threading.Event()
lock = threading.Lock()
commands, slowest, failed = 0, 0.0, {}


def loop(i):
    global commands, slowest
    n = 0
    while not over.is_set():
        key, began, error = f"redis-py:{i}:{n % 500}", time.monotonic(), None
        try:
            client.set(key, str(n))
            got = client.get(key)
            if got != str(n):
                error = f"{key} is {got} instead of {n}"
        except Exception as e:
            error = f"{type(e).__name__}: {e}"
        took = time.monotonic() - began
        with lock:
            commands += 2
            slowest = max(slowest, took)
            if error:
                failed[error] = failed.get(error, 0) + 1
                print(time.strftime("%H:%M:%S"), "redis-py", error, file=sys.stderr, flush=True)
        over.wait(max(period - took, 0))
        n += 1


threads = [threading.Thread(target=loop, args=(i,)) for i in range(loops)]
for t in threads:
    t.start()
sys.stdin.read()
over.set()
for t in threads:
    t.join()
print(json.dumps({"commands": commands, "failed": failed, "slowest_ms": int(slowest * 1000)}))
