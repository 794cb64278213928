package main

import (
	"errors"
	"testing"
)

const csvHead = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"` + "\n"

func TestParseCSV(t *testing.T) {
	want := figures{289855.09, 2.455, 6.135}
	for name, text := range map[string]string{
		"as printed":        csvHead + `"MSET (10 keys)","289855.09","2.478","0.296","2.455","3.455","6.135","7.839"` + "\n",
		"after a warning":   "WARNING: Could not fetch server CONFIG\n" + csvHead + `"GET","289855.09","2.478","0.296","2.455","3.455","6.135","7.839"`,
		"columns elsewhere": "\"test\",\"p99_latency_ms\",\"p50_latency_ms\",\"rps\"\n\"SET\",\"6.135\",\"2.455\",\"289855.09\"\n",
	} {
		if got, err := parseCSV(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestParseCSVRefusesLinesWithoutFigures(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":            "",
		"only the head":      csvHead,
		"before version 6.2": "\"SET\",\"289855.09\"\n",
		"a column missing":   "\"test\",\"rps\"\n\"SET\",\"289855.09\"\n",
	} {
		if _, err := parseCSV(text); !errors.Is(err, errNoCSV) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"not a number": csvHead + `"GET","many","2.478","0.296","2.455","3.455","6.135","7.839"`,
		"no commands":  csvHead + `"GET","0.00","0","0","0","0","0","0"`,
	} {
		if _, err := parseCSV(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
