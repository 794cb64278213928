package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/importer"
)

// importOptions are what flags of import say.
type importOptions struct {
	access
	rdb       string
	from      []string
	source    access // but for its password, which may also be in from
	to        []string
	databases []string
	once      bool
	verify    bool
	config    importer.Config
	follow    importer.FollowConfig // but for what is in config
	pool      poolOptions
	servers   []poolServer // --from, as the pool knows them
}

func (o *importOptions) settings() *settings.Set {
	s := settings.New(envPrefix)
	s.Group("Source")
	s.Add("rdb", settings.Text(&o.rdb, "FILE"), "RDB file to read; - is standard input", settings.Files())
	o.addSource(s)
	o.pool.add(s)
	s.Add("state", settings.Text(&o.follow.State, "FILE"),
		"file that remembers how far the import has come; with it, the next run resumes there", settings.Files())

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

// addSource adds what import and cutover have in common.
func (o *importOptions) addSource(s *settings.Set) {
	s.Add("from", settings.List(&o.from, "redis://[user:password@]host:port"),
		"server to follow as a replica does; rediss:// is through TLS. Of a pool, each server, with ?name=…&weight=… as its clients know it")
	s.Add("from-password", settings.Text(&o.source.password, "PASSWORD"),
		"password of the source; a variable keeps it out of the process list", settings.Secret())
	s.Add("from-tls-ca", settings.Text(&o.source.tlsCA, "FILE"), "authority that has signed the source's certificate (PEM)", settings.Files())
	s.Add("from-tls-name", settings.Text(&o.source.tlsName, "NAME"), "name that the source's certificate must have")
	s.Add("from-tls-cert", settings.Text(&o.source.tlsCert, "FILE"), "certificate to show the source (PEM)", settings.Files())
	s.Add("from-tls-key", settings.Text(&o.source.tlsKey, "FILE"), "key of that certificate (PEM)", settings.Files())
}

// resolve reads flags and variables, or joins all that is wrong with them.
func (o *importOptions) resolve(set *settings.Set, args, rest, environ []string) error {
	faults := parts(set.Load(args, rest, environ))
	fault := func(flag, format string, args ...any) {
		faults = append(faults, &settings.Fault{Source: set.Where(flag), Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case o.rdb == "" && len(o.from) == 0:
		fault("rdb", "missing: the file to read, or - for standard input; or give --from")
	case o.rdb != "" && len(o.from) > 0:
		fault("rdb", "has no meaning beside --from")
	case o.rdb != "":
		for _, flag := range []string{"from-password", "from-tls-ca", "from-tls-name", "from-tls-cert", "from-tls-key", "state"} {
			if set.Given(flag) {
				fault(flag, "has no meaning without --from")
			}
		}
	}
	if o.verify && o.once {
		fault("once", "has no meaning beside --verify, which takes nothing over: import first, then compare")
	}
	if o.verify && o.follow.Merge {
		fault("merge", "has no meaning beside --verify, which writes nothing")
	}
	checkRetryFor(o.config.RetryFor, fault)
	o.resolveSource(fault)
	o.pool.resolve(o.servers, fault)
	o.resolveTarget(fault)
	o.resolveDatabases(fault)
	return errors.Join(faults...)
}

// resolveSource reads the URLs of the sources.
func (o *importOptions) resolveSource(fault func(flag, format string, args ...any)) {
	o.servers = nil
	for _, text := range o.from {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" {
			fault("from", "%q is not of the form redis://[user:password@]host:port", hidePassword(text))
			continue
		}
		port := u.Port()
		if port == "" {
			port = "6379"
		}
		if !isPort(port) {
			fault("from", "%s: %q is not a port from 1 to 65535", u.Host, port)
		}
		if path := strings.Trim(u.Path, "/"); path != "" || u.Fragment != "" {
			fault("from", "what follows %s has no meaning: databases are chosen by --db", u.Host)
		}
		source := client.Config{Addrs: []string{net.JoinHostPort(u.Hostname(), port)}, Password: o.source.password}
		if password, ok := u.User.Password(); ok {
			source.Password = password
		}
		if source.Username = u.User.Username(); source.Username == "default" {
			source.Username = ""
		}
		if source.Username != "" && source.Password == "" {
			fault("from", "%s has a user name without a password", u.Host)
		}
		o.source.tls = u.Scheme == "rediss"
		source.TLS = o.source.tlsConfig("", func(flag, format string, args ...any) { fault("from-"+flag, format, args...) })
		o.follow.Source = source
		o.servers = append(o.servers, newPoolServer(source, u.Query(), fault))
	}
}

// isPort reports whether an address can have a port.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// checkRetryFor refuses what a configuration takes for its default.
func checkRetryFor(d time.Duration, fault func(flag, format string, args ...any)) {
	if d <= 0 {
		fault("retry-for", "%v leaves no time to try again: use a short time, such as 1ms, for one attempt", d)
	}
}

// hidePassword leaves out what may be a password in a URL that cannot be parsed.
func hidePassword(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return "…" + text[at:]
	}
	return text
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
		case !isPort(port):
			fault("to", "%q: %q is not a port from 1 to 65535", addr, port)
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
