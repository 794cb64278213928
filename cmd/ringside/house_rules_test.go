package main

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

// goodHouse breaks no rule.
func goodHouse() fstest.MapFS {
	house := fstest.MapFS{}
	put := func(name, text string) { house[name] = &fstest.MapFile{Data: []byte(text)} }
	put("go.mod", "module "+module)
	put(".gitignore", "/bin/\n*.prof\n")
	put("bin/ringside", "")
	put("cpu.prof", "")
	put(".ci/run", "")
	for dir, imports := range map[string]string{
		"ring":                      "bytes time",
		"ring/ringtest":             "testing OURS/ring",
		"ring/ketama":               "crypto/md5 OURS/ring OURS/ring/ringtest",
		"ring/strategy":             "OURS/ring OURS/ring/ketama OURS/buckets",
		"buckets":                   "OURS/ring",
		"store":                     "os OURS/ring github.com/cockroachdb/pebble/v2 OURS/store/internal/wal",
		"store/internal/wal":        "github.com/cockroachdb/pebble/v2/vfs",
		"replica":                   "OURS/ring/strategy OURS/replica/table OURS/replica/members OURS/store",
		"replica/members":           "github.com/hashicorp/serf/serf OURS/ring",
		"replica/table":             "github.com/hashicorp/raft github.com/hashicorp/raft-boltdb/v2",
		"resp":                      "OURS/replica OURS/resp/client OURS/resp/wire",
		"resp/wire":                 "github.com/tidwall/redcon",
		"resp/client":               "net OURS/ring",
		"resp/node":                 "OURS/resp OURS/store OURS/buckets OURS/resp/node/internal/x",
		"resp/node/internal/x":      "OURS/resp/admin",
		"resp/admin":                "net/http",
		"loadtest":                  "OURS/resp/node OURS/loadtest/sim",
		"loadtest/sim":              "OURS/buckets",
		"cmd/ringside":              "OURS/loadtest OURS/cmd/ringside/settings",
		"cmd/ringside/settings":     "os",
		"store/testdata/not/a/rule": "OURS/cmd/ringside",
	} {
		name := dir[strings.LastIndex(dir, "/")+1:]
		if strings.Contains(dir, "testdata") {
			put(dir+"/x.go", goFile(name, imports))
			continue
		}
		put(dir+"/doc.go", "// Package "+name+" has a comment.\npackage "+name)
		put(dir+"/x.go", goFile(name, imports))
		if dir == replyOwner {
			put(dir+"/reader.go", "package wire\nfunc read(b byte) bool { return b == '$' || b == '*' || b == ':' }")
		}
		put(dir+"/x_test.go", goFile(name+"_test", "os OURS/cmd/ringside github.com/tidwall/redcon"))
	}
	return house
}

func goFile(name, imports string) string {
	var b strings.Builder
	b.WriteString("package " + name + "\n")
	for _, i := range strings.Fields(imports) {
		b.WriteString("import _ \"" + strings.Replace(i, "OURS", module, 1) + "\"\n")
	}
	return b.String()
}

func TestHouseCheckerAcceptsAGoodHouse(t *testing.T) {
	broken, err := brokenRules(goodHouse())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range broken {
		t.Error(b)
	}
}

