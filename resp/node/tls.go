package node

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
)

// tlsConfig loads the certificates that clients are met with; nil without
// TLSCert. The error joins one [*Fault] for each fault.
func (c Config) tlsConfig() (*tls.Config, error) {
	var f faults
	config := c.loadTLS(&f)
	if len(f) > 0 {
		return nil, errors.Join(f...)
	}
	return config, nil
}

func (c Config) loadTLS(f *faults) *tls.Config {
	if c.TLSCert == "" {
		return nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	certPEM, certErr := os.ReadFile(c.TLSCert)
	if certErr != nil {
		f.add("tls-cert", "%v", certErr)
	}
	keyPEM, keyErr := os.ReadFile(c.TLSKey)
	if keyErr != nil {
		f.add("tls-key", "%v", keyErr)
	}
	if certErr == nil && keyErr == nil {
		pair, err := tls.X509KeyPair(certPEM, keyPEM)
		if err != nil {
			f.add("tls-cert", "%s with tls-key %s: %v", c.TLSCert, c.TLSKey, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if c.TLSCA != "" {
		config.ClientAuth = tls.RequireAndVerifyClientCert
		config.ClientCAs = x509.NewCertPool()
		caPEM, err := os.ReadFile(c.TLSCA)
		if err != nil {
			f.add("tls-ca", "%v", err)
		} else if !config.ClientCAs.AppendCertsFromPEM(caPEM) {
			f.add("tls-ca", "%s holds no certificate in PEM form", c.TLSCA)
		}
	}
	return config
}
