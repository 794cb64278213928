package bus

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
)

// A secret is shared by two sides that have the cluster key and have seen the same
// hellos. Its derivation follows RFC 5869 (HKDF), with the cluster key and the
// outcome of X25519 (RFC 7748) as the secret and their transcript as the salt.
type secret struct {
	extracted  []byte
	transcript [sha256.Size]byte
}

func newSecret(key []byte, own *ecdh.PrivateKey, share []byte, transcript [sha256.Size]byte) (*secret, error) {
	public, err := ecdh.X25519().NewPublicKey(share)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	// Fails for the points that would make the outcome a constant.
	agreed, err := own.ECDH(public)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	s := &secret{transcript: transcript}
	// agreed has one length, so the two cannot run into each other.
	s.extracted, err = hkdf.Extract(sha256.New, append(agreed, key...), s.transcript[:])
	return s, err
}

// transcript is the digest of both hellos, each as the frame that it came in, which
// has its length, and of the binding to the TLS connection, if there is one.
func transcript(dialler, acceptor, bound []byte) [sha256.Size]byte {
	return sha256.Sum256(append(appendFrame(appendFrame(nil, frameHello, dialler), frameHello, acceptor), bound...))
}

// The labels keep apart what is derived, above all the two directions: nothing that
// one side sends can be sent back to it.
const (
	labelProofs   = "ringside bus 1: proofs"
	labelDialler  = "ringside bus 1: dialler"
	labelAcceptor = "ringside bus 1: acceptor"
)

func (s *secret) derive(label string) ([]byte, error) {
	return hkdf.Expand(func() hash.Hash { return sha256.New() }, s.extracted, label, 32)
}

// proof is what the side of a label shows to prove that it has the secret.
func (s *secret) proof(label string) ([]byte, error) {
	key, err := s.derive(labelProofs)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(label))
	mac.Write(s.transcript[:])
	return mac.Sum(nil), nil
}

// proves tells in constant time whether a proof is that of the label's side.
func (s *secret) proves(label string, proof []byte) bool {
	want, err := s.proof(label)
	return err == nil && hmac.Equal(want, proof)
}
