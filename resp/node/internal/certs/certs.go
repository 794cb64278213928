package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Files are the paths of PEM files. CA may be empty: clients need no certificate then.
type Files struct {
	Cert, Key, CA string
	// Peers says that the certificates are for connections between nodes, on both sides. CA is not empty then.
	Peers bool
	// Names are patterns of names, with commas between them: certificates of peers must carry a name that matches one.
	// Any name will do if it is empty.
	Names string
}

// Setting returns the name of the setting of a file: "cert", "key" or "ca"; and of "name".
func (f Files) Setting(file string) string {
	if f.Peers {
		return "cluster-tls-" + file
	}
	return "tls-" + file
}

// Loaded are certificates, with what their files were like.
type Loaded struct {
	TLS    *tls.Config // of a server
	client *tls.Config // of a client, for peers
	files  Files
	states []os.FileInfo // before they were read; nil for one that was not there
}

// Load reads the files, or returns nil if there is no Cert. fault is told of each fault, with the setting that
// names the file.
func Load(files Files, fault func(setting, format string, args ...any)) *Loaded {
	if files.Cert == "" {
		return nil
	}
	l := &Loaded{TLS: &tls.Config{MinVersion: tls.VersionTLS12}, files: files, states: files.states()}
	certPEM, certErr := os.ReadFile(files.Cert)
	if certErr != nil {
		fault(files.Setting("cert"), "%v", certErr)
	}
	keyPEM, keyErr := os.ReadFile(files.Key)
	if keyErr != nil {
		fault(files.Setting("key"), "%v", keyErr)
	}
	if certErr == nil && keyErr == nil {
		pair, err := tls.X509KeyPair(certPEM, keyPEM)
		if err != nil {
			fault(files.Setting("cert"), "%s with %s %s: %v", files.Cert, files.Setting("key"), files.Key, err)
		} else {
			l.TLS.Certificates = []tls.Certificate{pair}
		}
	}
	if files.CA != "" {
		l.TLS.ClientAuth = tls.RequireAndVerifyClientCert
		caPEM, err := os.ReadFile(files.CA)
		if err != nil {
			fault(files.Setting("ca"), "%v", err)
		} else if l.TLS.ClientCAs, err = authorities(caPEM, files.Peers); err != nil {
			fault(files.Setting("ca"), "%s: %v", files.CA, err)
		} else if files.Peers && l.TLS.Certificates != nil {
			if err := refusedBecause(l.TLS.Certificates[0], files, l.TLS.ClientCAs, time.Now()); err != nil {
				fault(files.Setting("cert"), "%s: other nodes with this %s would refuse the certificate: %v", files.Cert, files.Setting("ca"), err)
			}
			l.asPeer()
		}
	}
	return l
}

// authorities reads all certificates of a file. If it is for peers, one that cannot be read is a fault: the others would hide
// why what it has signed is refused. Files for clients may be those of an operating system, with certificates of any kind.
func authorities(text []byte, peers bool) (*x509.CertPool, error) {
	pool, n := x509.NewCertPool(), 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil && peers {
			return nil, fmt.Errorf("certificate %d of the file: %w", n+1, err)
		}
		if err == nil {
			pool.AddCert(cert)
			n++
		}
	}
	if n == 0 {
		return nil, errors.New("holds no certificate in PEM form")
	}
	return pool, nil
}

func (f Files) states() []os.FileInfo {
	var states []os.FileInfo
	for _, path := range []string{f.Cert, f.Key, f.CA} {
		state, err := os.Stat(path)
		if err != nil {
			state = nil
		}
		states = append(states, state)
	}
	return states
}

// sameState reports whether a file is as it was.
func sameState(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// lookEvery is how often the files are looked at, at most.
const lookEvery = time.Second

// Current are the certificates that new connections are met with. Its methods may be called from any goroutine.
type Current struct {
	now    atomic.Pointer[Loaded]
	mu     sync.Mutex // of the one that looks at the files
	looked time.Time
	seen   []os.FileInfo // as of the last attempt to read them
	log    *slog.Logger

	failures atomic.Int64
}

// Set sets the certificates; nil for none.
func (c *Current) Set(l *Loaded, log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log, c.seen = log, nil
	c.now.Store(l)
}

// Config returns the certificates. If their files have changed, and can be read, it returns the new ones.
func (c *Current) Config() *tls.Config {
	if l := c.current(); l != nil {
		return l.TLS
	}
	return nil
}

func (c *Current) current() *Loaded {
	l := c.now.Load()
	if l != nil && c.mu.TryLock() {
		c.look()
		c.mu.Unlock()
		l = c.now.Load()
	}
	return l
}

// look reads files that have changed. If something is wrong with them, the old certificates stay until the files
// change once more.
func (c *Current) look() {
	if time.Since(c.looked) < lookEvery {
		return
	}
	c.looked = time.Now()
	old := c.now.Load()
	seen := c.seen
	if seen == nil {
		seen = old.states
	}
	states := old.files.states()
	if slices.EqualFunc(seen, states, sameState) {
		return
	}
	c.seen = states
	whole := true
	next := Load(old.files, func(setting, format string, args ...any) {
		whole = false
		c.log.Error("a certificate has changed and cannot be used; the old one stays", "setting", setting, "err", fmt.Sprintf(format, args...))
	})
	if !whole {
		c.failures.Add(1)
		return
	}
	c.now.Store(next)
	c.seen = nil
	c.log.Info("the certificates have changed and were read again", "setting", old.files.Setting("cert"))
}

// Server returns a configuration that meets each client with the current certificates; nil if there are none.
func (c *Current) Server() *tls.Config {
	if c.now.Load() == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.Config(), nil },
	}
}

// What of a certificate names users.
const (
	NoUser = "off"
	ByName = "cn"  // the common name
	ByURI  = "uri" // the URIs of the subject alternative names, as SPIFFE has them
)

// Users returns the names of the users that a certificate stands for, the first that exists.
func Users(by string, cert *x509.Certificate) (names []string) {
	switch {
	case by == ByName && cert.Subject.CommonName != "":
		names = append(names, cert.Subject.CommonName)
	case by == ByURI:
		for _, uri := range cert.URIs {
			names = append(names, uri.String())
		}
	}
	return names
}
