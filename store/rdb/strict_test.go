package rdb

import (
	"context"
	"errors"
	"testing"
)

// Payloads whose frame is right and whose inside contradicts itself are refused, as Redis
// refuses them.
func TestContradictoryCollectionsAreRefusedAsInRedis(t *testing.T) {
	c := startRedis(t)
	for name, body := range map[string]string{
		"plain node of no bytes":               "\x12\x01\x01\x00",
		"ziplist, wrong length before":         "\x0E\x01\x13\x13\x00\x00\x00\x0E\x00\x00\x00\x02\x00\x00\x02a\x00\x0E\x02b\x00\xFF",
		"ziplist, first length before":         "\x0A\x10\x10\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x01\x03abc\xFF",
		"ziplist, wrong tail":                  "\x0A\x10\x10\x00\x00\x00\x0b\x00\x00\x00\x01\x00\x00\x03abc\xFF",
		"ziplist, tail behind the end":         "\x0A\x10\x10\x00\x00\x00\xff\x00\x00\x00\x01\x00\x00\x03abc\xFF",
		"sorted set as ziplist, wrong tail":    "\x0C\x13\x13\x00\x00\x00\x0a\x00\x00\x00\x02\x00\x00\x03abc\x05\x01\x31\xFF",
		"hash as ziplist, wrong second length": "\x0D\x13\x13\x00\x00\x00\x0f\x00\x00\x00\x02\x00\x00\x03abc\x04\x01\x31\xFF",
	} {
		payload := sealAs([]byte(body), 9)
		if err := c.Restore(context.Background(), "k", 0, string(payload)).Err(); err == nil {
			t.Errorf("%s: Redis takes it", name)
		}
		v, err := Decode(payload, 4096)
		if err == nil && v.Type == SortedSet {
			err = v.EachScore(func([]byte, float64) error { return nil })
		} else if err == nil {
			err = v.Each(func(_, _ []byte) error { return nil })
		}
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The same with what fits.
	for name, body := range map[string]string{
		"ziplist":               "\x0A\x10\x10\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x03abc\xFF",
		"sorted set as ziplist": "\x0C\x13\x13\x00\x00\x00\x0f\x00\x00\x00\x02\x00\x00\x03abc\x05\x01\x31\xFF",
	} {
		payload := sealAs([]byte(body), 9)
		if err := c.RestoreReplace(context.Background(), "k", 0, string(payload)).Err(); err != nil {
			t.Errorf("%s: Redis: %v", name, err)
		}
		v, err := Decode(payload, 4096)
		if err == nil {
			err = v.Each(func(_, _ []byte) error { return nil })
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
