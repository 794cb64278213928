# Celery with priorities, chords and tasks that are to run later.
# produce URL COUNT; the worker is started by celery's own command, with URL in the environment.
import os
import sys

import redis
from celery import Celery, chord, group

URL = os.environ["APP_URL"]
app = Celery("celery_app", broker=URL, backend=URL)
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    broker_connection_retry=True,
    broker_transport_options={"priority_steps": list(range(10)), "queue_order_strategy": "priority", "visibility_timeout": 20},
)
done = redis.Redis.from_url(URL)


@app.task(autoretry_for=(redis.RedisError,), retry_backoff=True, max_retries=100)
def mark(job):
    done.sadd("done", job)
    return 1


@app.task(autoretry_for=(redis.RedisError,), retry_backoff=True, max_retries=100)
def mark_sum(ones, job, want):
    if sum(ones) == want:
        done.sadd("done", job)


if __name__ == "__main__":
    count = int(sys.argv[2])
    for i in range(count):
        kind = i % 10
        if kind == 0:
            chord(group(mark.s("part-%d-%d" % (i, j)) for j in range(3)))(mark_sum.s("job-%d" % i, 3))
        elif kind == 1:
            mark.apply_async(("job-%d" % i,), countdown=1 + i % 3)
        else:
            mark.apply_async(("job-%d" % i,), priority=i % 10)
