package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// locate runs ringside locate with what standard input holds.
func locate(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	a := app{args: append([]string{"locate"}, args...), stdin: strings.NewReader(stdin), stdout: &out, stderr: &err}
	code = a.run()
	return code, out.String(), err.String()
}

func TestLocatePrintsTheNodeOfEachKey(t *testing.T) {
	for _, tt := range []struct {
		name, stdin string
		args        []string
		want        string
	}{
		{"arguments", "not read\n", []string{"--strategy", "ketama", "--node", "a", "--node", "b:2", "user:1", "user:2", ""},
			"user:1\tb\nuser:2\ta\n\tb\n"},
		{"flags after keys", "", []string{"user:1", "--node", "b:2", "user:2", "--strategy=ketama", "--node=a"},
			"user:1\tb\nuser:2\ta\n"},
		{"a key like a flag", "", []string{"--strategy", "ketama", "--node", "a", "--backups", "0", "--", "--node", "-v"},
			"--node\ta\n-v\ta\n"},
		{"lines", "user:1\n\nuser:2", []string{"--strategy", "ketama", "--node", "a", "--node", "b:2"},
			"user:1\tb\n\tb\nuser:2\ta\n"},
		{"lines of any bytes", "\x00\xff\r\n\t\n", []string{"--backups", "0", "--node", "a"},
			"\x00\xff\r\ta\n\t\ta\n"},
		{"no lines", "", []string{"--node", "a"}, ""},
		{"only a line feed", "\n", []string{"--node", "a"}, "\ta\n"},
	} {
		if code, stdout, stderr := locate(tt.stdin, tt.args...); code != 0 || stdout != tt.want {
			t.Errorf("%s: exit code %d, %q, want %q\n%s", tt.name, code, stdout, tt.want, stderr)
		}
	}
}

// What is printed is what the packages say, for all strategies.
func TestLocateAgreesWithTheStrategies(t *testing.T) {
	members := []ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 2.5}, {ID: "c:1", Weight: 0.5}}
	var keys []string
	for i := range 200 {
		keys = append(keys, fmt.Sprintf("{user:%d}:%d", i, i))
	}
	for _, tt := range []struct {
		config strategy.Config
		args   []string
	}{
		{strategy.Config{Name: "buckets"}, nil},
		{strategy.Config{Name: "buckets", Mask: 0xFFF}, []string{"--mask", "0x0FFF"}},
		{strategy.Config{Name: "ketama"}, []string{"--strategy", "ketama"}},
		{strategy.Config{Name: "ketama", Points: 40, KetamaRule: "twemproxy"}, []string{"--strategy", "ketama", "--points", "40", "--ketama-rule", "twemproxy"}},
		{strategy.Config{Name: "vnode"}, []string{"--strategy", "vnode"}},
		{strategy.Config{Name: "vnode", VNodes: 100}, []string{"--strategy", "vnode", "--vnodes", "100"}},
		{strategy.Config{Name: "multiprobe", Cells: cells.Settings{Probes: 2}}, []string{"--strategy", "multiprobe", "--probes", "2"}},
	} {
		for _, hash := range strategy.Hashes() {
			tt.config.Hash = hash
			placing, err := tt.config.New()
			if err != nil {
				t.Fatal(err)
			}
			p, err := placing.Desired(ring.Input{Members: members, Backups: 2})
			if err != nil {
				t.Fatal(err)
			}
			want := "key\tnode\ttoken\trange\tbackups\n"
			for _, key := range keys {
				token := placing.Token([]byte(key))
				row := p.Lookup(token)
				want += fmt.Sprintf("%s\t%s\t%08x\t%v\t%s\n", key, row.Primary, uint32(token), row.Range, strings.Join(row.Backups, ","))
			}
			args := append(tt.args, "--hash", hash, "--backups", "2", "--verbose", "--node", "a", "--node", "b:2.5", "--node", "c:1:0.5")
			code, stdout, stderr := locate(strings.Join(keys, "\n"), args...)
			note := ""
			if exact := tt.config.ExactTo(); exact != "" {
				note = "ringside: this is exact to " + exact + "\n"
			}
			if code != 0 || stdout != want || stderr != note {
				t.Errorf("%v: exit code %d\n%.300s\nwant\n%.300s\n%s", args, code, stdout, want, stderr)
			}
		}
	}
}

