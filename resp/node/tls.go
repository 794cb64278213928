package node

import (
	"errors"

	"github.com/ringside-kv/ringside/resp/node/internal/certs"
)

// tlsConfig loads the certificates that clients are met with; nil without
// TLSCert. The error joins one [*Fault] for each fault.
func (c Config) tlsConfig() (*certs.Loaded, error) {
	var f faults
	loaded := c.loadTLS(&f)
	if len(f) > 0 {
		return nil, errors.Join(f...)
	}
	return loaded, nil
}

func (c Config) loadTLS(f *faults) *certs.Loaded {
	return certs.Load(certs.Files{Cert: c.TLSCert, Key: c.TLSKey, CA: c.TLSCA}, f.add)
}
