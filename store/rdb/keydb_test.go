package rdb

import (
	"bytes"
	"slices"
	"testing"
)

// TestKeyDBPayloads reads payloads of all types as KeyDB writes them, with a number of its own behind the value.
func TestKeyDBPayloads(t *testing.T) {
	stream := NewStreamWriter(nil, 9, false)
	if err := stream.Entry(StreamID{1, 1}, 2, func(yield func([]byte)) error { yield([]byte("f")); yield([]byte("v")); return nil }); err != nil {
		t.Fatal(err)
	}
	stream.Head(StreamHead{Length: 1, Last: StreamID{1, 1}}, 0)
	element := func(dst []byte, words ...string) []byte {
		for _, w := range words {
			dst = AppendElement(dst, []byte(w))
		}
		return dst
	}
	packed := element(nil, "\x0d\x00\x00\x00\x02\x00\x81a\x02\x811\x02\xff")
	for name, body := range map[string][]byte{
		"string": AppendElement([]byte{typeString}, []byte("hello")), "hash": element(BeginHash(nil, 1), "f", "v"), "set": element(BeginSet(nil, 1), "m"),
		"list": element(BeginList(nil, 1), "e"), "sorted set": AppendScore(element(BeginSortedSet(nil, 1), "m"), 1.5), "stream": stream.Bytes(),
		"timed hash": element(AppendExpiry(BeginTimedHash(nil, 1, 5), 5, 7), "f", "v"), "packed hash": append([]byte{16}, packed...),
	} {
		read := func(behind string) error {
			v, err := Decode(sealAs(append(slices.Clone(body), behind...), 9), 1000)
			switch {
			case err != nil:
				return err
			case v.Type == Stream:
				return v.VisitStream(ignoredStream{})
			case v.Type == SortedSet:
				return v.EachScore(func([]byte, float64) error { return nil })
			case v.Timed():
				return v.EachExpiring(func(_, _ []byte, _ int64) error { return nil })
			case v.Type == String && !bytes.Equal(v.Bytes, []byte("hello")):
				t.Errorf("%q", v.Bytes)
			case v.Type != String:
				return v.Each(func(_, _ []byte) error { return nil })
			}
			return nil
		}
		for _, behind := range []string{"", keydbStamp + "\x131773000000000000000", keydbStamp + "\xc0\x07"} {
			if err := read(behind); err != nil {
				t.Errorf("%s before %q: %v", name, behind, err)
			}
		}
		for _, behind := range []string{"x", keydbStamp, keydbStamp + "\x051", keydbStamp + "\x011x", "\xfa\x0bmvcc-tstamq\x011"} {
			if err := read(behind); !isOnly(err, ErrFormat) {
				t.Errorf("%s before %q: %v", name, behind, err)
			}
		}
	}
}
