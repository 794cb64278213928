package pagetest

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// probe tells how wide the page is, how wide its window, and what sticks out of it outside of
// the boxes that scroll.
const probe = `<script>
addEventListener("load", () => {
const wide = document.documentElement.scrollWidth, seen = document.documentElement.clientWidth;
const out = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > seen + 1 && !e.closest(".scroll, .nodes, svg"));
parent.document.body.setAttribute("data-probe-" + seen, wide + " " + out.length + " " + (out[0] ? out[0].tagName : ""));
});
</script>`

// Widths of what pages are shown on.
const (
	Phone = 390
	Paper = 720 // with the style of what is printed
	Desk  = 1280
)

// Fits fails if a page is wider than the windows it is shown in, in a real browser. The test
// is skipped where there is none, and in short runs.
func Fits(t *testing.T, page string, widths ...int) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip(err)
	}
	page = regexp.MustCompile(`default-src 'none'[^"]*`).ReplaceAllString(page, "default-src * data: 'unsafe-inline'")
	page = strings.Replace(page, "</body>", probe+"</body>", 1)
	// Browsers keep their windows from being as narrow as a phone; frames can be.
	var frames strings.Builder
	for _, width := range widths {
		shown := page
		if width == Paper {
			shown = strings.ReplaceAll(page, "@media print", "@media all")
		}
		fmt.Fprintf(&frames, `<iframe width="%d" height="900" style="border:0" srcdoc="%s"></iframe>`, width, html.EscapeString(shown))
	}
	file := filepath.Join(t.TempDir(), "frames.html")
	if err := os.WriteFile(file, []byte("<!DOCTYPE html><meta charset=utf-8><body>"+frames.String()+"</body>"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file).Output()
	if err != nil {
		t.Skipf("chromium does not run here: %v", err)
	}
	for _, width := range widths {
		m := regexp.MustCompile(fmt.Sprintf(`data-probe-%d="(\d+) (\d+) (\w*)"`, width)).FindSubmatch(out)
		if m == nil {
			t.Fatalf("at %d: no answer in %d bytes", width, len(out))
		}
		if string(m[1]) != strconv.Itoa(width) || string(m[2]) != "0" {
			t.Errorf("at %d: %s wide, %s elements stick out, the first a %s", width, m[1], m[2], m[3])
		}
	}
}
