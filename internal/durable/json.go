package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrSum reports that a text is not as Seal made it.
var ErrSum = errors.New("it fails its checksum")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumField is the last field of a sealed text: the CRC-32C of all before it, as 8 hexadecimal
// digits. Readers of earlier versions ignore it.
const (
	sumField = `,"sum":"`
	sumEnd   = `"}`
	sumSize  = len(sumField) + 8 + len(sumEnd)
)

// Seal returns a value as the text of a JSON object whose last field is a checksum, and a
// newline. The value is one that encodes as an object with at least one field, none of which
// is called sum.
func Seal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text) < len(`{"a":1}`) || text[0] != '{' {
		return nil, fmt.Errorf("seal %T: not an object with fields", v)
	}
	body := text[:len(text)-1]
	sum := crc32.Checksum(body, castagnoli)
	return fmt.Appendf(body, "%s%08x%s\n", sumField, sum, sumEnd), nil
}

// Unseal decodes the text of a JSON object. A text without a checksum is decoded, too: earlier
// versions wrote none. An error that wraps ErrSum says that the checksum is wrong.
func Unseal(text []byte, v any) error {
	object := bytes.TrimSuffix(text, []byte("\n"))
	if n := len(object) - sumSize; n > 0 && bytes.HasPrefix(object[n:], []byte(sumField)) && bytes.HasSuffix(object, []byte(sumEnd)) {
		want := fmt.Appendf(nil, "%08x", crc32.Checksum(object[:n], castagnoli))
		if !bytes.Equal(object[n+len(sumField):len(object)-len(sumEnd)], want) {
			return ErrSum
		}
	}
	return json.Unmarshal(text, v)
}

// ReplaceJSON is Replace with a value, sealed.
func ReplaceJSON(path string, v any) error {
	text, err := Seal(v)
	if err != nil {
		return err
	}
	return Replace(path, text)
}
