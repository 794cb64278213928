<?php
// A queue as PHP frameworks have it, by Predis or PhpRedis: a list, and sorted sets of delayed and of reserved jobs,
// which scripts change together. predis|phpredis produce URL COUNT, or predis|phpredis work URL.
[, $library, $role, $url] = $argv;

if ($library === 'predis') {
    require 'Predis/Autoloader.php';
    Predis\Autoloader::register();
    $redis = new Predis\Client($url . '?read_write_timeout=10');
    $run = fn (string $script, array $keys, ...$args) => $redis->eval($script, count($keys), ...$keys, ...$args);
    $delay = fn (string $job, int $at) => $redis->zadd('queue:delayed', [$job => $at]);
    $connect = fn () => $redis->disconnect(); // the next command connects
} else {
    $redis = new Redis();
    // A reply that is an error is false, and its text the last error.
    $checked = function (callable $call) use ($redis) {
        $redis->clearLastError();
        $reply = $call();
        if ($redis->getLastError() !== null) {
            throw new RedisException($redis->getLastError());
        }
        return $reply === false ? null : $reply;
    };
    $run = fn (string $script, array $keys, ...$args) => $checked(fn () => $redis->eval($script, [...$keys, ...$args], count($keys)));
    $delay = fn (string $job, int $at) => $checked(fn () => $redis->zAdd('queue:delayed', $at, $job));
    $connect = function () use ($redis, $url, $checked) {
        $at = parse_url($url);
        $redis->connect($at['host'], $at['port'], 5, null, 0, 10);
        $checked(fn () => $redis->select((int)substr($at['path'], 1)));
    };
    until($connect, fn () => null);
}

// until calls a function until it throws no exception: a job may be queued twice, but none is lost.
function until(callable $call, callable $connect)
{
    while (true) {
        try {
            return $call();
        } catch (Predis\PredisException | RedisException $error) {
            usleep(100000);
            try {
                $connect();
            } catch (RedisException $error) { // the next attempt says so
            }
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
    for ($i = 0; $i < (int)$argv[4]; $i++) {
        $job = json_encode(['job' => "job-$i"]);
        if ($i % 10 === 1) {
            until(fn () => $delay($job, time() + 1 + $i % 3), $connect);
        } else {
            until(fn () => $run(PUSH, ['queue', 'queue:notify'], $job), $connect);
        }
    }
    exit(0);
}
while (true) {
    foreach (['queue:delayed', 'queue:reserved'] as $from) {
        $run(MIGRATE, [$from, 'queue', 'queue:notify'], time());
    }
    $job = $run(POP, ['queue', 'queue:reserved', 'queue:notify'], time() + 10);
    if ($job === null) {
        $redis->blpop(['queue:notify'], 1);
        continue;
    }
    $redis->sadd('done', json_decode($job, true)['job']);
    $redis->zrem('queue:reserved', $job);
}
