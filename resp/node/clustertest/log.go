package clustertest

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
)

// lastLines keeps the end of a log.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

// keptLines is how many lines of a node's log are kept.
const keptLines = 40

func (l *lastLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines = append(l.lines, string(b)); len(l.lines) > keptLines {
		l.lines = l.lines[1:]
	}
	return len(b), nil
}

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "")
}

// inBubble reports whether time is virtual for the caller, by testing/synctest.
func inBubble() bool {
	var stack [256]byte
	head, _, _ := bytes.Cut(stack[:runtime.Stack(stack[:], false)], []byte("\n"))
	return bytes.Contains(head, []byte("synctest bubble"))
}
