package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ringside-kv/ringside/loadtest"
	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/result"
)

const loadtestLong = `Put the same load on each placement strategy while nodes join, leave and die, and compare
how much data moved, how fast, and what clients noticed. No preparation is needed: each
strategy gets its own cluster on this machine, one after the other, with its data in a
temporary directory. With --addr, the load goes to running servers instead.

Each strategy runs the same script, steps separated by semicolons:

  load 200000      that many keys are written before the measurement
  run 8s           clients send the commands of --mix, for 8 seconds
  join             a node joins; also: join 2
  leave            a node hands over its data and leaves; also: leave 2
  kill             a node is killed; also: kill 2
  restart          all killed nodes are started again
  strategy vnode   the cluster switches to vnode; also: strategy vnode vnodes 64
  hotspot 10% 90%  nine tenths of the requests go to a tenth of the keys, on one node
  balance load     the load on nodes is evened once, as by RING BALANCE LOAD ONCE
  balance          clients continue until no data is left to move

Clients run during all steps except load. Every reply is checked (--verify): lost, stale
and corrupt values are counted, and any of them makes the exit code 1.

Figures for --assert. A figure is of the whole run, or of an event if the name of the
event and a dot precede it (join.p99):

`

const loadtestMore = `
Ctrl-C ends a test early. The results so far are shown and written, with exit code 130.`

const loadtestExample = `  ringside loadtest
  ringside loadtest --strategies vnode:4,vnode:128 --rounds 3 --html report.html
  ringside loadtest --script "load 1000000; run 5s; join 2; balance; run 5s" --processes yes
  ringside loadtest --rate 20000 --mix "95 get; 5 set" --choice "zipf 1.2" --assert "p99<5ms, errors=0"
  ringside loadtest --addr 127.0.0.1:6379 --vs redis=127.0.0.1:6380 --rounds 5 --pipeline 16`

func (a *app) loadtestCommand() *cobra.Command {
	o := newLoading()
	set := o.settings()
	cmd := &cobra.Command{
		Use:     "loadtest [flags]",
		Short:   "Compare the placement strategies, or servers, under real load",
		Long:    loadtestLong + assertHelp() + loadtestMore,
		Example: loadtestExample,
	}
	cmd.AddCommand(a.loadtestDiffCommand())
	configure := func(cmd *cobra.Command, rest []string) error {
		faults := parts(set.Load(a.ownArgs(cmd), rest, passwordOnly(a.environ)))
		return errors.Join(append(faults, o.finish(set.Given)...)...)
	}
	readSettings(cmd, set, configure)
	cmd.Flags().BoolVar(&o.wide, "wide", false, "use all of the terminal's width")
	cmd.RunE = func(cmd *cobra.Command, rest []string) error {
		err := configure(cmd, rest)
		outputs, outputErr := openOutputs(o.outputs())
		if err := errors.Join(append(parts(err), parts(outputErr)...)...); err != nil {
			outputs.abandon()
			return err
		}
		ctx, end := loadtest.StopContext(context.Background())
		defer end()
		o.cfg.Version, o.cfg.Command, o.cfg.Settings = versionName(), o.reproduce(cmd), o.chosen(cmd)
		return a.loadtest(ctx, o, outputs, loadtest.Run)
	}
	return cmd
}

// passwordOnly are those variables that a load test takes: the others are of a server, of
// which the environment may be.
func passwordOnly(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		return !strings.HasPrefix(v, envPrefix+"_REQUIREPASS=")
	})
}

