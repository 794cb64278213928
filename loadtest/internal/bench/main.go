package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/ringside-kv/ringside/loadtest"
)

// A command measures what it says, or is a process of another command. flags defines its flags and
// returns what runs it.
type command struct {
	name, what string
	flags      func(*flag.FlagSet) (run func(context.Context) error)
}

var commands = []command{
	{"backups", "the cost of a backup", backupsFlags},
	{"moving", "the speed at which a joining node gets its share", movingFlags},
	{"pauses", "the time for which keys cannot be written when nodes stop, die and return", pausesFlags},
	{"evicting", "how long writers wait while keys are evicted", evictingFlags},
	{"floor", "", floorFlags},
}

func main() {
	for _, c := range commands {
		if len(os.Args) < 2 || os.Args[1] != c.name {
			continue
		}
		f := flag.NewFlagSet(c.name, flag.ExitOnError)
		run := c.flags(f)
		_ = f.Parse(os.Args[2:]) // a fault ends the process
		ctx, end := loadtest.StopContext(context.Background())
		err := run(ctx)
		end()
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
			os.Exit(1)
		}
		return
	}
	fmt.Fprintln(os.Stderr, "usage: go run ./loadtest/internal/bench COMMAND [flags]")
	for _, c := range commands {
		if c.what != "" {
			fmt.Fprintf(os.Stderr, "  %-8s measure %s\n", c.name, c.what)
		}
	}
	os.Exit(2)
}
