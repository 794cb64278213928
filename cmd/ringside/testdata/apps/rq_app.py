# RQ: produce URL COUNT, or work URL.
import os
import sys

import redis
from rq import Queue, Retry, SimpleWorker


def mark(url, job):
    redis.Redis.from_url(url).sadd("done", job)


if __name__ == "__main__":
    role, url = sys.argv[1:3]
    connection = redis.Redis.from_url(url)
    queues = [Queue("high", connection=connection), Queue("low", connection=connection)]
    if role == "produce":
        import rq_app

        for i in range(int(sys.argv[3])):
            queues[i % 2].enqueue(rq_app.mark, url, "job-%d" % i, retry=Retry(max=10))
    else:
        SimpleWorker(queues, connection=connection).work()
