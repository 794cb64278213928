package members

import (
	"crypto/hkdf"
	"crypto/sha256"

	"github.com/hashicorp/memberlist"
)

// keyLabel keeps gossip's key apart from whatever else is derived from the cluster
// key. It must never change.
const keyLabel = "ringside gossip aes-256 v1"

// gossipKey is Serf's AES-256 key; nil for an empty cluster key, which means no
// encryption.
func gossipKey(clusterKey []byte) ([]byte, error) {
	if len(clusterKey) == 0 {
		return nil, nil
	}
	return hkdf.Key(sha256.New, clusterKey, nil, keyLabel, 32)
}

// keyring has the key that this node encrypts with, and another one that it accepts, if there is one; nil without keys.
func keyring(clusterKey, accepted []byte) (*memberlist.Keyring, error) {
	key, err := gossipKey(clusterKey)
	if key == nil || err != nil {
		return nil, err
	}
	var others [][]byte
	if other, err := gossipKey(accepted); err != nil {
		return nil, err
	} else if other != nil {
		others = append(others, other)
	}
	return memberlist.NewKeyring(others, key)
}
