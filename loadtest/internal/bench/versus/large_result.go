package main

import (
	"fmt"
	"io"
	"strings"
)

const largeFormat = "%-22s%12s%9s%12s%9s%8s"

func largeLine(w io.Writer, cells ...any) {
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf(largeFormat, cells...), " "))
}

func printLargeHead(w io.Writer, n int) {
	fmt.Fprintf(w, "\nCollections of %d elements beside those of %d, one client, no pipeline\n", n, fewElements)
	largeLine(w, "", "p50 ms, few", "p99", "p50, many", "p99", "ratio")
}

func printLargeRow(w io.Writer, r largeRow) {
	largeLine(w, r.Name, fixed(r.Few.P50, 3), fixed(r.Few.P99, 3), fixed(r.Many.P50, 3), fixed(r.Many.P99, 3), fixed(r.Ratio, 2))
}

func printLargeFoot(w io.Writer, r largeResult) {
	var words []string
	for _, d := range r.Deletes {
		words = append(words, fmt.Sprintf("%s %s", d.Kind, fixed(d.Millis, 2)))
	}
	fmt.Fprintln(w)
	wrap(w, "DEL, ms  ", strings.Join(words, ", "))
	wrap(w, "others   ", fmt.Sprintf("SET and GET of small keys: p50 %s ms, p99 %s, at most %s; while all that is purged: p50 %s, p99 %s, at most %s",
		fixed(r.Before.P50, 3), fixed(r.Before.P99, 3), fixed(r.BeforeMost, 2),
		fixed(r.Purge.P50, 3), fixed(r.Purge.P99, 3), fixed(r.PurgeMost, 2)))
}
