package rdb

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

// The numbers of types are those that Redis computes of names; the one of RedisJSON is from RDB files that are about.
func TestModuleTypesHaveNumbers(t *testing.T) {
	for _, m := range []ModuleType{JSONType, BloomType, {"MBbloomCF", 4}, {"AAAAAAAAA", 0}, {"_________", 1023}} {
		if got := ModuleTypeOf(m.id()); got != m {
			t.Errorf("%v became %v", m, got)
		}
	}
	if JSONType.IsKnown() == false || (ModuleType{"ReJSON-RL", 4}).IsKnown() || (ModuleType{"MBbloomCF", 4}).IsKnown() {
		t.Error("other types are known than should be")
	}
}

func TestPiecesOfModulesAreRead(t *testing.T) {
	long := bytes.Repeat([]byte("ab"), 50_000)
	payload := BeginModule(nil, BloomType)
	payload = AppendPiece(AppendDouble(AppendUnsigned(payload, math.MaxUint64), -0.25), long)
	payload = EndModule(AppendPiece(AppendUnsigned(payload, 7), []byte("12")), 0)
	v, err := Decode(payload, 1<<20)
	if err != nil || v.Type != Bloom {
		t.Fatal(v.Type, err)
	}
	p := v.Pieces()
	if n, f, s, m, d := p.Unsigned(), p.Double(), p.Bytes(), p.Unsigned(), p.Bytes(); n != math.MaxUint64 || f != -0.25 || !bytes.Equal(s, long) || m != 7 || string(d) != "12" {
		t.Error(n, f, len(s), m, string(d))
	}
	if err := p.End(); err != nil {
		t.Error(err)
	}
	if p = v.Pieces(); p.Double() != 0 || p.Unsigned() != 0 || !errors.Is(p.End(), ErrFormat) {
		t.Error(p.Err())
	}
	if v, err = Decode(payload, int64(len(long))+1); err != nil {
		t.Fatal(err)
	}
	p = v.Pieces() // both strings together are too long
	p.Unsigned()
	p.Double()
	p.Bytes()
	p.Unsigned()
	if p.Bytes(); !errors.Is(p.End(), ErrTooLarge) {
		t.Error(p.Err())
	}
}

func TestValuesOfOtherModulesAreRefused(t *testing.T) {
	for name, payload := range map[string][]byte{
		"another type":    EndModule(AppendUnsigned(BeginModule(nil, ModuleType{"MBbloomCF", 4}), 1), 0),
		"another version": EndModule(AppendPiece(BeginModule(nil, ModuleType{"ReJSON-RL", 0}), []byte("1")), 0),
	} {
		if _, err := Decode(payload, 1<<20); !errors.Is(err, ErrType) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, payload := range map[string][]byte{
		"no text":    EndModule(BeginModule(nil, JSONType), 0),
		"two texts":  EndModule(AppendPiece(AppendPiece(BeginModule(nil, JSONType), nil), nil), 0),
		"no end":     Seal(AppendPiece(BeginModule(nil, JSONType), []byte("1")), 0),
		"an integer": EndModule(AppendUnsigned(BeginModule(nil, JSONType), 1), 0),
		"no number":  Seal([]byte{typeModule}, 0),
	} {
		if _, err := Decode(payload, 1<<20); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
