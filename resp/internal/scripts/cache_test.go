package scripts

import (
	"fmt"
	"strings"
	"testing"
)

// What scripts are kept is bounded, and those that were loaded stay.
func TestKnownScriptsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing to see for the race detector")
	}
	var s Cache
	s.Init(func() int64 { return 8 << 20 })
	loaded, err := s.Compile([]byte("return 'loaded'"), true)
	if err != nil {
		t.Fatal(err)
	}
	pad := strings.Repeat(" ", 200<<10)
	for i := range 100 {
		if _, err := s.Compile(fmt.Appendf(nil, "return %d%s", i, pad), false); err != nil {
			t.Fatal(err)
		}
	}
	if s.bytes > s.limit() || len(s.bySHA) != len(s.byBody) || s.Called([]byte(loaded.SHA)) == nil {
		t.Errorf("%d bytes, %d scripts", s.bytes, len(s.bySHA))
	}
	if s.Find(fmt.Appendf(nil, "return 99%s", pad)) == nil || s.Find(fmt.Appendf(nil, "return 0%s", pad)) != nil {
		t.Error("not the oldest were forgotten")
	}
	for i := 0; err == nil; i++ {
		if _, err = s.Compile(fmt.Appendf(nil, "return 'l%d'%s", i, pad), true); i > 100 {
			t.Fatal("no bound")
		}
	}
	s.Flush()
	if s.bytes != 0 || s.Called([]byte(loaded.SHA)) != nil {
		t.Error("a flush leaves something")
	}
}
