package database

import (
	"bytes"
	"hash/fnv"
	"testing"
)

func fnvToken(key []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(key)
	return h.Sum64()
}

// Each triple of database, policy and key has a stored key of its own. It has the token of the key, or, in
// a database that is kept together, that of the database.
func FuzzStoredKeysAreDistinct(f *testing.F) {
	f.Add(uint16(0), uint8(0), []byte("a"), uint16(2), uint8(0), []byte("a"))
	f.Add(uint16(0), uint8(0), []byte(mark+"\x00\x02a"), uint16(2), uint8(0), []byte("a"))
	f.Add(uint16(0), uint8(0), []byte(mark+"\x80\x02a"), uint16(2), uint8(1), []byte("a"))
	f.Add(uint16(0), uint8(0), []byte(mark+"\x00\x00"), uint16(0), uint8(0), []byte(""))
	f.Add(uint16(0), uint8(0), []byte(mark+"\x7f\x02a"), uint16(3), uint8(0), []byte(mark))
	f.Add(uint16(0), uint8(1), []byte("x"), uint16(0), uint8(32), []byte("x"))
	f.Fuzz(func(t *testing.T, n uint16, where uint8, key []byte, m uint16, otherWhere uint8, other []byte) {
		p, q := policyOf(n, where), policyOf(m, otherWhere)
		a, b := AppendKey(nil, p.Head(), key), AppendKey(nil, q.Head(), other)
		if same := p == q && bytes.Equal(key, other); same != bytes.Equal(a, b) {
			t.Errorf("%+v %q is %q, %+v %q is %q", p, key, a, q, other, b)
		}
		if head, name := Split(a); head != p.Head() || head.Number() != p.Number || head.Together() != p.Together || !bytes.Equal(name, key) {
			t.Errorf("%q of %+v is stored as %q, which is %q of %x", key, p, a, name, head)
		}
		if p.Head() == 0 && !HasMark(key) && !bytes.Equal(a, key) {
			t.Errorf("%q is stored as %q in database 0", key, a)
		}
		token := TokenFunc(fnvToken)
		if !p.Together && token(a) != fnvToken(key) {
			t.Errorf("%q of %+v has another token than the key", key, p)
		}
		if p.Together && p == q && token(a) != token(b) {
			t.Errorf("%q and %q of %+v have two tokens", key, other, p)
		}
	})
}

// policyOf returns a valid policy of a database.
func policyOf(n uint16, where uint8) Policy {
	p := Policy{Number: int(n % Limit)}
	if where %= Spots + 1; where > 0 {
		p.Together, p.Spot = true, int(where-1)
	}
	return p
}

func TestPoliciesKeepOnlyWhatIsNotTheDefault(t *testing.T) {
	var p *Policies
	for i := range 4 {
		p = p.With(Policy{Number: i, Together: true, Spot: i})
	}
	was := p
	p = p.With(Policy{Number: 2}).With(Policy{Number: 0, Change: 7})
	if got := p.Head(2); got != 2 {
		t.Errorf("the head of database 2 is %x", got)
	}
	if got, want := p.Of(1), (Policy{Number: 1, Together: true, Spot: 1}); got != want || was.Of(2).Spot != 2 {
		t.Errorf("database 1 is %+v, want %+v; the earlier policies are %+v", got, want, was)
	}
	for i := range 4 {
		p = p.With(Policy{Number: i})
	}
	if p != nil {
		t.Errorf("%+v", p)
	}
}
