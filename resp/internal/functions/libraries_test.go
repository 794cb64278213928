package functions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/store/rdb"
)

// sealed is a payload with the body and a valid footer.
func sealed(body []byte) []byte { return rdb.Seal(slices.Clone(body), 0) }

func newTestRegistry(t *testing.T) *Registry {
	return NewRegistry(func() int64 { return 16 << 20 }, func(int, string) {}, func(library string, err error) { t.Logf("%s: %v", library, err) })
}

func codeOf(name string, functions ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!lua name=%s\n", name)
	for _, f := range functions {
		fmt.Fprintf(&b, "redis.register_function('%s', function() return '%s' end)\n", f, name)
	}
	return b.String()
}

// edit agrees on the libraries that an edit makes.
func (r *Registry) edit(edit func(next *Set) error) error {
	now := r.Current()
	next := now.copy()
	if err := edit(next); err != nil {
		return err
	}
	return r.Alone(difference(now, next))
}

func (r *Registry) put(code string) error {
	return r.edit(func(next *Set) error {
		l, err := r.load(code, loadTimeout)
		if err != nil {
			return err
		}
		if was := next.libraries[l.Name]; was != nil {
			next.remove(was)
		}
		return next.add(l)
	})
}

func TestRegistryCompilesWhatHasChanged(t *testing.T) {
	r := newTestRegistry(t)
	for _, code := range []string{codeOf("a", "f", "g"), codeOf("b", "h")} {
		if err := r.put(code); err != nil {
			t.Fatal(err)
		}
	}
	was := r.Current()
	if err := r.put(codeOf("a", "g", "i")); err != nil {
		t.Fatal(err)
	}
	now := r.Current()
	if now.libraries["b"] != was.libraries["b"] || now.libraries["a"] == was.libraries["a"] || was.Find([]byte("F")) == nil {
		t.Error("a library that is the same was compiled again, or an earlier set has changed")
	}
	if now.Find([]byte("f")) != nil || now.Find([]byte("I")) == nil || now.Find([]byte("G")).Library != now.libraries["a"] || now.Find([]byte("h")) != was.Find([]byte("h")) {
		t.Errorf("functions are %v", now.functions)
	}
	if err := r.put(codeOf("c", "G")); err == nil || err.Error() != "ERR Function G already exists" {
		t.Errorf("a function of another library: %v", err)
	}
	if err := r.Alone([]agreed.Change{{Name: "user/x", Body: "y"}}); err != nil {
		t.Fatal(err)
	}
	if again := r.Current(); again.libraries["a"] != now.libraries["a"] || again.version != now.version {
		t.Error("libraries were compiled again since another value has changed")
	}
	// Two changes that were made of the same set: only one is agreed.
	next := now.copy()
	next.remove(next.libraries["a"])
	changes := difference(now, next)
	if err := r.Alone(changes); err != nil {
		t.Fatal(err)
	}
	if err := r.Alone(difference(now, now.copy())); !errors.Is(err, agreed.ErrChanged) {
		t.Errorf("a change of an earlier set: %v", err)
	}
	if u := r.Usage(); u.Libraries != 1 || u.Functions != 1 {
		t.Errorf("%d libraries, %d functions", u.Libraries, u.Functions)
	}
}

// A library that this build cannot load can be seen and deleted, and keeps no other from being loaded.
func TestRegistryKeepsWhatItCannotLoad(t *testing.T) {
	r := newTestRegistry(t)
	if err := r.put(codeOf("a", "f")); err != nil {
		t.Fatal(err)
	}
	if err := r.Alone([]agreed.Change{
		{Name: Guard, Was: r.Version()}, {Name: prefix + "strange", Body: "#!lisp name=strange\n()"}, {Name: prefix + "z", Body: codeOf("z", "g")},
	}); err != nil {
		t.Fatal(err)
	}
	s := r.Current()
	if u := s.usage(); u.Libraries != 3 || u.Functions != 2 {
		t.Errorf("%d libraries, %d functions", u.Libraries, u.Functions)
	}
	if err := r.edit(func(next *Set) error {
		for _, l := range next.sorted() {
			next.remove(l)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if left := r.values.Load().Under(prefix); len(left) > 0 || r.Current().bytes != 0 {
		t.Errorf("left are %v", left)
	}
}

func TestLibrariesAreBounded(t *testing.T) {
	r := newTestRegistry(t)
	big := "\n--" + strings.Repeat("x", MaxBytes/2)
	if err := r.put(codeOf("a", "f") + big); err != nil {
		t.Fatal(err)
	}
	if err := r.put(codeOf("b", "g") + big); !errors.Is(err, errTooMuch) {
		t.Errorf("more code than may be: %v", err)
	}
	if err := r.put(codeOf("a", "g") + big); err != nil {
		t.Errorf("a large library in place of another one: %v", err)
	}
	body := []byte(nil)
	for range 3 {
		body = rdb.AppendElement(append(body, opLibrary), []byte(big))
	}
	if _, err := readPayload(sealed(body)); !errors.Is(err, errTooMuch) {
		t.Errorf("a payload with more code than may be: %v", err)
	}
}

// Runtimes wait for the next calls, unless a call was ended in them.
func TestLibraryKeepsRuntimes(t *testing.T) {
	r := newTestRegistry(t)
	if err := r.put(codeOf("a", "f")); err != nil {
		t.Fatal(err)
	}
	l := r.Current().libraries["a"]
	first, err := l.Take(16<<20, r.log, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Give(first)
	if again, _ := l.Take(16<<20, r.log, nil); again != first {
		t.Error("a runtime does not wait for the next call")
	}
	for range keepRuntimes + 5 {
		other, err := l.NewRuntime(16<<20, r.log, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.Give(other)
	}
	if len(l.free) != keepRuntimes {
		t.Errorf("%d runtimes wait", len(l.free))
	}
}
