"""Sets and gets keys by redis-py with its defaults: URL RATE, until standard input ends. Then it prints which
commands failed, and when each pair of them began and how long it took."""
import json
import math
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
pairs, failed = [], {}


def loop(i):
    n = 0
    turn = time.monotonic() + period * i / loops  # the loops begin one after the other, and stay apart
    over.wait(period * i / loops)
    while not over.is_set():
        key, at, began, error = f"redis-py:{i}:{n % 500}", time.time(), time.monotonic(), None
        try:
            client.set(key, str(n))
            got = client.get(key)
            if got != str(n):
                error = f"{key} is {got} instead of {n}"
        except Exception as e:
            error = f"{type(e).__name__}: {e}"
        took = time.monotonic() - began
        with lock:
            pairs.append((int(at * 1000), int(took * 1e6)))
            if error:
                failed[error] = failed.get(error, 0) + 1
                print(time.strftime("%H:%M:%S"), "redis-py", error, file=sys.stderr, flush=True)
        turn += period * max(1, math.ceil((time.monotonic() - turn) / period))
        over.wait(max(turn - time.monotonic(), 0))
        n += 1


threads = [threading.Thread(target=loop, args=(i,)) for i in range(loops)]
for t in threads:
    t.start()
sys.stdin.read()
over.set()
for t in threads:
    t.join()
print(json.dumps({"failed": failed, "pairs": pairs}))
