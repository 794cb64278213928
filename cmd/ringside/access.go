package main

import (
	"crypto/tls"
	"crypto/x509"
	"os"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
)

// access is what flags say about how a server lets clients in.
type access struct {
	password               string
	tls                    bool
	tlsCA, tlsCert, tlsKey string
	tlsName                string
}

func (o *access) add(s *settings.Set) {
	s.Group("Access")
	s.Add("requirepass", settings.Text(&o.password, "PASSWORD"),
		"what AUTH must give; a variable keeps it out of the process list", settings.Secret())
	s.Add("tls", settings.YesNo(&o.tls), "connect through TLS; the other settings of TLS imply it", settings.Choices("yes", "no"))
	s.Add("tls-ca", settings.Text(&o.tlsCA, "FILE"),
		"authority that has signed the server's certificate (PEM; default: those that the system trusts)", settings.Files())
	s.Add("tls-name", settings.Text(&o.tlsName, "NAME"), "name that the server's certificate must have (default: the host of the address)")
	s.Add("tls-cert", settings.Text(&o.tlsCert, "FILE"), "certificate to show the server, where it demands one (PEM)", settings.Files())
	s.Add("tls-key", settings.Text(&o.tlsKey, "FILE"), "key of the certificate (PEM)", settings.Files())
	for other, name := range map[string]string{
		"a": "requirepass", "pass": "requirepass", "password": "requirepass", "auth": "requirepass",
		"cacert": "tls-ca", "cert": "tls-cert", "key": "tls-key", "sni": "tls-name",
	} {
		s.AlsoKnownAs(other, name)
	}
}

// tlsConfig is nil for a connection without TLS. host is the name that the certificate must
// have, unless it is set; empty for that of the address.
func (o *access) tlsConfig(host string, fault func(flag, format string, args ...any)) *tls.Config {
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
