package report

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgressIsDrawnInItsPlace(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b, ProgressConfig{Terminal: true, Width: 60, Rounds: 2})
	states := []State{
		{Contestant: "buckets", Round: 1, Phase: "run 8s", PerSecond: 12_345, P99: 1234, Handoffs: 3, Failed: 7, Left: 90 * time.Second},
		{Contestant: "vnode:128", Round: 1},
	}
	p.Show(time.Time{}, states)
	states[0] = State{Contestant: "buckets", Round: 1, Done: true, Phase: "run 8s"}
	states[1] = State{Contestant: "vnode:128", Round: 1, Phase: "join", Failure: "no\nsuch\x1b[31m node " + strings.Repeat("x", 99)}
	p.Show(time.Time{}, states)
	p.Show(time.Time{}, states[:1])
	p.Show(time.Time{}, states)
	p.Close()
	p.Show(time.Time{}, states[:1])
	p.Close()
	p.Close()

	text := b.String()
	for _, want := range []string{
		"buckets    1/2  run 8s        12.3k ops/s  p99  1.23 ms  3…\x1b[K\nvnode:128  1/2  waits\x1b[K\n\x1b[2A\rbuckets    1/2  done\x1b[K\n",
		"vnode:128  1/2  ended early: no such�[31m node xxxx",
		"\x1b[2A\rbuckets  1/2  done\x1b[K\n\x1b[J\x1b[1A\r",
		"\x1b[2A\r\x1b[Jbuckets",
		"done\x1b[K\n\x1b[1A\r\x1b[J",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if !strings.HasSuffix(text, "\x1b[1A\r\x1b[J") {
		t.Errorf("something is left, or erased twice: %q", text)
	}
	for line := range strings.Lines(text) {
		if line := line[strings.LastIndex(line, "\r")+1:]; Width(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\x1b[K")) > 59 {
			t.Errorf("too wide: %q", line)
		}
	}
}

func TestProgressIsWrittenNowAndThen(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b, ProgressConfig{Every: 5 * time.Second})
	now := time.Unix(100, 0)
	states := []State{{Contestant: "buckets", Phase: "run 8s", PerSecond: 100}, {Contestant: "vnode"}}
	for range 12 { // 11 seconds: at once, and twice more
		p.Show(now, states)
		now = now.Add(time.Second)
	}
	if n := strings.Count(b.String(), "\n"); n != 3 || strings.Contains(b.String(), "\x1b") || strings.Contains(b.String(), "vnode") {
		t.Errorf("%d lines in 11 seconds: %q", n, b.String())
	}
	b.Reset()
	states[0].Phase = "join"
	p.Show(now, states)
	p.Show(now, states)
	states[0].Done = true
	p.Show(now, states)
	p.Show(now.Add(time.Hour), states)
	if n := strings.Count(b.String(), "\n"); n != 2 {
		t.Errorf("%d lines, want one for the new phase and one for the end: %q", n, b.String())
	}
	p.Close()
}
