package replica

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/replica/stream"
	"github.com/ringside-kv/ringside/replica/table"
)

func TestCausesOfFailures(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Cause
	}{
		{nil, NotWaiting},
		{fmt.Errorf("%w: %w", stream.ErrStream, stream.ErrReceiving), Queued},
		{errBusy, Queued},
		{errHold, Cutover},
		{fmt.Errorf("%w: %w", stream.ErrStream, fmt.Errorf("%w: no space is left", stream.ErrGaveUp)), Refused},
		{fmt.Errorf("%w: %w", errUnreachable, io.ErrUnexpectedEOF), Unreachable},
		{fmt.Errorf("%w: %w", stream.ErrStream, io.EOF), Unreachable},
		{stream.ErrStalled, Unreachable},
		{stream.ErrBehind, Unreachable},
		{table.ErrNoLeader, TableFailed},
		{fmt.Errorf("apply: %w", table.ErrUnknownOutcome), TableFailed},
		{fmt.Errorf("%w: 1", table.ErrStale), TableFailed},
		{errors.New("a disk"), Other},
	} {
		if got := causeOf(test.err); got != test.want {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
}

func TestEveryCauseHasAWordOfItsOwn(t *testing.T) {
	seen := map[string]bool{NotWaiting.String(): true}
	for _, c := range Causes() {
		if word := c.String(); seen[word] || word != strings.ToLower(word) {
			t.Errorf("%d is %q", c, word)
		} else {
			seen[word] = true
		}
	}
	if len(seen) != int(causes) || Cause(200).String() != "other" {
		t.Errorf("%v", seen)
	}
}

// However often a handoff finds that it still waits for the same, the log has it once.
func TestWaitReasonOfHandoffIsLoggedOnce(t *testing.T) {
	var log strings.Builder
	e := &Engine{cfg: Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	h := &transfer{id: 7, to: "n2"}
	for range 3 {
		e.noteWait(h, Queued, "others")
	}
	e.noteWait(h, Paused, "paused")
	e.noteWait(h, NotWaiting, "")
	e.noteWait(h, Queued, "others")
	var got []string
	for line := range strings.Lines(log.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), "msg=")
		got = append(got, line)
	}
	want := []string{
		`"a handoff waits" handoff=7 node=n2 cause=turn for=others`,
		`"a handoff waits" handoff=7 node=n2 cause=paused for=paused`,
		`"a handoff waits" handoff=7 node=n2 cause=turn for=others`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the log:\n%s", log.String())
	}
}
