package rdb

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestRedisAgrees lets Redis and this package read each other's payloads, and
// compares what they write.
func TestRedisAgrees(t *testing.T) {
	c := startRedis(t)
	ctx := context.Background()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	values := append(borders(), samples(rand.New(rand.NewPCG(seed, 1)), 6000)...)

	total, differ := len(values), 0
	for len(values) > 0 {
		batch := values[:min(200, len(values))]
		values = values[len(batch):]
		pipe := c.Pipeline()
		dumps := make([]*redis.StringCmd, len(batch))
		restored := make([]*redis.StringCmd, len(batch))
		for i, v := range batch {
			pipe.Set(ctx, "theirs", v, 0)
			dumps[i] = pipe.Dump(ctx, "theirs")
			pipe.RestoreReplace(ctx, "ours", 0, string(AppendString(nil, v)))
			restored[i] = pipe.Get(ctx, "ours")
		}
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatal(err)
		}
		for i, v := range batch {
			theirs := []byte(dumps[i].Val())
			got, err := Decode(theirs, int64(len(v)))
			if err != nil || got.Type != String || !bytes.Equal(got.Bytes, v) {
				t.Errorf("payload of Redis for %s: %s, %v", show(v), show(got.Bytes), err)
			}
			if r := restored[i].Val(); r != string(v) {
				t.Errorf("Redis restores %s as %s", show(v), show([]byte(r)))
			}
			if ours := AppendString(nil, v); !bytes.Equal(ours, theirs) {
				differ++
				t.Logf("%s: %d bytes here, %d bytes by Redis", show(v), len(ours), len(theirs))
			}
		}
	}
	// Not none: see lzfAppend for the chance that is left.
	if differ > 2 {
		t.Errorf("%d of %d payloads are not what Redis writes", differ, total)
	}
}

// TestRedisAcceptsTheSamePayloads spoils payloads, seals them again and compares
// what Redis and this package make of them.
func TestRedisAcceptsTheSamePayloads(t *testing.T) {
	c := startRedis(t)
	ctx := context.Background()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))

	accepted, refused := 0, 0
	for _, v := range append(borders(), samples(r, 2000)...) {
		if len(v) > 1000 {
			continue
		}
		body := spoil(r, appendString([]byte{typeString}, v))
		body[0] = typeString
		payload := seal(body, 0)
		got, err := Decode(payload, 1<<20)
		if err != nil {
			refused++
			continue // Redis overlooks some: what follows the value, for one
		}
		accepted++
		if err := c.RestoreReplace(ctx, "k", 0, string(payload)).Err(); err != nil {
			t.Fatalf("Redis refuses %q: %v", payload, err)
		}
		if s := c.Get(ctx, "k").Val(); s != string(got.Bytes) {
			t.Fatalf("%q is %s here and %s in Redis", payload, show(got.Bytes), show([]byte(s)))
		}
	}
	if accepted < 100 || refused < 100 {
		t.Errorf("accepted %d, refused %d: one side is not tested", accepted, refused)
	}
}

// TestRedisRefusesTheFrameLikeWeDo compares what is said of a wrong footer, and
// of a checksum of zero in particular.
func TestRedisRefusesTheFrameLikeWeDo(t *testing.T) {
	c := startRedis(t)
	ctx := context.Background()
	good := AppendString(nil, []byte("value"))
	noSum := append(bytes.Clone(good[:len(good)-8]), make([]byte, 8)...)
	for name, payload := range map[string][]byte{
		"empty":            {},
		"nine bytes":       good[:9],
		"spoilt":           append([]byte{1}, good[1:]...),
		"checksum of zero": noSum,
		"distant version":  sealAs(bytes.Clone(good[:len(good)-footerLen]), 1000),
	} {
		if _, err := Decode(payload, 100); !isOnly(err, ErrPayload) {
			t.Errorf("%s: %v", name, err)
		}
		err := c.RestoreReplace(ctx, "k", 0, string(payload)).Err()
		if err == nil || err.Error() != "ERR DUMP payload version or checksum are wrong" {
			t.Errorf("%s: Redis says %v", name, err)
		}
	}
	for name, payload := range map[string][]byte{
		"no such type":     sealAs([]byte{8, 0}, Version),
		"string too short": sealAs([]byte{typeString, 40, 'a'}, Version),
	} {
		if _, err := Decode(payload, 100); !isOnly(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
		err := c.RestoreReplace(ctx, "k", 0, string(payload)).Err()
		if err == nil || err.Error() != "ERR Bad data format" {
			t.Errorf("%s: Redis says %v", name, err)
		}
	}
}

// TestTypesOfRedisHaveNames dumps one value of each type that a plain Redis 7.0
// has and that is refused here.
func TestTypesOfRedisHaveNames(t *testing.T) {
	c := startRedis(t)
	ctx := context.Background()
	for want, fill := range map[Type]func(key string) error{} {
		key := want.String()
		if err := fill(key); err != nil {
			t.Fatal(err)
		}
		if name := c.Type(ctx, key).Val(); name != key {
			t.Errorf("%s is called %s by Redis", key, name)
		}
		_, err := Decode([]byte(c.Dump(ctx, key).Val()), 100)
		if !isOnly(err, ErrType) || !bytes.Contains([]byte(err.Error()), []byte(key)) {
			t.Errorf("%s: %v", key, err)
		}
	}
}
