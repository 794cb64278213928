package audit

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// linesOf reads the lines of a log.
func linesOf(t *testing.T, path string) (lines []line) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(text)) {
		var l line
		if err := json.Unmarshal([]byte(row), &l); err != nil {
			t.Fatalf("%q: %v", row, err)
		}
		lines = append(lines, l)
	}
	return lines
}

func open(t *testing.T, path string) *Log {
	t.Helper()
	l, err := Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestLogSurvivesRotation(t *testing.T) {
	dir := t.TempDir()
	path, rotated := filepath.Join(dir, "audit.log"), filepath.Join(dir, "audit.log.1")
	l := open(t, path)
	l.Note(Event{Kind: Auth, OK: true, User: "a", Client: "1.2.3.4:5", ID: 7, Command: "auth"})
	if err := os.Rename(path, rotated); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	l.Note(Event{Kind: Refused, User: strings.Repeat("\xff\"", 1000)})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l.Note(Event{Kind: Admin}) // is lost
	all := append(linesOf(t, rotated), linesOf(t, path)...)
	if len(all) != 2 {
		t.Fatalf("%d lines: %+v", len(all), all)
	}
	if got, want := all[0].Event, (Event{Kind: Auth, OK: true, User: "a", Client: "1.2.3.4:5", ID: 7, Command: "auth"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := len(all[1].User); n == 0 || n > 2*maxText {
		t.Errorf("a user's name of %d bytes", n)
	}
	if state, err := os.Stat(path); err != nil || state.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", state.Mode(), err)
	}
}

func TestLogDropsWhatIsTooMuch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	l := open(t, path)
	const events = 5 * perSecond
	for range events {
		l.Note(Event{Kind: Refused})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	counted, written := int64(0), 0
	for _, next := range linesOf(t, path) {
		if counted += next.Lost; next.Kind != dropped {
			counted++
			written++
		}
	}
	if counted != events || written < waiting/2 {
		t.Errorf("%d events are accounted for, %d written; want %d in all", counted, written, events)
	}
}

func TestOpenOfABadPathFails(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none", "audit.log"), nil); err == nil {
		t.Error("a log was opened in a directory that does not exist")
	}
	if l, err := Open("", nil); l != nil || err != nil {
		t.Errorf("%v, %v", l, err)
	}
	var none *Log
	none.Note(Event{})
	if none.Reopen() != nil || none.Close() != nil {
		t.Error("a log that is not there fails")
	}
	l := open(t, Stderr)
	if err := l.Reopen(); err != nil {
		t.Error(err)
	}
}

func TestObjectsAreNoValues(t *testing.T) {
	row := func(full string) *command.Row { return &command.Row{Full: full} }
	for call, want := range map[string]string{
		"acl|setuser: ACL SETUSER bob >secret":                  "bob",
		"acl|deluser: ACL DELUSER a b":                          "a b",
		"config|set: CONFIG SET requirepass secret maxmemory 1": "requirepass maxmemory",
		"config|set: CONFIG SET requirepass secret maxmemory":   "",
		"config|get: CONFIG GET requirepass":                    "",
		"ring|database: RING DATABASE 1 TOGETHER":               "",
		"acl|setuser: ACL SETUSER":                              "",
	} {
		full, words, _ := strings.Cut(call, ": ")
		var args [][]byte
		for word := range strings.FieldsSeq(words) {
			args = append(args, []byte(word))
		}
		if got := ObjectOf(row(full), args); got != want {
			t.Errorf("%s names %q, want %q", words, got, want)
		}
	}
}
