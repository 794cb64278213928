package report

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/ringside-kv/ringside/loadtest/result"
)

// HDR writes a log of histograms as the tools of HdrHistogram read it: one for each
// contestant, round and phase. Its tag is the three of them with / between them, without
// spaces: vnode:128/1/run_8s. Times are seconds since the report began, values are
// microseconds. Phases without a histogram are left out.
func HDR(w io.Writer, r *result.Report) error {
	log := hdrhistogram.NewHistogramLogWriter(w)
	err := errors.Join(
		log.OutputComment("[Logged with ringside "+oneLine(r.Ringside)+"]"),
		log.OutputLogFormatVersion(),
		log.OutputComment("[Values are microseconds, Interval_Max is in seconds. Tags are contestant/round/phase.]"),
		log.OutputStartTime(max(0, r.Began.UnixMilli())), // before 1970 readers do not understand it
		log.OutputLegend(),
	)
	if err != nil {
		return fmt.Errorf("write hdr log: %w", err)
	}
	for c, run := range runs(r) {
		for k := range run.Phases {
			phase := &run.Phases[k]
			h := decoded(&phase.Latency)
			if h == nil {
				continue
			}
			h.SetTag(tag(c.Name) + fmt.Sprintf("/%d/", run.Round) + tag(phase.Name))
			// The log writer turns milliseconds into seconds.
			base := run.Began * 1000
			h.SetStartTimeMs(int64(base + phase.FromMS))
			h.SetEndTimeMs(int64(base + phase.UntilMS))
			if err := log.OutputIntervalHistogram(h); err != nil {
				return fmt.Errorf("write hdr log: %w", err)
			}
		}
	}
	return nil
}

// decoded is the whole distribution; nil if it is not known.
func decoded(l *result.Latency) *hdrhistogram.Histogram {
	h, err := hdrhistogram.Decode([]byte(l.Histogram))
	if err != nil {
		return nil
	}
	return h
}

// tag is a word without what separates the fields of a log.
func tag(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ',' || r == '/' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, s)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
