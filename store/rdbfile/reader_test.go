package rdbfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/store/rdb"
)

// fileOf ends a file with its checksum.
func fileOf(head string, pieces ...string) []byte {
	b := []byte(head)
	for _, piece := range pieces {
		b = append(b, piece...)
	}
	b = append(b, opEnd)
	return binary.LittleEndian.AppendUint64(b, rdb.Checksum(0, b))
}

// text is a string in a file.
func text(s string) string { return string(rdb.AppendElement(nil, []byte(s))) }

// moduleID is the ID of version 1 of a type of nine letters.
func moduleID(name string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	id := uint64(0)
	for _, c := range name {
		id = id<<6 | uint64(strings.IndexRune(letters, c))
	}
	return string(binary.BigEndian.AppendUint64([]byte{0x81}, id<<10|1))
}

func TestModulesAreSkippedAndNamed(t *testing.T) {
	pieces := "\x01\x07" + "\x02\x09" + "\x03abcd" + "\x04abcdefgh" + "\x05" + text("anything at all") + "\x00"
	file := fileOf("REDIS0011",
		"\xfe\x00",
		"\xf7"+moduleID("Filters-_")+"\x02\x01"+pieces,
		"\x07"+text("m1")+moduleID("ReJSON-RL")+pieces,
		"\xfc\x01\x00\x00\x00\x00\x00\x00\x00\x07"+text("m2")+moduleID("ReJSON-RL")+pieces,
		"\x00"+text("s")+text("plain"),
	)
	entries, err := readAll(bytes.NewReader(file), Config{})
	if !errors.Is(err, io.EOF) || len(entries) != 4 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if e := entries[0]; e.Kind != ModuleAux || e.Reason != "data of module Filters-_ (version 1)" {
		t.Errorf("%+v", e)
	}
	if e := entries[1]; e.Kind != Key || string(e.Key) != "m1" || e.Payload != nil || e.Reason != "value of module ReJSON-RL (version 1)" {
		t.Errorf("%+v", e)
	}
	if e := entries[2]; string(e.Key) != "m2" || e.ExpireAt != 1 {
		t.Errorf("%+v", e)
	}
	if e := entries[3]; string(e.Key) != "s" || e.ExpireAt != 0 || !bytes.Equal(e.Payload, rdb.AppendString(nil, []byte("plain"))) {
		t.Errorf("%+v", e)
	}
}

func TestOpcodesAreUnderstood(t *testing.T) {
	file := fileOf("REDIS0013",
		"\xfa"+text("redis-ver")+text("8.4.0"),
		"\xfe\x02\xfb\x05\x01",
		"\xf4\x01\x02\x03",
		"\xf8\x21\xfd\x10\x00\x00\x00\x00"+text("idle")+text("1"),
		"\xf9\x21\x00"+text("freq")+text("2"),
		"\xf3\x01abcd\x01\x07\x00\x00"+text("meta")+text("3"),
		"\xf5"+text("#!lua name=a\n"),
		"\xf6"+text("old")+text("LUA")+"\x01"+text("about it")+text("code"),
		"\x18"+text("expiring")+"12345678"+"\x01\x05"+text("f")+text("v"),
		"\x19"+text("packed")+"12345678"+text("a listpack"),
		"\x16"+text("preview")+"\x01\x05"+text("f")+text("v"),
		"\x17"+text("preview2")+text("a listpack"),
	)
	entries, err := readAll(bytes.NewReader(file), Config{})
	if !errors.Is(err, io.EOF) || len(entries) != 11 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if e := entries[1]; e.Kind != Size || e.Database != 2 || e.Keys != 5 || e.Expires != 1 {
		t.Errorf("%+v", e)
	}
	if e := entries[2]; string(e.Key) != "idle" || e.ExpireAt != 16000 || e.Database != 2 {
		t.Errorf("%+v", e)
	}
	if e := entries[4]; string(e.Key) != "meta" || !e.Metadata || e.Reason != "" {
		t.Errorf("%+v", e)
	}
	if e := entries[5]; e.Kind != Function || string(e.Value) != "#!lua name=a\n" || e.Metadata {
		t.Errorf("%+v", e)
	}
	if e := entries[6]; e.Kind != Function || !strings.Contains(e.Reason, `"old"`) {
		t.Errorf("%+v", e)
	}
	const eight = 0x3837363534333231 // "12345678"
	for i, want := range []int64{eight + 4, 0, 5, 0} {
		e := entries[7+i]
		if e.Kind != Key || e.Reason != "" || want != 0 && !slices.Equal(fieldsIn(t, e.Payload), []string{fmt.Sprint("f v ", want)}) {
			t.Errorf("%+v", e)
		}
	}
}

