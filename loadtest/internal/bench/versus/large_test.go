package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

func TestLargeMeasuresAndCleansUp(t *testing.T) {
	t.Setenv("RINGSIDE_TEST_AS_SERVER", "1")
	jsonFile := filepath.Join(t.TempDir(), "out.json")
	args := small(t, "--large", "3000", "--json", jsonFile)
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &stdout, &stderr)
	}
	checkEmpty(t, args)
	checkWidth(t, stdout.String())
	text, err := os.ReadFile(jsonFile)
	if err != nil {
		t.Fatal(err)
	}
	var rep results
	if err := json.Unmarshal(text, &rep); err != nil {
		t.Fatal(err)
	}
	if rep.Large == nil || rep.Large.Elements != 3000 || len(rep.Large.Deletes) != len(rows.Large) || len(rep.Pairings) != 0 {
		t.Fatalf("the report holds\n%s", text)
	}
	for _, r := range rep.Large.Rows {
		if r.Ratio <= 0 || r.Many.P99 < r.Many.P50 || !strings.Contains(stdout.String(), r.Name) {
			t.Errorf("%+v", r)
		}
	}
}

// A collection is filled with as many elements as it is to have, whatever a batch holds.
func TestLargeCollectionsAreFilled(t *testing.T) {
	f := newFakeStore()
	near, far := net.Pipe()
	defer near.Close()
	go f.serve(far)
	c := cluster.Over(t.Context(), near)
	for i := range rows.Large {
		k := &rows.Large[i]
		if err := k.fill(c, k.Name, 1234, ""); err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		f.mu.Lock()
		if got := f.elements[k.Name]; got != 1234 {
			t.Errorf("%s: %d elements", k.Name, got)
		}
		f.mu.Unlock()
	}
}

func TestScanContinuesFromItsCursor(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	c := cluster.Over(t.Context(), near)
	defer c.Close()
	go func() {
		defer far.Close()
		buf := make([]byte, 256)
		for _, want := range []string{"$1\r\n0\r\n", "$2\r\n17\r\n", "$1\r\n0\r\n"} {
			n, err := far.Read(buf)
			if err != nil || !strings.Contains(string(buf[:n]), want) {
				t.Errorf("%q, %v, without %q", buf[:n], err, want)
			}
			next := "$1\r\n0\r\n"
			if want == "$1\r\n0\r\n" {
				next = "$2\r\n17\r\n"
			}
			_, _ = far.Write([]byte("*2\r\n" + next + "*2\r\n$1\r\na\r\n$1\r\nb\r\n"))
		}
		_, _ = far.Read(buf)
		_, _ = far.Write([]byte("-ERR no\r\n"))
	}()
	p := &prober{c, rand.New(rand.NewPCG(1, 2)), make(map[string]string)}
	scan := rows.Large[0].Probes[1].Request
	for range 3 {
		if err := p.time(newHistogram(), scan, "k", 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.time(newHistogram(), scan, "k", 1); err == nil {
		t.Error("an error is no error")
	}
}
