<?php
// A queue as PHP frameworks have it, by Predis: a list, and sorted sets of delayed and of reserved jobs,
// which scripts change together. produce URL COUNT, or work URL.
require 'Predis/Autoloader.php';
Predis\Autoloader::register();

[, $role, $url] = $argv;
$redis = new Predis\Client($url . '&read_write_timeout=10');

// until calls a function until it throws no exception: a job may be queued twice, but none is lost.
function until(callable $call)
{
    global $redis;
    while (true) {
        try {
            return $call();
        } catch (Predis\PredisException $error) {
            $redis->disconnect();
            usleep(100000);
        }
    }
}

const PUSH = "redis.call('RPUSH', KEYS[1], ARGV[1]) return redis.call('RPUSH', KEYS[2], 1)";
const POP = "local job = redis.call('LPOP', KEYS[1])
if not job then return false end
redis.call('LPOP', KEYS[3])
redis.call('ZADD', KEYS[2], ARGV[1], job)
return job";
const MIGRATE = "local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 100)
for _, job in ipairs(due) do
  redis.call('ZREM', KEYS[1], job)
  redis.call('RPUSH', KEYS[2], job)
  redis.call('RPUSH', KEYS[3], 1)
end
return #due";

if ($role === 'produce') {
    for ($i = 0; $i < (int)$argv[3]; $i++) {
        $job = json_encode(['job' => "job-$i"]);
        if ($i % 10 === 1) {
            until(fn () => $redis->zadd('queue:delayed', [$job => time() + 1 + $i % 3]));
        } else {
            until(fn () => $redis->eval(PUSH, 2, 'queue', 'queue:notify', $job));
        }
    }
    exit(0);
}
while (true) {
    foreach (['queue:delayed', 'queue:reserved'] as $from) {
        $redis->eval(MIGRATE, 3, $from, 'queue', 'queue:notify', time());
    }
    $job = $redis->eval(POP, 3, 'queue', 'queue:reserved', 'queue:notify', time() + 10);
    if ($job === null) {
        $redis->blpop(['queue:notify'], 1);
        continue;
    }
    $redis->sadd('done', [json_decode($job, true)['job']]);
    $redis->zrem('queue:reserved', $job);
}
