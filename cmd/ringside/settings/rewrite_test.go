package settings

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rewrite gives settings of a file new values and returns what it holds afterwards.
func rewrite(t *testing.T, text string, values, initial map[string]string) string {
	t.Helper()
	path := yamlFile(t, text)
	if _, err := newDemo().set.Rewrite(path, values, initial); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(after)
}

func TestRewriteChangesOnlyTheLinesOfItsSettings(t *testing.T) {
	const text = `# What this is.

addr: "here" # where
# How many.
max-clients:   10    # for now

# The rest.
other-program: [1, 2]
`
	// Lists are another program's; they make the file no file of settings, which Rewrite refuses.
	path := yamlFile(t, text)
	if _, err := newDemo().set.Rewrite(path, map[string]string{"max-clients": "20"}, nil); err == nil {
		t.Error("a list in the file was accepted")
	}
	const flat = `# What this is.

addr: "here" # where
# How many.
max-clients:   10    # for now

# The rest.
foreign: 'stays'
requirepass: |
  two
  lines
# The end.
`
	values := map[string]string{"max-clients": "20", "addr": "here", "cache": "2097152", "idle-timeout": "1m0s", "requirepass": "one", "fast-mode": "yes", "nosuch": "1"}
	initial := map[string]string{"cache": "1mb", "idle-timeout": "1m", "fast-mode": "yes"}
	want := `# What this is.

addr: "here" # where
# How many.
max-clients: 20 # for now

# The rest.
foreign: 'stays'
requirepass: one
# The end.
cache: 2mb
`
	if got := rewrite(t, flat, values, initial); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Once more changes nothing, and what is set back is written.
	if got := rewrite(t, want, values, initial); got != want {
		t.Errorf("the second time\n%s", got)
	}
	values["cache"] = "1mb"
	if got := rewrite(t, want, values, initial); got != strings.Replace(want, "2mb", "1mb", 1) {
		t.Errorf("set back\n%s", got)
	}
}

func TestRewriteKeepsTextsThatLookLikeYAML(t *testing.T) {
	for _, text := range []string{
		"", "no", "yes", "0123", "1e3", "null", "~", "a: b", "x # y", "# x", " x ", "- a", "[a]", "{a: b}", "&a", "*a", "!a", "%a", "@a", "`a`", "'", `"`, `\`, "a\nb", "a\nb\n", "\n", "  a\nb", "a\n\n# b\n", "é\x01", "\t", "|", ">",
	} {
		for _, file := range []string{"", "# x\n", "requirepass: old # c", "  addr: x\n  requirepass: |\n    a\n\n    b\n  # end\n", "requirepass: \"a\n  b\"\naddr: x\n", "requirepass: a\n  b\n\n# c\naddr: x", "---\nrequirepass: x\n"} {
			after := rewrite(t, file, map[string]string{"requirepass": text}, map[string]string{"requirepass": "other"})
			d := newDemo()
			if err := d.load([]string{"--config", yamlFile(t, after)}); err != nil || d.pass != text {
				t.Errorf("%q in %q: %q, %v, from %q", text, file, d.pass, err, after)
			}
			if strings.Count(after, "#") < strings.Count(file, "#") {
				t.Errorf("%q in %q lost a comment: %q", text, file, after)
			}
		}
	}
}

func TestRewriteOfFlowMapIsRefused(t *testing.T) {
	path := yamlFile(t, "{addr: x, requirepass: y}")
	if _, err := newDemo().set.Rewrite(path, map[string]string{"requirepass": "z"}, nil); err == nil {
		t.Error("accepted")
	}
	if after, _ := os.ReadFile(path); string(after) != "{addr: x, requirepass: y}" {
		t.Errorf("the file is %q", after)
	}
}

func TestRewriteKeepsLinkAndPermissions(t *testing.T) {
	path := yamlFile(t, "addr: x\n")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := newDemo().set.Rewrite(link, map[string]string{"addr": "y"}, nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

func TestRewriteOfMissingFileFails(t *testing.T) {
	if _, err := newDemo().set.Rewrite(filepath.Join(t.TempDir(), "no"), nil, nil); err == nil {
		t.Error("no error")
	}
}

// Whatever a file holds: it is changed to hold the new values and all old ones, with every comment, or
// it is refused.
func FuzzRewrite(f *testing.F) {
	for _, text := range []string{"addr: x", "a: b # c\nrequirepass: |\n  x\n  y\n# d\n", "? addr\n: x\n", "&a addr: &b x\nrequirepass: *b", "requirepass: >-\n  a\n\n  b\n\ncache: 1mb", "{addr: x}", "--- \naddr: x\n...\n", "addr: 'x''y'\r\nrequirepass: x\r\n"} {
		f.Add([]byte(text), "new")
	}
	names := newDemo().set.names()
	f.Fuzz(func(t *testing.T, text []byte, value string) {
		before, err := flatYAML(text)
		if err != nil {
			return
		}
		next := map[string]string{"requirepass": value, "cache": "2mb"}
		after, err := editYAML(text, names, next)
		if err != nil {
			return
		}
		maps.Copy(before, next)
		if got, err := flatYAML(after); err != nil || !maps.Equal(got, before) || !keepsComments(text, after) {
			t.Fatalf("%q became %q", text, after)
		}
	})
}
