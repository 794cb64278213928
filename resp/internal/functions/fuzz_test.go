package functions

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/script"
)

// FuzzHeader: a name that the first line of a library gives is valid, and the rest keeps its lines.
func FuzzHeader(f *testing.F) {
	for _, code := range []string{"", "#!", "#!lua name=a\nx", "#!LUA  NAME='a' \n", "#!lua name=a name=b\n", "#!lua \"name=\\x61\"\ny\n", "#!lua name=a\x00\n", "#!\n", "#!js name=a\n"} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		name, body, err := parse(code)
		if err != nil {
			return
		}
		line, rest, _ := strings.Cut(code, "\n")
		if !script.IsName(name) || body != "\n"+rest || !strings.HasPrefix(line, "#!") || !strings.Contains(strings.ToLower(line), "lua") {
			t.Errorf("%q is %q with the code %q", code, name, body)
		}
	})
}

// FuzzPayload: what is read of a payload is written so that it is read again, and has a bound.
func FuzzPayload(f *testing.F) {
	payload := func(codes ...string) []byte {
		var all []*Library
		for _, code := range codes {
			all = append(all, &Library{Code: code})
		}
		return appendPayload(nil, all)
	}
	f.Add(payload()[:0])
	f.Add([]byte{opLibrary, 3, 'a', 'b', 'c'})
	f.Add(append([]byte{opLibrary, 1, 'x'}, opLibraryOld, 1, 'n', 3, 'L', 'U', 'A', 1, 1, 'd', 2, 'c', 'd'))
	f.Add([]byte{opLibraryOld, 1, 'n', 3, 'L', 'U', 'A', 0, 2, 'c', 'd'})
	f.Add([]byte{opLibrary, 0xc3, 0x05, 0x80, 0x7f, 0xff, 0xff, 0xff, 1, 'a', 0xe0, 0xff, 0x00})
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, body []byte) {
		codes, err := readPayload(sealed(body))
		if err != nil {
			return
		}
		total := 0
		for _, code := range codes {
			total += len(code)
		}
		if total > MaxBytes || len(codes) > maxLibraries {
			t.Fatalf("%d libraries of %d bytes", len(codes), total)
		}
		again, err := readPayload(payload(codes...))
		if err != nil || strings.Join(again, "\x00") != strings.Join(codes, "\x00") {
			t.Errorf("%q is read as %q, %v", codes, again, err)
		}
	})
}
