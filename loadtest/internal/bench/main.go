package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/ringside-kv/ringside/loadtest"
)

// A command measures one thing. flags defines its flags and returns what runs it.
type command struct {
	name, what string
	flags      func(*flag.FlagSet) (run func(context.Context) error)
}

var commands = []command{
	{"backups", "the cost of a backup", backupsFlags},
	{"moving", "the speed at which a joining node gets its share", movingFlags},
	{"pauses", "the time for which keys cannot be written when nodes stop, die and return", pausesFlags},
}

func main() {
	if is, err := beFloor(os.Args[1:]); is {
		exitOn("bare Pebble", err)
		return
	}
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
		exitOn(c.name, err)
		return
	}
	fmt.Fprintln(os.Stderr, "usage: go run ./loadtest/internal/bench COMMAND [flags]")
	for _, c := range commands {
		fmt.Fprintf(os.Stderr, "  %-8s measure %s\n", c.name, c.what)
	}
	os.Exit(2)
}

func exitOn(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}
