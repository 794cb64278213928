package strings

import (
	"bytes"
	"testing"
)

// FuzzOptions has the options of SET, MSETEX and INCREX parsed from any words: what is accepted
// excludes no other part of it, and whatever options say comes from the words.
func FuzzOptions(f *testing.F) {
	for _, seed := range []string{"NX GET EX 10", "IFEQ x", "IFDNE 0123456789abcdef keepttl", "XX PXAT 1 KEEPTTL", "BYINT 5 UBOUND 7 SATURATE", "BYFLOAT 1.5 EX 10 ENX", "PERSIST LBOUND -1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		words := bytes.Split(text, []byte(" "))
		for _, of := range []optionSet{optionsOfSet, optionsOfGetex, optionsOfMsetex} {
			o, msg := parseSetOptions(words, of)
			if msg != "" {
				continue
			}
			conditions := 0
			for _, is := range []bool{o.nx, o.xx, o.cond.kind != noCondition} {
				if is {
					conditions++
				}
			}
			if conditions > 1 || o.keepTTL && o.form != noTime || (o.form != noTime) != (o.time != nil) {
				t.Errorf("%q: %+v", words, o)
			}
			if of != optionsOfSet && (o.get || o.cond.kind != noCondition) || of == optionsOfGetex && conditions > 0 {
				t.Errorf("%q: %+v is not of %d", words, o, of)
			}
		}
		if o, msg := parseIncrex(words); msg == "" {
			timed := o.expiry.form != noTime
			if o.byInt != nil && o.byFloat != nil || o.enx && !timed || o.expiry.persist && timed {
				t.Errorf("%q: %+v", words, o)
			}
		}
	})
}
