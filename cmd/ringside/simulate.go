package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ringside-kv/ringside/loadtest"
	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

const simulateLong = `Show what each placement strategy costs when nodes come and go: how many keys move
and how even the load is. No server is started and nothing is stored; keys are only
counted.

Every contender goes through the same scenario, events with semicolons between them:

  add                  one node joins (add 8: eight join, one a step; add 8 at once)
  remove               one leaves and hands over what it has (remove 3; remove 90% at once)
  strategy ketama      all strategies switch (strategy ketama points 40), yardsticks stay
  restore              all that left or crashed are back, at once
  weight 2             a node gets the weight 2 (weight node-3 2: this one)
  crash                a node dies, and its copies with it (crash 2; crash 10%)
  shuffle 20           twenty steps, in each of which a node joins or leaves

--order selects the nodes that leave, crash or change: at random, or the last or first
that joined. mod (hash mod n) can only be simulated, as can an algorithm with /key behind its
name (rendezvous/key): it is asked for each key, as in its paper, instead of for 16,384 cells.

For each step, a table has a line for each contender and these columns:

`

const simulateMore = `
With --csv DIR, the algorithms are measured by themselves, as the SUPSI benchmark of consistent
hashing does: how even the load is, also after random joins and leaves, what moves when a part of
the nodes is removed and restored, bytes of memory, and the times of a look-up, of the start and
of a change. The files have the names and first columns of that benchmark's results.

Ctrl-C ends a simulation early. The results so far are shown and written, with
exit code 130. Files are opened before it begins.`

const simulateExample = `  ringside simulate
  ringside simulate --scenario "add 5; remove 90% at once; restore" --seed 7
  ringside simulate --strategies buckets,vnode:4,vnode:128 --nodes 100 --keys 10m
  ringside simulate --node a --node b:2 --node c --scenario "weight c 2; crash"
  ringside simulate --keys-file keys.txt --html report.html --csv -
  ringside simulate --serve
  ringside simulate --strategies ketama,maglev,lrh/key --nodes 10,1000 --csv results`

func (a *app) simulateCommand() *cobra.Command {
	o := newSimulation()
	set := o.settings()
	cmd := &cobra.Command{
		Use:     "simulate [flags]",
		Short:   "Show what each placement strategy costs, without a server",
		Long:    simulateLong + glossary() + simulateMore,
		Example: simulateExample,
	}
	configure := func(cmd *cobra.Command, rest []string) error {
		faults := parts(set.Load(a.ownArgs(cmd), rest, nil))
		faults = append(faults, o.finish(set.Given)...)
		return errors.Join(append(faults, o.openInput(cmd.InOrStdin()))...)
	}
	readSettings(cmd, set, configure)
	cmd.Flags().BoolVar(&o.wide, "wide", false, "print more columns than fit in 80")
	cmd.Flags().Lookup("serve").NoOptDefVal = serveAddr
	cmd.RunE = func(cmd *cobra.Command, rest []string) error {
		defer o.closeInput()
		if f := cmd.Flags().Lookup("serve"); f.Changed && f.Value.String() == serveAddr && len(rest) == 1 {
			_ = f.Value.Set(rest[0]) // --serve addr, without "="
			rest = nil
		}
		err := configure(cmd, rest)
		if o.csvDir() {
			if err != nil {
				return err
			}
			ctx, end := loadtest.StopContext(context.Background())
			defer end()
			return a.runBenchmark(ctx, o)
		}
		if o.serve != "" && err == nil {
			ctx, end := loadtest.StopContext(context.Background())
			defer end()
			return a.serveSimulation(ctx, o, cmd)
		}
		outputs, outputErr := openOutputs(o.outputs())
		if err := errors.Join(append(parts(err), parts(outputErr)...)...); err != nil {
			outputs.abandon()
			return err
		}
		ctx, end := loadtest.StopContext(context.Background())
		defer end()
		o.command = o.reproduce(cmd)
		return a.simulate(ctx, o, outputs, sim.Run)
	}
	return cmd
}

// simulate runs a simulation and writes what was asked for.
func (a *app) simulate(ctx context.Context, o *simulation, outputs outputs, run func(context.Context, sim.Config) (*sim.Report, error)) error {
	if n := len(o.cfg.Members); o.cfg.Backups >= n {
		fmt.Fprintf(a.stderr, "ringside: --backups %d needs more than %s: %s kept as long as no node is added\n",
			o.cfg.Backups, counted(n, "node", "nodes"), counted(n, "copy of each key is", "copies of each key are"))
	}
	bar := newBar(a.stderr)
	o.cfg.Progress = bar.show
	r, err := run(ctx, o.cfg)
	bar.clear()
	if err != nil {
		outputs.abandon()
		fmt.Fprintf(a.stderr, "ringside: simulate: %v\n", err)
		return errFailed
	}
	faults := outputs.write(a.stdout, func(kind string, w io.Writer) error { return o.write(kind, w, r) })
	if !outputs.toStdout() {
		faults = append(faults, report.SimulationTable(a.stdout, r, report.TableOptions{Width: columns(a.stdout), Wide: o.wide}))
	} else {
		fmt.Fprintf(a.stderr, "ringside: seed %d\n", r.Settings.Seed)
	}
	if err := errors.Join(faults...); err != nil {
		for _, err := range parts(err) {
			fmt.Fprintf(a.stderr, "ringside: %v\n", err)
		}
		return errFailed
	}
	if r.Stopped {
		return errStopped
	}
	return nil
}

// write renders the report in one form.
func (o *simulation) write(kind string, w io.Writer, r *sim.Report) error {
	switch kind {
	case "json":
		return report.SimulationJSON(w, r)
	case "csv":
		return report.SimulationCSV(w, r)
	case "html":
		return report.SimulationHTML(w, r, report.PageOptions{Command: o.command, Version: versionName()})
	case "markdown":
		return report.SimulationMarkdown(w, r)
	default:
		return report.SimulationPicture(w, r)
	}
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// columns is the width of a terminal, 80 for everything else.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 80
}

// colored tells whether what is written may have colours.
func colored(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == ""
}

func machine() string {
	name := strings.TrimSpace(cpuid.CPU.BrandName)
	if name == "" {
		name = runtime.GOARCH
	}
	return fmt.Sprintf("%s, %s", name, counted(runtime.NumCPU(), "core", "cores"))
}

func glossary() string {
	var b strings.Builder
	if err := report.WriteSimulationGlossary(&b, 98); err != nil {
		panic(err) // writing to memory
	}
	return b.String()
}
