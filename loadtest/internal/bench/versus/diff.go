package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// diffCommand compares two reports that --json has written, as of two commits:
//
//	versus diff before.json after.json
const diffCommand = "diff"

const diffFormat = "%-34s%6s%7s%7s%9s%8s%7s"

// diffReports prints each workload of either report, with the ratio to Redis and the processor
// time of Ringside in both.
func diffReports(w io.Writer, paths []string) error {
	if len(paths) != 2 {
		return errors.New("diff takes the files of two reports, which --json has written")
	}
	var reports [2]results
	for i, path := range paths {
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, &reports[i])
		}
		if err == nil && len(reports[i].Pairings) == 0 {
			err = errors.New("it has no pairings")
		}
		if err != nil {
			return fmt.Errorf("read report %s: %w", path, err)
		}
	}
	before, after := workloadsOf(reports[0]), workloadsOf(reports[1])
	line := func(cells ...any) { fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf(diffFormat, cells...), " ")) }
	line("", "ratio", "", "", "CPU µs", "", "")
	line("", "before", "after", "", "before", "after", "")
	printed := map[string]bool{}
	for _, rep := range reports {
		for _, p := range rep.Pairings {
			for _, r := range p.Workloads {
				if printed[r.Name] {
					continue
				}
				printed[r.Name] = true
				a, b := before[r.Name], after[r.Name]
				line(r.Name, number(a.ratio()), number(b.ratio()), change(a.ratio(), b.ratio()),
					number(a.cpu()), number(b.cpu()), change(a.cpu(), b.cpu()))
			}
		}
	}
	return nil
}

func workloadsOf(rep results) map[string]*workloadResult {
	all := map[string]*workloadResult{}
	for _, p := range rep.Pairings {
		for i := range p.Workloads {
			all[p.Workloads[i].Name] = &p.Workloads[i]
		}
	}
	return all
}

// ratio is the median ratio to Redis; 0 if there is none.
func (r *workloadResult) ratio() float64 {
	if r == nil || r.Ratio == nil {
		return 0
	}
	return r.Ratio.Median
}

// cpu is the median of Ringside's processor time, in µs an operation; 0 if it is not known.
func (r *workloadResult) cpu() float64 {
	if r == nil {
		return 0
	}
	if s := summary(r.Ringside); s.CPU != nil {
		return *s.CPU
	}
	return 0
}

func number(v float64) string {
	if v == 0 {
		return "-"
	}
	return fixed(v, 2)
}

func change(before, after float64) string {
	if before == 0 || after == 0 {
		return ""
	}
	return fmt.Sprintf("%+.0f%%", (after/before-1)*100)
}
