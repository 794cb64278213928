package peerkey

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ringside-kv/ringside/internal/durable"
)

// passwordRounds makes each guess of a password cost about 0.2 s of processor time
// (OWASP's figure for PBKDF2 with SHA-256). All nodes of a cluster need the same value:
// a change of it splits clusters.
const passwordRounds = 600_000

// FromPassword derives the key that nodes of one password and one cluster name share.
func FromPassword(password, cluster string) ([]byte, error) {
	key, err := pbkdf2.Key(sha256.New, password, []byte("ringside key from password v1|"+cluster), passwordRounds, 32)
	if err != nil {
		return nil, fmt.Errorf("derive the key between nodes from the password: %w", err)
	}
	return key, nil
}

const (
	// Name is the name of the file.
	Name = "bus.key"
	size = 32 // random bytes, written in hexadecimal
)

// Exists reports whether a directory has a key.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, Name))
	return err == nil
}

// FromFile reads the key of a directory, and creates it (mode 0600) if there is none.
func FromFile(dir string) ([]byte, error) {
	path := filepath.Join(dir, Name)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw := make([]byte, size)
		_, _ = rand.Read(raw) // never fails
		key := hex.EncodeToString(raw)
		if err := durable.Replace(path, []byte(key+"\n")); err != nil {
			return nil, fmt.Errorf("create the key between nodes: %w", err)
		}
		return []byte(key), nil
	} else if err != nil {
		return nil, fmt.Errorf("read the key between nodes: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the key between nodes: %w", err)
	}
	// A volume that is mounted for a group has its files opened to that group.
	if open := info.Mode().Perm() & 0o077; open != 0 && runtime.GOOS != "windows" {
		if err := f.Chmod(0o600); err != nil && open&0o007 != 0 {
			return nil, fmt.Errorf("read the key between nodes: every user may read %s: remove it, and a new one is made at the next start", path)
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, 4*size))
	if err != nil {
		return nil, fmt.Errorf("read the key between nodes: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if raw, err := hex.DecodeString(key); err != nil || len(raw) != size {
		return nil, fmt.Errorf("read the key between nodes: %s does not hold %d bytes in hexadecimal: remove it, and a new one is made at the next start", path, size)
	}
	return []byte(key), nil
}