func TestLocatePins(t *testing.T) {
	const nodes = "--node a --node b "
	for _, tt := range []struct{ args, want string }{
		{"--pin a=0 --pin b=-2147483648", `ringside placement 1
00000001-80000001 epoch=1 primary=a backups=b
80000001-00000001 epoch=1 primary=b backups=a
`},
		{"--pin a=0x0,0x40000000 --pin b=2147483647", `ringside placement 1
00000000-c0000001 epoch=1 primary=a backups=b
c0000001-00000000 epoch=1 primary=b backups=a
`},
		{"--vnodes 1 --pin a=0 --pin b+=-2147483648", `ringside placement 1
00000001-80000001 epoch=1 primary=a backups=b
80000001-00000001 epoch=1 primary=b backups=a
`},
	} {
		args := strings.Fields(nodes + "--strategy vnode --print-placement " + tt.args)
		if code, stdout, stderr := locate("", args...); code != 0 || stdout != tt.want || stderr != "" {
			t.Errorf("%s: exit code %d\n%s\nwant\n%s\n%s", tt.args, code, stdout, tt.want, stderr)
		}
	}
}

func TestLocateByAPlacement(t *testing.T) {
	file := filepath.Join(t.TempDir(), "placement")
	for _, args := range [][]string{
		{"--strategy", "buckets", "--hash", "slot"}, {"--strategy", "ketama", "--hash", "native"}, {"--strategy", "vnode", "--hash", "native"},
	} {
		nodes := append([]string{"--node", "a", "--node", "b", "--node", "c"}, args...)
		_, text, _ := locate("", append(nodes, "--print-placement")...)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, want, _ := locate("x\ny\nz\n", append(nodes, "-v")...)
		code, got, stderr := locate("x\ny\nz\n", append(args, "--placement", file, "-v")...)
		if code != 0 || got != want || stderr != "" {
			t.Errorf("%v: exit code %d\n%s\nwant\n%s\n%s", args, code, got, want, stderr)
		}
		if _, again, _ := locate("", append(args, "--placement", file, "--print-placement")...); again != text {
			t.Errorf("%v: another placement is printed than was read", args)
		}
	}
	if err := os.WriteFile(file, []byte("ringside placement 1\n00000000-00000000 epoch=7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := locate("", "--placement", file, "-v", "x"); code != 0 || !strings.Contains(stdout, "\nx\t\t") {
		t.Errorf("no primary: exit code %d, %q, %s", code, stdout, stderr)
	}
}

func TestLocateReportsIgnoredSettings(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--node a --backups 0", ""},
		{"--node a --node b", ""},
		{"--node a", ""},
		{"--node a --backups 1", "ringside: --backups 1: each copy needs a node of its own; copies kept of each key: 1\n"},
		{"--node a --node b --backups 5", "ringside: --backups 5: each copy needs a node of its own; copies kept of each key: 2\n"},
		{"--strategy ketama --node a:1000 --node b:0.1", "ringside: --node b: has nothing, its share is too small\n"},
	} {
		if code, _, stderr := locate("", append(strings.Fields(tt.args), "key")...); code != 0 || stderr != tt.want {
			t.Errorf("%s: exit code %d, %q", tt.args, code, stderr)
		}
	}
}

func TestLocateReportsEveryFaultAtOnce(t *testing.T) {
	code, stdout, stderr := locate("", "--foo", "3", "--strategy", "vnode", "--points", "x", "--mask", "00F0", "--vnodes", "0", "--hash", "q",
		"--node", "a", "--node", "a", "--node", "b:x", "--node", "c d:1", "--backups", "-1", "--pin", "x", "--pin", "a=1,z", "--print-placement", "key")
	const want = `ringside: --foo: no such flag
ringside: --points: "x" is not a whole number
ringside: --mask: belongs to strategy buckets, not to vnode
ringside: --points: belongs to strategy ketama, not to vnode
ringside: --print-placement: takes no keys
ringside: --mask: bad mask: mask 00F0 is not a run of ones from the lowest bit, as in 00FF
ringside: --vnodes: 0 leaves no point
ringside: --hash: unknown hash: "q": use native, fnv1a, md5, murmur3 or slot
ringside: --node: bad weight: "b:x": "x" is not a number
ringside: --node: bad node id: "c d" contains ' '; commas, spaces and what cannot be printed are not allowed
ringside: --node: duplicate node: "a"
ringside: --backups: bad number of backups: -1 is negative
ringside: --pin: bad pin: "x" is neither node=hash,… nor node+=hash,…
ringside: --pin: bad pin: "z" is not a hash: a hash is a number from -2147483648 to 4294967295 or from 0x0 to 0xffffffff
See 'ringside locate --help'.
`
	if code != 2 || stdout != "" || stderr != want {
		t.Errorf("exit code %d, %q\ngot\n%s\nwant\n%s", code, stdout, stderr, want)
	}
}

