package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/importer"
)

// importOptions are what flags of import say.
type importOptions struct {
	access
	rdb       string
	to        []string
	databases []string
	config    importer.Config
}

func (o *importOptions) settings() *settings.Set {
	s := settings.New(envPrefix)
	s.Group("Source")
	s.Add("rdb", settings.Text(&o.rdb, "FILE"), "RDB file to read; - is standard input", settings.Files())

	s.Group("Target")
	s.Add("to", settings.Commas(&o.to, "host:port,…"), "where some of the cluster's nodes serve clients; one is enough")
	s.Add("db", settings.List(&o.databases, "n=m"),
		"take database n of the source into database m; once for each. Databases that are not named are left out (default: all, with the same numbers)")
	s.Add("match", settings.Text(&o.config.Filter.Match, "pattern"), "take only keys that match, as with SCAN MATCH")
	s.Add("retry-for", settings.Duration(&o.config.RetryFor), "how long a write is tried again that the cluster refuses for now")
	o.config.EnsureDefaults()
	o.access.add(s)
	for other, name := range map[string]string{
		"addr": "to", "target": "to", "file": "rdb", "database": "db", "databases": "db", "pattern": "match",
	} {
		s.AlsoKnownAs(other, name)
	}
	// The environment may be that of serve.
	s.Exempt(func(string, string) bool { return true })
	return s
}

// resolve reads flags and variables, or joins all that is wrong with them.
func (o *importOptions) resolve(set *settings.Set, args, rest, environ []string) error {
	faults := parts(set.Load(args, rest, environ))
	fault := func(flag, format string, args ...any) {
		faults = append(faults, &settings.Fault{Source: set.Where(flag), Text: fmt.Sprintf(format, args...)})
	}
	if o.rdb == "" {
		fault("rdb", "missing: the file to read, or - for standard input")
	}
	o.resolveTarget(fault)
	o.resolveDatabases(fault)
	return errors.Join(faults...)
}

func (o *importOptions) resolveTarget(fault func(flag, format string, args ...any)) {
	if len(o.to) == 0 {
		fault("to", "missing: the address of a node, such as 127.0.0.1:6379")
	}
	o.config.Target.Addrs = nil
	for _, addr := range o.to {
		host, port, err := net.SplitHostPort(addr)
		switch {
		case err != nil:
			fault("to", "%q is not of the form host:port, such as 127.0.0.1:6379", addr)
		case port == "" || port == "0":
			fault("to", "%q has no port", addr)
		case host == "":
			host = "127.0.0.1"
		}
		o.config.Target.Addrs = append(o.config.Target.Addrs, net.JoinHostPort(host, port))
	}
	o.config.Target.Password = o.password
	o.config.Target.TLS = o.tlsConfig("", fault)
}

func (o *importOptions) resolveDatabases(fault func(flag, format string, args ...any)) {
	for _, text := range o.databases {
		from, to, ok := strings.Cut(text, "=")
		n, err := strconv.ParseUint(from, 10, 31)
		m, err2 := strconv.ParseUint(to, 10, 31)
		if !ok || err != nil || err2 != nil {
			fault("db", "%q is not of the form n=m, such as 3=0", text)
			continue
		}
		if o.config.Filter.Databases == nil {
			o.config.Filter.Databases = make(map[int]int)
		}
		if _, twice := o.config.Filter.Databases[int(n)]; twice {
			fault("db", "database %d is named twice", n)
		}
		o.config.Filter.Databases[int(n)] = int(m)
	}
}
