package main

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/status"
)

// statusOptions are what flags of status say. Those that serve has, too, have the same
// names and variables, so that status finds the node that was started beside it.
type statusOptions struct {
	access
	addr     string
	timeout  time.Duration
	json     bool
	watch    string
	interval time.Duration // of watch; 0: once
}

func defaultStatusOptions() *statusOptions {
	return &statusOptions{addr: "127.0.0.1:6379", timeout: 10 * time.Second}
}

func (o *statusOptions) settings() *settings.Set {
	s := settings.New(envPrefix)
	s.Group("Node")
	s.Add("addr", settings.Text(&o.addr, "host:port"), "where a node of the cluster, any one, serves clients: no host is this one, /path is a Unix socket")
	s.Add("timeout", settings.Duration(&o.timeout), "how long to wait for an answer")

	o.access.add(s)
	for other, name := range map[string]string{
		"host": "addr", "port": "addr", "p": "addr",
	} {
		s.AlsoKnownAs(other, name)
	}
	// The environment may be that of serve.
	s.Exempt(func(string, string) bool { return true })
	return s
}

// resolve reads flags and variables, or joins all that is wrong with them.
func (o *statusOptions) resolve(set *settings.Set, args, rest, environ []string) (*status.Source, error) {
	if o.watch == defaultWatch && len(rest) == 1 {
		if _, err := settings.ParseDuration(rest[0]); err == nil { // --watch 5s
			o.watch, rest = rest[0], nil
		}
	}
	faults := parts(set.Load(args, rest, environ))
	fault := func(flag, format string, args ...any) {
		faults = append(faults, &settings.Fault{Source: set.Where(flag), Text: fmt.Sprintf(format, args...)})
	}
	if o.watch != "" {
		var err error
		if o.interval, err = settings.ParseDuration(o.watch); err != nil {
			faults = append(faults, &settings.Fault{Source: "--watch", Text: err.Error()})
		} else if o.interval < leastWatch {
			faults = append(faults, &settings.Fault{Source: "--watch", Text: fmt.Sprintf("%s is too often: use %v or more", o.watch, leastWatch)})
		}
	}
	if o.timeout <= 0 {
		fault("timeout", "%v leaves no time to answer", o.timeout)
	}
	source := &status.Source{Password: o.password}
	if status.IsPath(o.addr) {
		source.Addr = o.addr
		return source, errors.Join(faults...)
	}
	host, port, err := net.SplitHostPort(o.addr)
	switch {
	case err != nil:
		fault("addr", "%q is neither of the form host:port, such as 127.0.0.1:6379, nor the path of a Unix socket", o.addr)
	case port == "" || port == "0":
		fault("addr", "%q has no port", o.addr)
	case !isPort(port):
		fault("addr", "%q: %q is not a port from 1 to 65535", o.addr, port)
	case host == "":
		host = "127.0.0.1"
	}
	source.Addr = net.JoinHostPort(host, port)
	source.TLS = o.tlsConfig(host, fault)
	return source, errors.Join(faults...)
}
