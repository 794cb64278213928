package members

import (
	"crypto/hkdf"
	"crypto/sha256"
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
