package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/node"
)

// configure fills cfg from all sources. Its error joins every fault of the
// sources and every fault of what they make together, each with its place. rest
// is what the flags of cmd have left.
func (a *app) configure(cmd *cobra.Command, set *settings.Set, cfg *node.Config, rest []string) error {
	faults := parts(set.Load(a.ownArgs(cmd), rest, a.environ))
	cfg.FitMemory(a.memoryLimit(cfg).Bytes, set.Given)
	for _, err := range parts(cfg.Validate()) {
		var fault *node.Fault
		if errors.As(err, &fault) {
			err = &settings.Fault{Source: set.Where(fault.Setting), Text: fault.Text}
		}
		faults = append(faults, err)
	}
	if cfg.Addr == node.AddrOff && cfg.UnixSocket == "" && len(cfg.Listeners) == 0 { // clients are other processes
		faults = append(faults, &settings.Fault{Source: set.Where("addr"), Text: "off leaves clients no socket; set unix-socket, or an address"})
	}
	return errors.Join(faults...)
}

// ownArgs is the command line without the names of the commands.
func (a *app) ownArgs(cmd *cobra.Command) []string {
	_, own, err := cmd.Root().Find(a.args)
	if err != nil {
		return nil
	}
	return own
}

// parts takes an error of errors.Join apart, and those in it. What wraps several
// errors with a text of its own stays whole.
func parts(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && err.Error() == errors.Join(joined.Unwrap()...).Error() {
		var all []error
		for _, part := range joined.Unwrap() {
			all = append(all, parts(part)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
