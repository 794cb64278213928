package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// verdict is a load test in one sentence: whether data was lost, which contestant moved about the least for an
// even load, and whether pauses differ.
func verdict(r *result.Report) string {
	if len(r.Contestants) == 0 {
		return "Nothing was tested."
	}
	parts := []string{safety(r)}
	all := rows(r, nil)
	for _, one := range []struct{ key, best, alike, single string }{
		{"moved/least", "closest to the least possible movement: %s", "all moved about the least possible (%s)", "moved ÷ the least possible: %s"},
		{"pause", "shortest pauses: %s", "pauses do not differ beyond their spread (%s)", "longest pause: %s"},
	} {
		if i := slices.IndexFunc(all, func(line row) bool { return line.figure.Key == one.key }); i >= 0 {
			parts = append(parts, compared(r, all[i], one.best, one.alike, one.single))
		}
	}
	text := strings.Join(nonEmpty(parts...), "; ")
	if len(r.Contestants) > 1 && r.Rounds == 1 {
		text += "; with one round, differences may be chance"
	}
	return text + "."
}

// compared names the best contestants of a row, or the figures of all.
func compared(r *result.Report, line row, best, alike, single string) string {
	var marked, each []string
	known := 0
	for i, v := range line.values {
		if v.rounds == 0 {
			continue
		}
		known++
		text := v.text(line.figure.Unit)
		if len(line.values) > 1 {
			text = shortName(&r.Contestants[i]) + " " + text
		}
		if spread := v.spread(line.figure.Unit); spread != "" {
			text += " (" + spread + ")"
		}
		each = append(each, text)
		if line.best[i] {
			marked = append(marked, text)
		}
	}
	format, list := single, each
	switch {
	case known == 0:
		return ""
	case len(marked) > 0:
		format, list = best, marked
	case known > 1 && r.Rounds > 1:
		format = alike
	}
	if len(list) > 4 {
		list = append(list[:4:4], fmt.Sprintf("and %d more", len(list)-4))
	}
	return fmt.Sprintf(format, strings.Join(list, ", "))
}

// safety says whether replies were right.
func safety(r *result.Report) string {
	checked, failed := 0, 0
	var wrong []string
	for i := range r.Contestants {
		bad := int64(0)
		for _, run := range r.Contestants[i].Runs {
			if k := run.Checked; k != nil {
				checked++
				bad += k.Lost + k.Stale + k.Corrupt
			}
			if run.Failure != "" {
				failed++
			}
		}
		if bad > 0 {
			wrong = append(wrong, shortName(&r.Contestants[i])+" "+Count(bad))
		}
	}
	text := "No acknowledged write was lost and no answer was wrong"
	switch {
	case len(wrong) > 0:
		text = "Answers were wrong: " + strings.Join(wrong, ", ")
	case checked == 0:
		text = "Answers were not checked"
	}
	if failed > 0 {
		text = Plural(failed, "run") + " did not come to the end; " + strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// cards are the three figures at the top of the page, with their spread.
func cards(r *result.Report) []card {
	var all []card
	for _, one := range []struct{ key, title string }{{"lost", "lost"}, {"moved/least", "moved ÷ least possible"}, {"pause", "longest pause"}} {
		f := figureNamed(lists().Run, one.key)
		all = append(all, card{Title: one.title, Help: f.Help, Values: valueCells(newRow(r, f, nil))})
	}
	return all
}
