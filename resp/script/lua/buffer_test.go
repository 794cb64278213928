package lua_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// runHost runs a function of the host in a state.
func runHost(s *lua.State, fn lua.GoFunction) (v lua.Value, err error) {
	var main lua.Value
	if err := s.Setup(func(t *lua.Thread) { main = t.NewFunction(fn) }); err != nil {
		return lua.Nil, err
	}
	v, _, err = s.Run(main, nil, func(*lua.Thread) {})
	return v, err
}

func TestBufferHoldsLongTexts(t *testing.T) {
	parts := []string{"a", strings.Repeat("b", 1<<20), "", strings.Repeat("cd", 3<<19), strings.Repeat("e", 1<<20-7), "f", strings.Repeat("gh", 1<<20)}
	v, err := runHost(newState(64<<20), func(t *lua.Thread) int {
		b := t.NewBuffer()
		for _, p := range parts {
			b.Append(p)
			b.AppendByte('.')
		}
		if want := len(strings.Join(parts, ".")) + 1; b.Len() != want {
			t.Errorf("%d bytes, not %d", b.Len(), want)
		}
		b.Push()
		return 1
	})
	if want := strings.Join(parts, ".") + "."; err != nil || v.Text() != want {
		t.Errorf("another text of %d bytes, not %d: %v", len(v.Text()), len(want), err)
	}
}

// Each step on a long text is a part of it: where the state stops, what was begun is not finished.
func TestStopEndsWorkOnOneLongText(t *testing.T) {
	text := strings.Repeat("x", 8<<20)
	for name, work := range map[string]func(t *lua.Thread, b *lua.Buffer){
		"Push":      func(t *lua.Thread, b *lua.Buffer) { b.Push() },
		"PushBytes": func(t *lua.Thread, b *lua.Buffer) { t.PushBytes([]byte(text)) },
		"PushCopy":  func(t *lua.Thread, b *lua.Buffer) { t.PushCopy(text) },
		"Append":    func(t *lua.Thread, b *lua.Buffer) { b.Append(text) },
	} {
		s := newState(256 << 20)
		finished := false
		stop := errors.New("stop")
		_, err := runHost(s, func(t *lua.Thread) int {
			b := t.NewBuffer()
			b.Append(text)
			s.Stop(stop)
			work(t, b)
			finished = true
			return 0
		})
		if finished || !errors.Is(err, stop) {
			t.Errorf("%s: finished: %t, %v", name, finished, err)
		}
	}
}
