package bloom

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/ringside-kv/ringside/store/rdb"
)

// The sizes are those that RedisBloom's documentation shows for its defaults and that its formulas give.
func TestChainsHaveTheSizesOfRedisBloom(t *testing.T) {
	c, err := New(100, 0.01, 2, false, 1<<20)
	if err != nil || c.Memory() != 240 || c.Links[0].Hashes != 8 || c.Links[0].Bits != 1152 || c.Links[0].Error != 0.005 {
		t.Errorf("%+v, %v", c, err)
	}
	for range 3 {
		last := &c.Links[len(c.Links)-1]
		c.Size += last.Capacity - last.Size
		last.Size = last.Capacity
		if err := c.Grow(1 << 20); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.Links) != 4 || c.Capacity() != 1500 || c.Links[3].Error != 0.000625 {
		t.Errorf("%+v", c)
	}
	head := c.AppendHead(nil)
	back, rest, err := ReadHead(append(head, 7), 1<<20)
	if err != nil || len(rest) != 1 || len(head) != c.HeadLen() || back.Size != c.Size || back.Links[3] != c.Links[3] {
		t.Errorf("%+v, %v", back, err)
	}
	if _, _, err := ReadHead(head, 100); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := New(1<<30, 1e-9, 2, false, 512<<20); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	fixed, _ := New(1, 0.01, 2, true, 1<<20)
	fixed.Links[0].Size = 1
	if err := fixed.Grow(1 << 20); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

// The vector is the one that the author of MurmurHash64A verifies implementations with: the hash of the hashes of all
// keys 0, 0 1, 0 1 2 and so on, each with the seed 256 less its length.
func TestMurmur64(t *testing.T) {
	var key [256]byte
	var hashes []byte
	for i := range key {
		key[i] = byte(i)
		hashes = binary.LittleEndian.AppendUint64(hashes, murmur64(key[:i], uint64(256-i)))
	}
	if got := uint32(murmur64(hashes, 0)); got != 0x1F0D3804 {
		t.Errorf("%#x", got)
	}
}

// FuzzHead has no bytes make a chain that is not one, in either form.
func FuzzHead(f *testing.F) {
	c, _ := New(100, 0.01, 2, false, 1<<20)
	f.Add(c.AppendHead(nil))
	payload, _ := c.AppendPayload(nil, func(dst []byte, link int) ([]byte, error) {
		return append(dst, make([]byte, c.Links[link].Bytes())...), nil
	})
	f.Add(payload)
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, _, err := ReadHead(data, 1<<16); err == nil {
			if back, _, err := ReadHead(c.AppendHead(nil), 1<<16); err != nil || back.Size != c.Size || c.Bytes() > 1<<16 {
				t.Fatal(err)
			}
			_ = c.Grow(1 << 16)
			for i := range c.Links {
				if bit := c.Links[i].Bit(HashOf(data), c.Links[i].Hashes); bit >= c.Links[i].Bits {
					t.Fatal(bit)
				}
			}
		}
		// The checksum is not what is to be found.
		sealed := rdb.Seal(append(rdb.BeginModule(nil, rdb.BloomType), data...), 0)
		v, err := rdb.Decode(sealed, 1<<16)
		if err != nil {
			return
		}
		c, bits, err := ReadPayload(&v, 1<<16)
		if err == nil && (len(bits) != len(c.Links) || uint64(len(bits[0])) != c.Links[0].Bytes()) {
			t.Fatal(len(bits))
		}
	})
}