// fieldsIn returns the fields of a hash in a payload, with their values and expiries.
func fieldsIn(t *testing.T, payload []byte) (all []string) {
	t.Helper()
	v, err := rdb.Decode(payload, 1<<20)
	if err == nil {
		err = v.EachExpiring(func(field, value []byte, expiry int64) error {
			all = append(all, fmt.Sprintf("%s %s %d", field, value, expiry))
			return nil
		})
	}
	if err != nil {
		t.Error(err)
	}
	return all
}

// KeyDB writes a fact between the expiry time of a key and the key.
func TestFactsDoNotSeparateAKeyFromItsExpiryTime(t *testing.T) {
	file := fileOf("REDIS0009",
		"\xfc\x10\x00\x00\x00\x00\x00\x00\x00", "\xfa"+text("mvcc-tstamp")+text("123"), "\x00"+text("a")+text("x"),
		"\x00"+text("b")+text("y"),
	)
	entries, err := readAll(bytes.NewReader(file), Config{})
	if !errors.Is(err, io.EOF) || len(entries) != 3 || entries[1].ExpireAt != 16 || entries[2].ExpireAt != 0 {
		t.Errorf("%+v %v", entries, err)
	}
}

func TestFilesOfValkeyAreRead(t *testing.T) {
	file := fileOf("VALKEY080",
		"\xf3"+text("job")+"\x01\x05\x06",
		"\x16"+text("h")+"\x02"+text("f")+text("v")+"12345678"+text("g")+text("w")+strings.Repeat("\xff", 8),
		"\x00"+text("s")+text("x"),
	)
	entries, err := readAll(bytes.NewReader(file), Config{})
	if !errors.Is(err, io.EOF) || len(entries) != 2 || string(entries[1].Key) != "s" {
		t.Fatalf("%+v %v", entries, err)
	}
	if got := fieldsIn(t, entries[0].Payload); !slices.Equal(got, []string{"f v 4050765991979987505", "g w 0"}) {
		t.Error(got)
	}
}

func TestUnknownInputIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		file   []byte
		want   error
		offset int64
	}{
		"no file":         {[]byte("hello, world"), ErrMagic, 0},
		"a short one":     {[]byte("hel"), ErrMagic, 0},
		"no version":      {[]byte("REDISxxxx"), ErrMagic, 0},
		"a later version": {fileOf("REDIS0999"), ErrVersion, 0},
		"of Valkey 7":     {fileOf("VALKEY012"), ErrVersion, 0},
		"unknown type":    {fileOf("REDIS0011", "\x28"+text("k")), ErrUnknown, 9},
		"unknown opcode":  {fileOf("REDIS0011", "\xf2"), ErrUnknown, 9},
		"huge string":     {fileOf("REDIS0011", "\x00"+text("k")+"\x81\x7f\xff\xff\xff\xff\xff\xff\xff"), ErrTooLarge, 12},
		"empty list":      {fileOf("REDIS0011", "\x01"+text("k")+"\x00"), ErrFormat, 13},
		"wrong checksum":  {append(fileOf("REDIS0011"), 0)[:18], nil, 0},
	} {
		_, err := readAll(bytes.NewReader(tt.file), Config{})
		if name == "wrong checksum" {
			damaged := bytes.Clone(tt.file)
			damaged[17]++
			_, err = readAll(bytes.NewReader(damaged), Config{})
			tt.want, tt.offset = ErrChecksum, 10
		}
		var at *Error
		if !errors.Is(err, tt.want) || !errors.As(err, &at) || at.Offset != tt.offset {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What follows a file in a stream is left to the caller.
func TestRestIsWhatFollowsTheFile(t *testing.T) {
	src := io.MultiReader(bytes.NewReader(fileOf("REDIS0011", "\x00"+text("s")+text("x"))), strings.NewReader("and the rest"))
	r := NewReader(src, Config{})
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if rest, err := io.ReadAll(r.Rest()); err != nil || string(rest) != "and the rest" {
		t.Errorf("%q %v", rest, err)
	}
}

// endless is a file with ever more of the same.
type endless struct {
	head, again []byte
	left        int
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.head) == 0 {
		if e.left == 0 {
			return 0, io.EOF
		}
		e.left--
		e.head = e.again
	}
	n := copy(p, e.head)
	e.head = e.head[n:]
	return n, nil
}

// A large collection, and a large value of a module, take no more memory than their parts.
func TestLargeValuesTakeLittleMemory(t *testing.T) {
	const elements = 300_000
	member := text(strings.Repeat("a member without end ", 2) + "0123456789 abcdefghij klmnop")
	list := string(rdb.AppendLen(nil, elements))
	for name, head := range map[string]string{
		"list":   "REDIS0011\x01" + text("k") + list,
		"module": "REDIS0011\x07" + text("k") + moduleID("ReJSON-RL"),
	} {
		again := member
		if name == "module" {
			again = "\x05" + member
		}
		r := NewReader(&endless{head: []byte(head), again: []byte(again), left: elements}, Config{MaxPart: 1 << 20})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		parts := 0
		var err error
		for err == nil {
			if _, err = r.Next(); err == nil {
				parts++
			}
		}
		runtime.ReadMemStats(&after)
		if !errors.Is(err, io.ErrUnexpectedEOF) || name == "list" && parts < 10 {
			t.Errorf("%s: %d parts, %v", name, parts, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 16<<20 {
			t.Errorf("%s: %d bytes of memory for %d", name, taken, r.Offset())
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(fileOf("REDIS0011", "\xfe\x00\xfb\x01\x00\x00"+text("s")+text("x")))
	f.Add(fileOf("REDIS0011", "\x04"+text("h")+"\x01"+text("f")+text("v")))
	f.Add(fileOf("REDIS0011", "\x07"+text("m")+moduleID("ReJSON-RL")+"\x05"+text("x")+"\x00"))
	f.Add(fileOf("VALKEY080", "\x12"+text("l")+"\x01\x02"+text("x")))
	f.Add(fileOf("REDIS0010", "\x15"+text("s")+"\x01"+text("x")+text("y")+"\x01\x01\x01\x01\x01\x01\x01\x01\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		cfg := Config{MaxString: 1 << 16, MaxPart: 64}
		once, err := readAll(bytes.NewReader(file), cfg)
		again, slow := readAll(iotestOneByte{bytes.NewReader(file)}, cfg)
		if err.Error() != slow.Error() || len(once) != len(again) {
			t.Fatalf("read at once: %d entries, %v; byte by byte: %d, %v", len(once), err, len(again), slow)
		}
		var at *Error
		if !errors.Is(err, io.EOF) && (!errors.As(err, &at) || at.Offset > int64(len(file))) {
			t.Fatal(err)
		}
		for i, e := range once {
			if !bytes.Equal(e.Payload, again[i].Payload) || e.Kind == Key && (e.Payload == nil) == (e.Reason == "") {
				t.Fatalf("%+v", e)
			}
			if e.Payload == nil {
				continue
			}
			if err := Split(e.Payload, Config{MaxString: 1 << 16}, func(part *Entry) error {
				if !bytes.Equal(part.Payload, e.Payload) {
					t.Fatalf("%q is split into %q", e.Payload, part.Payload)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add(rdb.AppendString(nil, []byte("text"))[:6], uint16(11))
	f.Add([]byte("\x04\x01\x01f\x01v"), uint16(80))
	f.Fuzz(func(t *testing.T, body []byte, version uint16) {
		payload := rdb.SealAs(bytes.Clone(body), 0, int(version))
		_ = Split(payload, Config{MaxString: 1 << 16, MaxPart: 32}, func(part *Entry) error {
			if part.Payload == nil {
				return nil
			}
			if _, _, err := rdb.OpenAny(part.Payload); err != nil {
				t.Errorf("%q: %v", part.Payload, err)
			}
			return nil
		})
	})
}