func TestLocateFaults(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("ringside placement 1\n00000000-80000000 epoch=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"key", "--node: missing"},
		{"--strategy ketma --node a --points 40", `--strategy: unknown strategy: "ketma": use buckets, ketama, vnode, anchor, bounded, jump, lrh, maglev, memento, multiprobe or rendezvous`},
		{"--node a:0", "--node: bad weight"},
		{"--node a:-1", "--node: bad weight"},
		{"--node a:NaN", "--node: bad weight"},
		{"--node a:+Inf", "--node: bad weight"},
		{"--node a:1e999", "--node: bad weight"},
		{"--node 10.0.1.1:11211", "an id with a colon needs its weight too: 10.0.1.1:11211:1"},
		{"--node :1", "--node: bad node id: it is empty"},
		{"--node a,b", "--node: bad node id"},
		{"--node a --node b --node a:2", `--node: duplicate node: "a"`},
		{"--node a --mask 0", "--mask: bad mask"},
		{"--node a --mask 00F0", "--mask: bad mask"},
		{"--node a --mask xyz", "--mask: bad mask"},
		{"--node a --mask 1FFFF", "--mask: bad mask"},
		{"--node a --mask FFFF --hash slot", "--mask: bad mask"},
		{"--node a --strategy ketama --points 41", "--points: bad number of points: 41"},
		{"--node a --strategy ketama --points 0", "--points: 0 leaves no point"},
		{"--node a --strategy ketama --points -4", "--points: bad number of points: -4"},
		{"--node a --strategy ketama --points 99999999999999999999", "--points: \"99999999999999999999\" is too large a number"},
		{"--node a --strategy ketama --ketama-rule x", "--ketama-rule: unknown ketama rule: \"x\": use libketama or twemproxy"},
		{"--node a --strategy ketama --vnodes 4", "--vnodes: belongs to strategy vnode, not to ketama"},
		{"--node a --strategy ketama --pin a=1", "--pin: belongs to strategy vnode, not to ketama"},
		{"--node a --strategy ketama --slack 0.2", "--slack: belongs to strategy bounded, not to ketama"},
		{"--node a --strategy bounded --slack 11", "--slack: bad slack: 11 is not from 0.001 to 10"},
		{"--node a --strategy multiprobe --probes 0", "--probes: bad setting: \"0\" is not a whole number above 0"},
		{"--node a --strategy lrh --candidates 257", "--candidates: bad number of candidates: 257"},
		{"--node a --strategy vnode --vnodes 65537", "--vnodes: bad number of virtual nodes"},
		{"--node a:1000 --strategy vnode --vnodes 66", "--node: too many points"},
		{"--node a --strategy vnode --pin b=1", `--pin: bad pin: there is no node "b"`},
		{"--node a --strategy vnode --pin a=1 --pin a+=2", "--pin: bad pin: points of \"a\" both"},
		{"--node a --strategy vnode --pin a=", "--pin: bad pin"},
		{"--node a --strategy vnode --pin a=4294967296", "--pin: bad pin"},
		{"--node a --backups x", "--backups: \"x\" is not a whole number"},
		{"--node a --nod b", "--nod: no such flag; did you mean --node?"},
		{"--node a --verbose=perhaps", "--verbose"},
		{"--node", "flag needs an argument: --node"},
		{"--node a --placement " + broken, "--node: has no meaning beside --placement"},
		{"--placement " + broken, "--placement: " + broken + ": ranges do not tile the circle"},
		{"--placement " + dir, "--placement: read " + dir},
		{"--placement " + dir + "/none", "--placement: open " + dir + "/none"},
	} {
		code, stdout, stderr := locate("", strings.Fields(tt.args)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, tt.want) || !strings.HasSuffix(stderr, "See 'ringside locate --help'.\n") {
			t.Errorf("%s: exit code %d, %q, no %q in\n%s", tt.args, code, stdout, tt.want, stderr)
		}
	}
}

