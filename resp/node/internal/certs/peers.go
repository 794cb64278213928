package certs

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/glob"
)

// Values of the setting that says whether other nodes need a certificate.
const (
	// Require: a connection between nodes has certificates on both sides.
	Require = "require"
	// Prefer: so it has if the other node has certificates as well; it need not.
	Prefer = "prefer"
)

// Modes are the values of that setting.
func Modes() []string { return []string{Require, Prefer} }

// asPeer makes configurations for connections between nodes of loaded certificates. A node shows one certificate on both
// sides of a connection. Which host a peer is does not matter, as its address changes: an authority of the cluster must have
// signed for it, and it must carry one of the names of the files, if they have any.
func (l *Loaded) asPeer() {
	l.TLS.MinVersion = tls.VersionTLS13
	// A session that is resumed would count by the authorities of an earlier moment.
	l.TLS.SessionTicketsDisabled = true
	own, authorities, files := l.TLS.Certificates[0], l.TLS.ClientCAs, l.files
	// Package tls has verified the chain of a client when it calls this.
	l.TLS.VerifyConnection = func(state tls.ConnectionState) error { return files.named(state.PeerCertificates[0]) }
	l.client = &tls.Config{
		MinVersion: tls.VersionTLS13,
		// The name of the host is not verified; the certificate is, below.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			_, err := state.PeerCertificates[0].Verify(verifying(authorities, state.PeerCertificates[1:], x509.ExtKeyUsageServerAuth, time.Now()))
			if err != nil {
				return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
			}
			return files.named(state.PeerCertificates[0])
		},
		// It is shown even if the peer does not name its authority among its own, and the peer then says why it is refused.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil },
	}
}

// named returns an error unless a certificate carries a name that peers must have.
func (f Files) named(cert *x509.Certificate) error {
	if f.Names == "" {
		return nil
	}
	names := certNames(cert)
	for _, pattern := range splitNames(f.Names) {
		for _, name := range names {
			if glob.Match([]byte(pattern), []byte(name), true) {
				return nil
			}
		}
	}
	return fmt.Errorf("%s demands a name that matches %s, and the certificate is for %q", f.Setting("name"), f.Names, names)
}

// certNames returns the DNS names and URIs for which a certificate is, or its common name if it has none of them.
func certNames(cert *x509.Certificate) []string {
	names := slices.Clone(cert.DNSNames)
	for _, uri := range cert.URIs {
		names = append(names, uri.String())
	}
	if len(names) == 0 && cert.Subject.CommonName != "" {
		names = append(names, cert.Subject.CommonName)
	}
	return names
}

// splitNames returns the patterns of a list with commas.
func splitNames(list string) []string {
	patterns := strings.Split(list, ",")
	for i := range patterns {
		patterns[i] = strings.TrimSpace(patterns[i])
	}
	return patterns
}

func verifying(authorities *x509.CertPool, chain []*x509.Certificate, usage x509.ExtKeyUsage, now time.Time) x509.VerifyOptions {
	between := x509.NewCertPool()
	for _, cert := range chain {
		between.AddCert(cert)
	}
	return x509.VerifyOptions{Roots: authorities, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{usage}, CurrentTime: now}
}

// refusedBecause returns why other nodes with the same authorities and names would refuse a certificate; nil if they would not.
func refusedBecause(own tls.Certificate, files Files, authorities *x509.CertPool, now time.Time) error {
	var chain []*x509.Certificate
	for _, der := range own.Certificate {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return err
		}
		chain = append(chain, cert)
	}
	for _, use := range []struct {
		usage x509.ExtKeyUsage
		name  string
	}{{x509.ExtKeyUsageClientAuth, "clientAuth"}, {x509.ExtKeyUsageServerAuth, "serverAuth"}} {
		_, err := chain[0].Verify(verifying(authorities, chain[1:], use.usage, now))
		var invalid x509.CertificateInvalidError
		if errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage {
			return fmt.Errorf("it is not for the extended key usage %s, and a node needs clientAuth and serverAuth", use.name)
		}
		if err != nil {
			return err
		}
	}
	return files.named(chain[0])
}

// Client returns the configuration of connections to other nodes; nil if there are no certificates for peers. If the
// files have changed, and can be read, it returns the new one.
func (c *Current) Client() *tls.Config {
	if l := c.current(); l != nil {
		return l.client
	}
	return nil
}

// Failures counts the changes of files that could not be used.
func (c *Current) Failures() int64 { return c.failures.Load() }

// Reload replaces certificates by others. There is no way from having certificates to having none, nor back. Calls are
// serial.
func (c *Current) Reload(l *Loaded) {
	now := c.now.Load()
	switch {
	case now != nil && l != nil:
		c.Set(l, c.log)
	case now != nil || l != nil:
		c.log.Warn("TLS is turned on and off by a restart only", "setting", cmp.Or(l, now).files.Setting("cert"))
	}
}
