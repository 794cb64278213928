package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/status"
)

// statusOptions are what flags of status say. Those that serve has, too, have the same
// names and variables, so that status finds the node that was started beside it.
type statusOptions struct {
	addr, password         string
	tls                    bool
	tlsCA, tlsCert, tlsKey string
	tlsName                string
	timeout                time.Duration
	json                   bool
	watch                  string
	interval               time.Duration // of watch; 0: once
}

func defaultStatusOptions() *statusOptions {
	return &statusOptions{addr: "127.0.0.1:6379", timeout: 10 * time.Second}
}

func (o *statusOptions) settings() *settings.Set {
	s := settings.New(envPrefix)
	s.Group("Node")
	s.Add("addr", settings.Text(&o.addr, "host:port"), "where a node of the cluster, any one, serves clients; no host is this one")
	s.Add("timeout", settings.Duration(&o.timeout), "how long to wait for an answer")

	s.Group("Access")
	s.Add("requirepass", settings.Text(&o.password, "PASSWORD"),
		"what AUTH must give; a variable keeps it out of the process list", settings.Secret())
	s.Add("tls", settings.YesNo(&o.tls), "connect through TLS; the other settings of TLS imply it", settings.Choices("yes", "no"))
	s.Add("tls-ca", settings.Text(&o.tlsCA, "FILE"),
		"authority that has signed the node's certificate (PEM; default: those that the system trusts)", settings.Files())
	s.Add("tls-name", settings.Text(&o.tlsName, "NAME"), "name that the node's certificate must have (default: the host of --addr)")
	s.Add("tls-cert", settings.Text(&o.tlsCert, "FILE"), "certificate to show the node, where it demands one (PEM)", settings.Files())
	s.Add("tls-key", settings.Text(&o.tlsKey, "FILE"), "key of the certificate (PEM)", settings.Files())
	for other, name := range map[string]string{
		"host": "addr", "port": "addr", "p": "addr", "a": "requirepass", "pass": "requirepass", "password": "requirepass", "auth": "requirepass",
		"cacert": "tls-ca", "cert": "tls-cert", "key": "tls-key", "sni": "tls-name",
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
	host, port, err := net.SplitHostPort(o.addr)
	switch {
	case err != nil:
		fault("addr", "%q is no host:port, as in 127.0.0.1:6379", o.addr)
	case port == "" || port == "0":
		fault("addr", "%q has no port", o.addr)
	case host == "":
		host = "127.0.0.1"
	}
	source.Addr = net.JoinHostPort(host, port)
	source.TLS = o.tlsConfig(host, fault)
	return source, errors.Join(faults...)
}

// tlsConfig is nil for a connection without TLS.
func (o *statusOptions) tlsConfig(host string, fault func(flag, format string, args ...any)) *tls.Config {
	if !o.tls && o.tlsCA == "" && o.tlsName == "" && o.tlsCert == "" && o.tlsKey == "" {
		return nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if o.tlsName != "" {
		config.ServerName = o.tlsName
	}
	if o.tlsCA != "" {
		config.RootCAs = x509.NewCertPool()
		text, err := os.ReadFile(o.tlsCA)
		if err != nil {
			fault("tls-ca", "%v", err)
		} else if !config.RootCAs.AppendCertsFromPEM(text) {
			fault("tls-ca", "%s holds no certificate in PEM form", o.tlsCA)
		}
	}
	switch {
	case o.tlsCert == "" && o.tlsKey == "":
	case o.tlsCert == "":
		fault("tls-cert", "missing: tls-key needs the certificate of the key")
	case o.tlsKey == "":
		fault("tls-key", "missing: tls-cert needs its key")
	default:
		pair, err := tls.LoadX509KeyPair(o.tlsCert, o.tlsKey)
		if err != nil {
			fault("tls-cert", "%s with tls-key %s: %v", o.tlsCert, o.tlsKey, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}