func TestLocateLongLines(t *testing.T) {
	longest := strings.Repeat("k", 64<<10)
	for _, end := range []string{"", "\n", "\nmore\n"} {
		if code, stdout, stderr := locate("a\n"+longest+end, "--node", "n", "--backups", "0"); code != 0 || !strings.Contains(stdout, longest+"\tn\n") {
			t.Errorf("the longest key: exit code %d, %d bytes, %s", code, len(stdout), stderr)
		}
		code, stdout, stderr := locate("a\n"+longest+"k"+end, "--node", "n", "--backups", "0")
		if code != 1 || stdout != "a\tn\n" || stderr != "ringside: standard input: line 2 is longer than 65536 bytes, the longest key\n" {
			t.Errorf("a longer one: exit code %d, %.100q, %s", code, stdout, stderr)
		}
	}
}

func TestLocateReportsFailuresOfItsStreams(t *testing.T) {
	run := func(in io.Reader, out io.Writer) (int, string) {
		var stderr bytes.Buffer
		a := app{args: []string{"locate", "--node", "n", "--backups", "0"}, stdin: in, stdout: out, stderr: &stderr}
		return a.run(), stderr.String()
	}
	in := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(errors.New("cable cut")))
	var out bytes.Buffer
	if code, stderr := run(in, &out); code != 1 || out.String() != "a\tn\n" || stderr != "ringside: standard input: line 2: cable cut\n" {
		t.Errorf("reading: exit code %d, %q, %q", code, out.String(), stderr)
	}
	if code, stderr := run(strings.NewReader("a\n"), failingWriter{errors.New("disk full")}); code != 1 || stderr != "ringside: disk full\n" {
		t.Errorf("writing: exit code %d, %q", code, stderr)
	}
	if code, stderr := run(strings.NewReader("a\n"), failingWriter{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}}); code != 0 || stderr != "" {
		t.Errorf("to nobody: exit code %d, %q", code, stderr)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// A line that has come is answered though the next one has not.
func TestLocateAnswersWhileItWaits(t *testing.T) {
	in, question := io.Pipe()
	answer, out := io.Pipe()
	a := app{args: []string{"locate", "--node", "n", "--backups", "0"}, stdin: in, stdout: out, stderr: io.Discard}
	done := make(chan int)
	go func() { done <- a.run() }()
	for _, key := range []string{"a", "b"} {
		fmt.Fprintln(question, key)
		got := make([]byte, 4)
		if _, err := io.ReadFull(answer, got); err != nil || string(got) != key+"\tn\n" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	question.Close()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestProcessLocateEndsQuietlyWithItsReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close() // so that the first write finds nobody
	defer w.Close()
	var stderr bytes.Buffer
	cmd := exec.Command(os.Args[0], "locate", "--node", "n", "--backups", "0", "key")
	cmd.Env = append(os.Environ(), "RINGSIDE_TEST_AS_COMMAND=1")
	cmd.Stdout, cmd.Stderr = w, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v\n%s", err, &stderr)
	}
}

func TestLocateHelpAndCompletion(t *testing.T) {
	code, stdout, _ := locate("", "--help")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"Examples:", "--strategy buckets|ketama|vnode|anchor|bounded|jump|lrh|maglev|memento|multiprobe|rendezvous", "--ketama-rule libketama|twemproxy", "--print-placement", "without --placement", "(default 160)"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for flag, want := range map[string][]string{
		"--strategy": strategy.Names(), "--hash": strategy.Hashes(), "--ketama-rule": strategy.KetamaRules(),
	} {
		_, stdout, _ := ringside(nil, "__complete", "locate", flag, "")
		for _, word := range want {
			if !strings.Contains("\n"+stdout, "\n"+word+"\n") {
				t.Errorf("%s does not offer %s: %q", flag, word, stdout)
			}
		}
	}
}

func FuzzLocateFlags(f *testing.F) {
	f.Add("vnode", "native", "a:1", "a=1,-2", "00FF", "key")
	f.Add("ketama", "slot", "10.0.1.1:11211:0.5", "", "", "{a}b")
	f.Add("buckets", "native", "b", "", "0x0FFF", "\x00\xff")
	f.Fuzz(func(t *testing.T, name, hash, node, pin, mask, key string) {
		args := []string{"--strategy=" + name, "--hash=" + hash, "--node=" + node, "--node=z"}
		if pin != "" {
			args = append(args, "--pin="+pin)
		}
		if mask != "" {
			args = append(args, "--mask="+mask)
		}
		code, stdout, stderr := locate("", append(args, "--", key)...)
		switch {
		case code == 2 && stdout == "" && stderr != "":
		case code == 0 && strings.HasPrefix(stdout, key+"\t"):
		default:
			t.Fatalf("%q %q: exit code %d, %q, %q", args, key, code, stdout, stderr)
		}
	})
}
