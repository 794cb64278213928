package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// The elements of test results as CI services read them.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Seconds  float64     `xml:"time,attr,omitempty"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Seconds float64       `xml:"time,attr,omitempty"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
	}
)

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// failures are one failure; nil of none.
func failures(faults []string) *junitMessage {
	if len(faults) == 0 {
		return nil
	}
	return &junitMessage{strings.Join(faults, "; ")}
}

func writeJUnit(w io.Writer, s junitSuite) error {
	text, err := xml.MarshalIndent(s, "", " ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	if err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	return nil
}

// JUnit writes a load test as test results: that each round of each contestant came to its end with
// right answers, and that each assertion holds.
func JUnit(w io.Writer, r *result.Report, assertion Assertion) error {
	s := junitSuite{Name: "ringside loadtest", Seconds: r.TookSeconds}
	for i := range r.Contestants {
		c := &r.Contestants[i]
		if len(c.Runs) == 0 {
			s.add(junitCase{Class: c.Name, Name: "rounds", Skipped: &junitMessage{"did not run"}})
		}
		for j := range c.Runs {
			run := &c.Runs[j]
			one := junitCase{Class: c.Name, Name: fmt.Sprintf("round %d", run.Round), Seconds: run.All.UntilMS / 1000}
			var faults []string
			if run.Failure != "" {
				faults = append(faults, "did not come to its end: "+oneLine(run.Failure))
			}
			if k := run.Checked; k != nil && k.Lost+k.Stale+k.Corrupt > 0 {
				faults = append(faults, fmt.Sprintf("answers were wrong: %d lost, %d stale, %d corrupt", k.Lost, k.Stale, k.Corrupt))
			}
			one.Failure = failures(faults)
			s.add(one)
		}
	}
	for i := range assertion {
		var faults []string
		for _, fault := range assertion[i].check(r, map[string]bool{}) {
			faults = append(faults, fault.Error())
		}
		s.add(junitCase{Class: "assertions", Name: assertion[i].text, Failure: failures(faults)})
	}
	return writeJUnit(w, s)
}
