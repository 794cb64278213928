package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// diffCommand compares two reports that --json has written, as of two commits:
//
//	versus diff before.json after.json
const diffCommand = "diff"

var diffTable = table{format: "%-34s%6s%7s%7s%9s%8s%7s"}

// diffReports prints each workload of either report, with the ratio to Redis and the processor
// time of Ringside in both.
func diffReports(w io.Writer, paths []string) error {
	if len(paths) != 2 {
		return errors.New("diff takes the files of two reports, which --json has written")
	}
	var names []string // of the workloads, in their order
	found := make(map[string]*[2]workloadResult)
	for i, path := range paths {
		var rep results
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, &rep)
		}
		if err == nil && len(rep.Pairings) == 0 {
			err = errors.New("it has no pairings")
		}
		if err != nil {
			return fmt.Errorf("read report %s: %w", path, err)
		}
		for _, p := range rep.Pairings {
			for _, r := range p.Workloads {
				if found[r.Name] == nil {
					names, found[r.Name] = append(names, r.Name), new([2]workloadResult)
				}
				found[r.Name][i] = r
			}
		}
	}
	diffTable.row(w, "", "ratio", "", "", "CPU µs", "", "")
	diffTable.row(w, "", "before", "after", "", "before", "after", "")
	for _, name := range names {
		cells := []any{name}
		for _, figure := range []func(*workloadResult) float64{medianRatio, medianCPU} {
			before, after := figure(&found[name][0]), figure(&found[name][1])
			change := ""
			if before != 0 && after != 0 {
				change = fmt.Sprintf("%+.0f%%", (after/before-1)*100)
			}
			cells = append(cells, known(before), known(after), change)
		}
		diffTable.row(w, cells...)
	}
	return nil
}

// medianRatio is that to Redis; 0 if it is not known.
func medianRatio(r *workloadResult) float64 {
	if r.Ratio == nil {
		return 0
	}
	return r.Ratio.Median
}

// medianCPU is Ringside's processor time, in µs an operation; 0 if it is not known.
func medianCPU(r *workloadResult) float64 {
	if cpu := summary(r.Ringside).CPU; cpu != nil {
		return *cpu
	}
	return 0
}

func known(v float64) string {
	if v == 0 {
		return "-"
	}
	return fixed(v, 2)
}