func TestHouseCheckerFindsEachBrokenRule(t *testing.T) {
	imports := func(paths string) string { return goFile("x", paths) }
	const byHand = "package store\nfunc read(b []byte) bool { switch b[0] { case '$', '*': return true }; return b[0] == ':' }"
	for _, tt := range []struct{ file, text, want string }{
		{"store/y_test.go", "package store\n\nfunc TestHopes(t *testing.T) { time.Sleep(1) }", "store/y_test.go: TestHopes sleeps outside virtual time"},
		{"ring/y.go", imports("OURS/store"), "ring/y.go: imports store, which does not lie below it"},
		{"ring/y.go", imports("OURS/ring/ketama"), "ring/y.go: imports ring/ketama, which does not lie below it"},
		{"ring/ketama/y.go", imports("OURS/ring/vnode"), "imports ring/vnode, which does not lie below it"},
		{"ring/ketama/y.go", imports("OURS/ring/strategy"), "imports ring/strategy, which does not lie below it"},
		{"store/y.go", imports("OURS/ring/strategy"), "imports ring/strategy, which does not lie below it"},
		{"ring/strategy/y.go", imports("OURS/replica"), "imports replica, which does not lie below it"},
		{"ring/strategy/y.go", imports("os"), "imports os, but is pure"},
		{"buckets/y.go", imports("OURS/ring/ketama"), "imports ring/ketama, which does not lie below it"},
		{"store/y.go", imports("OURS/buckets"), "imports buckets, which does not lie below it"},
		{"store/y.go", imports("OURS/replica"), "imports replica, which does not lie below it"},
		{"replica/table/y.go", imports("OURS/replica/members"), "imports replica/members, which does not lie below it"},
		{"replica/table/y.go", imports("OURS/replica"), "imports replica, which does not lie below it"},
		{"replica/feed/y.go", imports("OURS/replica"), "imports replica, which does not lie below it"},
		{"replica/lease/y.go", imports("OURS/replica/feed"), "imports replica/feed, which does not lie below it"},
		{"replica/internal/frame/y.go", imports("OURS/replica/stream"), "imports replica/stream, which does not lie below it"},
		{"replica/y.go", imports("OURS/resp"), "imports resp, which does not lie below it"},
		{"resp/y.go", imports("OURS/resp/node"), "imports resp/node, which does not lie below it"},
		{"resp/client/y.go", imports("OURS/loadtest"), "imports loadtest, which does not lie below it"},
		{"resp/node/y.go", imports("OURS/loadtest"), "imports loadtest, which does not lie below it"},
		{"loadtest/y.go", imports("OURS/cmd/ringside/settings"), "imports cmd/ringside/settings, which does not lie below it"},
		{"ring/y.go", imports("os"), "imports os, but is pure"},
		{"ring/vnode/y.go", imports("log/slog"), "imports log/slog, but is pure"},
		{"buckets/y.go", imports("net/http"), "imports net/http, but is pure"},
		{"buckets/y.go", imports("io/fs"), "imports io/fs, but is pure"},
		{"buckets/y.go", "package buckets\nfunc f() { go f() }", "buckets/y.go: starts a goroutine, but is pure"},
		{"buckets/y.go", "package buckets\nimport \"time\"\nvar t = time.Now()", "uses time.Now, but is pure"},
		{"buckets/y.go", "package buckets\nimport clock \"time\"\nvar t = clock.Now", "uses time.Now, but is pure"},
		{"ring/y.go", "package ring\nimport \"fmt\"\nfunc f() { fmt.Println() }", "uses fmt.Println, but is pure"},
		{"ring/y.go", "package ring\nfunc f() { println() }", "uses println, but is pure"},
		{"resp/y.go", imports("github.com/cockroachdb/pebble/v2/vfs"), "imports github.com/cockroachdb/pebble/v2/vfs, which only store does"},
		{"resp/client/y.go", imports("github.com/tidwall/redcon"), "imports github.com/tidwall/redcon, which only resp/wire does"},
		{"store/y.go", imports("github.com/hashicorp/raft-boltdb"), "which only replica/table does"},
		{"replica/y.go", imports("github.com/hashicorp/serf/serf"), "which only replica/members does"},
		{"store/y.go", byHand, "store/y.go: read reads replies by hand: resp/wire does"},
		{"store/y_test.go", byHand, "store/y_test.go: read reads replies by hand: resp/wire does"},
		{"store/new/y.go", imports(""), "store/new: no doc.go with a package comment"},
		{"resp/doc.go", "package resp", "resp: no doc.go with a package comment"},
		{"resp/doc.go", "// Hello.\npackage resp", "resp: no doc.go with a package comment"},
		{"util/doc.go", "// Package util is.\npackage util", "util: no package belongs here"},
		{"main.go", "package main", "main.go: nothing of that name belongs in the root"},
		{"notes/a.md", "", "notes: nothing of that name belongs in the root"},
	} {
		house := goodHouse()
		maps.Copy(house, fstest.MapFS{tt.file: &fstest.MapFile{Data: []byte(tt.text)}})
		broken, err := brokenRules(house)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(broken, "\n"), tt.want) {
			t.Errorf("%s with %q: found %q, not %q", tt.file, tt.text, broken, tt.want)
		}
	}
}

// A library's name is not the beginning of another's.
func TestHouseCheckerKnowsLibrariesApart(t *testing.T) {
	if why := badImport("resp", "github.com/hashicorp/rafter"); why != "" {
		t.Error(why)
	}
	if why := badImport("resp/wire", "github.com/tidwall/redcon"); why != "" {
		t.Error(why)
	}
}

func TestHouseCheckerKnowsSoundSleeps(t *testing.T) {
	for text, want := range map[string]bool{
		"func f() { time.Sleep(1) }":                                        true,
		"func f() { if true { go func() { time.Sleep(1) }() } }":            true,
		"func f() { for !done() { time.Sleep(1) } }":                        false,
		"func f() { for range 3 { time.Sleep(1) } }":                        false,
		"func f() { fakenet.Bubble(t, func() { time.Sleep(1) }) }":          false,
		"func f() { other.Sleep(1) }":                                       false,
		"func f() { for ; !done(); time.Sleep(1) {} }":                      false,
		"func f() { for ; !done(); time.Sleep(1) {} }\n" + "func g() { }":   false,
		"func f() { for range 3 {} }\n" + "func g() { time.Sleep(second) }": true,
	} {
		found, err := unsoundSleeps("store/y_test.go", []byte("package store\n"+text))
		if err != nil || (len(found) > 0) != want {
			t.Errorf("%s: %v, %v", text, found, err)
		}
	}
}
