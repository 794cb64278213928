package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/result"
)

const loadtestDiffLong = `Compare two results of loadtest --json, contestant by contestant, such as those of two
commits on one machine.

A figure is better or worse if the spreads of its rounds do not touch and the medians differ
by more than the tolerance. With a single round it is undecided, but a lost, stale, corrupt
or unread value is worse than none. Spreads of few rounds miss each other by chance now and then:
give both tests --rounds 5 or more.

The exit code is 0 if nothing is worse, 1 if something is, and 2 if the files cannot be compared.`

func (a *app) loadtestDiffCommand() *cobra.Command {
	tolerance, markdown, junit := "10%", "", ""
	cmd := &cobra.Command{
		Use:     "diff before.json after.json",
		Short:   "Compare two results, with an exit code for CI",
		Long:    loadtestDiffLong,
		Example: "  ringside loadtest diff main.json branch.json --markdown summary.md --junit results.xml",
		Args:    cobra.ExactArgs(2),
	}
	cmd.Flags().StringVar(&tolerance, "tolerance", tolerance, "difference of medians that does not count, in percent")
	cmd.Flags().StringVar(&markdown, "markdown", "", "write the comparison as a table for a summary; - is standard output")
	cmd.Flags().StringVar(&junit, "junit", "", "write it as test results for CI; - is standard output")
	// Those of loadtest know its own flags only.
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return err })
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprintf(cmd.OutOrStderr(), "Usage:\n  %s\n\nFlags:\n%s", cmd.UseLine(), cmd.LocalFlags().FlagUsages())
		return err
	})
	cmd.RunE = func(_ *cobra.Command, files []string) error {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(tolerance, "%"), 64)
		if err != nil || !(percent >= 0 && percent <= 1000) {
			return fmt.Errorf("--tolerance: %.40q is not a number of percent, as in 10%%", tolerance)
		}
		var wanted []output
		for _, o := range []output{{kind: "markdown", path: markdown}, {kind: "junit", path: junit}} {
			if o.path != "" {
				wanted = append(wanted, o)
			}
		}
		before, err1 := readReport(files[0])
		after, err2 := readReport(files[1])
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		c, err := report.Compare(before, after, percent/100)
		if err != nil {
			return err
		}
		outputs, err := openOutputs(wanted)
		if err != nil {
			outputs.abandon()
			return err
		}
		faults := outputs.write(a.stdout, func(kind string, w io.Writer) error {
			if kind == "junit" {
				return c.JUnit(w)
			}
			return c.Markdown(w)
		})
		if !outputs.toStdout() {
			faults = append(faults, c.Table(a.stdout))
		}
		if err := errors.Join(faults...); err != nil {
			return err
		}
		if c.Worse() {
			return errFailed
		}
		return nil
	}
	return cmd
}

func readReport(path string) (*result.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := report.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
