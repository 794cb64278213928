package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

func TestKeySourceIsReadLineByLine(t *testing.T) {
	long := strings.Repeat("k", MaxKeyLen)
	for _, test := range []struct {
		text string
		want []string // key=size of the value, -1 where none is said
	}{
		{"a\nb\n", []string{"a=-1", "b=-1"}},
		{"a\nb", []string{"a=-1", "b=-1"}},
		{"\n\na\n\n", []string{"a=-1"}},
		{"a\t5\nb\nc\t0\n", []string{"a=5", "b=-1", "c=0"}},
		{"a\nb\t7", []string{"a=-1", "b=7"}},
		{"x\ty\t9\n", []string{"x\ty=9"}},
		{"\t3\n", []string{"=3"}},
		{"\x00\xff\xfe\n \x00 \n", []string{"\x00\xff\xfe=-1", " \x00 =-1"}},
		{"windows\r\n", []string{"windows\r=-1"}},
		{"a\na\n", []string{"a=-1", "a=-1"}},
		{long + "\t536870912\n", []string{long + "=536870912"}},
	} {
		blocks, count, err := readKeys(context.Background(), iotest.OneByteReader(strings.NewReader(test.text)))
		if err != nil {
			t.Errorf("%.40q: %v", test.text, err)
			continue
		}
		var got []string
		for i := range count {
			got = append(got, fmt.Sprintf("%s=%d", blocks[i/blockKeys].key(i%blockKeys), blocks[i/blockKeys].size(i%blockKeys)))
		}
		if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%.40q: %.80q, want %.80q", test.text, got, test.want)
		}
	}
}

func TestKeySourceFaultsNameTheLine(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		text, want string
	}{
		{"a\nb\tx\n", "line 2: "},
		{"a\n\n\nb\t-1", "line 4: "},
		{"a\t\n", "line 1: "},
		{"a\t536870913\n", "line 1: "},
		{"a\t99999999999999999999\n", "line 1: "},
		{"a\n" + strings.Repeat("k", MaxKeyLen+1) + "\n", "line 2: "},
		{"a\n" + strings.Repeat("k", MaxKeyLen+10_000) + "\n", "line 2: "},
		{"", "no keys"},
		{"\n\n", "no keys"},
	} {
		_, _, err := readKeys(context.Background(), strings.NewReader(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: error %v, want %q", test.text, err, test.want)
		}
	}
	_, _, err := readKeys(context.Background(), iotest.ErrReader(broken))
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestKeySourceOfManyBlocks(t *testing.T) {
	var text bytes.Buffer
	for i := range 3*blockKeys + 5 {
		fmt.Fprintf(&text, "key-%d", i)
		if i > blockKeys+10 && i%2 == 0 {
			fmt.Fprintf(&text, "\t%d", i)
		}
		text.WriteByte('\n')
	}
	blocks, count, err := readKeys(context.Background(), &text)
	if err != nil || count != 3*blockKeys+5 {
		t.Fatalf("%d keys, error %v", count, err)
	}
	for i := range count {
		want := -1
		if i > blockKeys+10 && i%2 == 0 {
			want = i
		}
		block := &blocks[i/blockKeys]
		if key := string(block.key(i % blockKeys)); key != fmt.Sprintf("key-%d", i) || block.size(i%blockKeys) != want {
			t.Fatalf("key %d is %q with a value of %d", i, key, block.size(i%blockKeys))
		}
	}
}

func FuzzKeySource(f *testing.F) {
	for _, s := range []string{"a\nb\t3\n", "\t0", "\x00\n\xff\t1\n\n", "a\t-1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		blocks, count, err := readKeys(context.Background(), bytes.NewReader(text))
		if err != nil {
			return
		}
		// What was read, written again, is read alike.
		var again bytes.Buffer
		for i := range count {
			b := &blocks[i/blockKeys]
			again.Write(b.key(i % blockKeys))
			if size := b.size(i % blockKeys); size >= 0 {
				fmt.Fprintf(&again, "\t%d", size)
			}
			again.WriteByte('\n')
		}
		blocks2, count2, err := readKeys(context.Background(), &again)
		if err != nil || count2 != count {
			t.Fatalf("%d keys, then %d: %v", count, count2, err)
		}
		for i := range count {
			a, b := &blocks[i/blockKeys], &blocks2[i/blockKeys]
			if !bytes.Equal(a.key(i%blockKeys), b.key(i%blockKeys)) || a.size(i%blockKeys) != b.size(i%blockKeys) {
				t.Fatalf("key %d differs", i)
			}
		}
	})
}