// loadtest runs a load test and writes what was asked for.
func (a *app) loadtest(ctx context.Context, o *loading, outputs outputs, run func(context.Context, loadtest.Config) (*result.Report, error)) error {
	show := report.ProgressConfig{Rounds: o.cfg.Rounds}
	if f, ok := a.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		show.Terminal = true
		show.Width, _, _ = term.GetSize(int(f.Fd()))
	}
	progress := report.NewProgress(a.stderr, show)
	o.cfg.Progress = func(states []report.State) { progress.Show(time.Now(), states) }
	o.cfg.Notice = func(text string) { fmt.Fprintln(a.stderr, "warning: "+text) }
	r, err := run(ctx, o.cfg)
	progress.Close()
	if err != nil {
		outputs.abandon()
		hint := ""
		if errors.Is(err, loadtest.ErrInUse) {
			hint = "; --overwrite yes does so"
		}
		fmt.Fprintf(a.stderr, "ringside: %v%s\n", err, hint)
		return errFailed
	}
	faults := outputs.write(a.stdout, func(kind string, w io.Writer) error { return o.write(kind, w, r) })
	if !outputs.toStdout() {
		options := report.TableOptions{Color: colored(a.stdout)}
		if o.wide {
			options.Width = columns(a.stdout)
		}
		faults = append(faults, report.Table(a.stdout, r, options))
	}
	faults = append(faults, o.verdict(r)...)
	if err := errors.Join(faults...); err != nil {
		for _, err := range parts(err) {
			fmt.Fprintf(a.stderr, "ringside: %v\n", err)
		}
		return errFailed
	}
	if r.Interrupted {
		return errStopped
	}
	return nil
}

// verdict is what makes the exit code 1.
func (o *loading) verdict(r *result.Report) (faults []error) {
	for _, c := range r.Contestants {
		for _, run := range c.Runs {
			if run.Failure != "" && !r.Interrupted {
				faults = append(faults, fmt.Errorf("%s, round %d: %s", c.Name, run.Round, run.Failure))
			}
			if k := run.Checked; k != nil && k.Lost+k.Stale+k.Corrupt > 0 {
				faults = append(faults, fmt.Errorf("%s, round %d: answers were wrong: %d lost, %d stale, %d corrupt", c.Name, run.Round, k.Lost, k.Stale, k.Corrupt))
			}
		}
	}
	if !r.Interrupted {
		faults = append(faults, parts(o.assertion.Check(r))...)
	}
	return faults
}

// write renders the report in one form.
func (o *loading) write(kind string, w io.Writer, r *result.Report) error {
	switch kind {
	case "json":
		return report.JSON(w, r)
	case "csv":
		return report.CSV(w, r)
	case "events-csv":
		return report.EventsCSV(w, r)
	case "hdr":
		return report.HDR(w, r)
	case "html":
		return report.HTML(w, r, report.PageOptions{})
	case "markdown":
		return report.Markdown(w, r)
	case "junit":
		return report.JUnit(w, r, o.assertion)
	default:
		return report.Picture(w, r)
	}
}

// loadtestOutputFlags do not change what is measured.
var loadtestOutputFlags = []string{"json", "csv", "events-csv", "hdr", "html", "markdown", "junit", "svg", "assert", "wide"}

// reproduce is the command line that does the same again.
func (o *loading) reproduce(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(loadtestOutputFlags, f.Name) || f.Name == "seed" || f.Name == "requirepass" {
			return
		}
		texts := []string{f.Value.String()}
		if f.Name == "vs" {
			texts = o.vs
		}
		for _, text := range texts {
			words = append(words, "--"+f.Name, quoted(text))
		}
	})
	return strings.Join(append(words, "--seed", strconv.FormatUint(o.cfg.Workload.Seed, 10)), " ")
}

// chosen are all settings with what they are, but for secrets and files that are written.
func (o *loading) chosen(cmd *cobra.Command) (all []result.Setting) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(loadtestOutputFlags, f.Name) || f.Name == "requirepass" || f.Name == "help" {
			return
		}
		one := result.Setting{Name: f.Name, Value: f.Value.String(), Default: !f.Changed}
		switch f.Name {
		case "seed":
			one.Value = strconv.FormatUint(o.cfg.Workload.Seed, 10)
		case "script":
			one.Value = o.script
		case "mix":
			one.Value = o.mix
		case "prefix":
			one.Default = one.Default && !o.cfg.Clear // so that the output names it
		}
		all = append(all, one)
	})
	return all
}

// assertHelp names what can be asserted.
func assertHelp() string {
	const name, cells = 20, 86
	runs, events := report.AssertHelp()
	var b strings.Builder
	seen := make(map[string]bool)
	for _, one := range append(runs, events...) {
		if seen[one[0]] {
			continue
		}
		seen[one[0]] = true
		head := one[0]
		for _, line := range report.Wrap(one[1], cells-name-2, 10) {
			fmt.Fprintf(&b, "  %-*s%s\n", name, head, line)
			head = ""
		}
	}
	return b.String()
}
