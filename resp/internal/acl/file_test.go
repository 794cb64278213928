package acl_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/internal/acl"
)

// withFile returns users whose ACL file has a text.
func withFile(t *testing.T, text string) (*acl.Registry, error) {
	t.Helper()
	r := registry(t)
	r.File = filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(r.File, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return r, r.Open("")
}

func TestFileWithFaultsIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"x":                             ":1 should start with user keyword followed by the username. ",
		"user":                          ":1 should start with user keyword followed by the username. ",
		"user a on\n\nuser a off":       "WARNING: Duplicate user 'a' found on line 3. ",
		"user a\tb on":                  "username 'a\tb' contains invalid characters. ",
		"user a on +nope":               "Error in applying operation '+nope': Unknown command or category name in ACL. ",
		"user a on >secret #12":         ":1: The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters. ",
		"user a (on\nuser b ~* ~x\n# c": ":3 should start with user keyword followed by the username. ",
		"user a " + strings.Repeat("(~k) ", 20_000): "rules",
	} {
		if _, err := withFile(t, text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.40q: %.400v, want %s", text, err, want)
		}
	}
	r := registry(t)
	r.File = filepath.Join(t.TempDir(), "nowhere")
	if err := r.Open(""); err == nil || !strings.HasPrefix(err.Error(), "Error loading ACLs, opening file '"+r.File+"': no such file") {
		t.Errorf("without a file: %v", err)
	}
}

// agreesOn has a registry agree on what it wants to, with an index from 7 on, and returns what is agreed on.
func agreesOn(r *acl.Registry) func() *agreed.Values {
	var mu sync.Mutex
	var values *agreed.Values
	index := uint64(6)
	r.Agree = func(_ context.Context, changes []agreed.Change) (*agreed.Values, error) {
		mu.Lock()
		defer mu.Unlock()
		index++
		next, err := values.With(changes, index)
		if err == nil {
			values = next
			r.Set(values, 1, index)
		}
		return values, err
	}
	return func() *agreed.Values {
		mu.Lock()
		defer mu.Unlock()
		return values
	}
}

// The users of the file count until anything is agreed on, and are what is agreed on first.
func TestUsersOfFileCountUntilOthersAreAgreed(t *testing.T) {
	r, err := withFile(t, "user a on >pw ~a:* +@all\r\nuser default off\n")
	if err != nil {
		t.Fatal(err)
	}
	agreement := agreesOn(r)
	r.Set(nil, 1, 5)
	if u := r.Now(); u.Default().Open() || u.Login([]byte("a"), []byte("pw")) == nil {
		t.Errorf("the users of the file do not count: %q", u.Lines())
	}
	impatient, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if err := r.SetUser(impatient, "b", []string{"on"}); err == nil || !strings.Contains(err.Error(), "not agreed on yet") {
		t.Errorf("a change before that: %v", err)
	}
	want := strings.Join(r.Now().Lines(), "\n")
	if err := r.LoadAtStart(t.Context()); err != nil || strings.Join(r.Now().Lines(), "\n") != want || len(agreement().Under(acl.Prefix)) != 2 {
		t.Errorf("%v, %q, agreed are %v", err, r.Now().Lines(), agreement().All())
	}
	if err := r.SetUser(t.Context(), "a", []string{"off"}); err != nil {
		t.Error(err)
	}
	// Another node with the file keeps what is agreed on.
	before := agreement()
	if err := r.LoadAtStart(t.Context()); err != nil || agreement() != before {
		t.Errorf("%v, the agreed users have changed", err)
	}
	if err := r.SetUser(t.Context(), "b", []string{"on", "~b"}); err != nil {
		t.Error(err)
	}
	if err := r.Save(); err != nil {
		t.Error(err)
	}
	saved := strings.Join(r.Now().Lines(), "\n")
	if n, err := r.Delete(t.Context(), []string{"b", "b", "nobody"}); n != 1 || err != nil {
		t.Errorf("%d deleted, %v", n, err)
	}
	if err := r.Load(t.Context()); err != nil || strings.Join(r.Now().Lines(), "\n") != saved {
		t.Errorf("%v, %q after a load, saved were %q", err, r.Now().Lines(), saved)
	}
}

// A client may change users as soon as a node takes its connection: the change waits for the users of the ACL file.
func TestChangeWaitsUntilUsersOfFileAreAgreed(t *testing.T) {
	r, err := withFile(t, "user a on nopass ~* +@all\nuser default off\n")
	if err != nil {
		t.Fatal(err)
	}
	agreesOn(r)
	waits, changed := make(chan struct{}), make(chan error)
	go func() {
		close(waits)
		changed <- r.SetUser(t.Context(), "a", []string{"off"})
	}()
	<-waits
	r.Set(nil, 1, 5) // which is not it
	if err := r.LoadAtStart(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-changed; err != nil {
		t.Errorf("a change before the users of the file are agreed on: %v", err)
	}
	if lines := strings.Join(r.Now().Lines(), "\n"); !strings.Contains(lines, "user a off nopass") || !strings.Contains(lines, "user default off") {
		t.Errorf("the users are %q", lines)
	}
}
