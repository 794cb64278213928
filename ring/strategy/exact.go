package strategy

import (
	"cmp"

	"github.com/ringside-kv/ringside/ring/ketama"
)

// ExactTo names the other system whose clients find every key where this strategy and hash place it;
// empty if there is none. Nodes must have the same names and weights there.
func (c Config) ExactTo() string {
	if c.Name != Ketama || cmp.Or(c.Points, ketama.DefaultPoints) != ketama.DefaultPoints {
		return ""
	}
	hash := c.Hash
	if hash == Native && cmp.Or(c.Founding, c.Name) == Ketama {
		hash = MD5
	}
	switch rule := cmp.Or(c.KetamaRule, Libketama); {
	case rule == Libketama && hash == MD5:
		return "libketama"
	case rule == Twemproxy && hash == MD5:
		return "twemproxy with hash md5"
	case rule == Twemproxy && hash == FNV1a:
		return "twemproxy with hash fnv1a_64, for ASCII keys"
	}
	return ""
}
