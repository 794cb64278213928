package functions

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/store/rdb"
)

// The payload of FUNCTION DUMP is what an RDB file has of libraries, with the footer of DUMP.

const (
	opLibrary    = 245
	opLibraryOld = 246 // of previews of Redis 7.0
)

var (
	errPayload = errors.New("ERR DUMP payload version or checksum are wrong")
	errOpcode  = errors.New("ERR given type is not a function")
	errLibrary = errors.New("ERR Failed loading library payload")
)

// appendPayload appends the payload of libraries.
func appendPayload(dst []byte, libraries []*Library) []byte {
	start := len(dst)
	for _, l := range libraries {
		dst = rdb.AppendElement(append(dst, opLibrary), []byte(l.Code))
	}
	return rdb.Seal(dst, start)
}

// readPayload returns the code of the libraries of a payload. It takes no more memory than libraries may.
func readPayload(payload []byte) (codes []string, err error) {
	rest, _, err := rdb.OpenAny(payload)
	if err != nil {
		return nil, errPayload
	}
	total := 0
	for len(rest) > 0 {
		op := rest[0]
		var code string
		switch rest = rest[1:]; op {
		case opLibrary:
			code, rest, err = readText(rest)
		case opLibraryOld:
			code, rest, err = readOld(rest)
		default:
			return nil, errOpcode
		}
		if err != nil {
			return nil, err
		}
		if total += len(code); total > MaxBytes || len(codes) == maxLibraries {
			return nil, errTooMuch
		}
		codes = append(codes, code)
	}
	return codes, nil
}

func readText(b []byte) (text string, rest []byte, err error) {
	value, rest, err := rdb.ReadString(b, MaxBytes)
	if err != nil {
		return "", nil, errLibrary
	}
	return string(value), rest, nil
}

// readOld reads a library of a preview, which has name, engine, description and code apart.
func readOld(b []byte) (code string, rest []byte, err error) {
	var texts [4]string
	for i := range texts {
		if i == 2 {
			described, encoding, after, err := rdb.ReadLen(b)
			if err != nil || encoding {
				return "", nil, errLibrary
			}
			if b = after; described == 0 {
				continue
			}
		}
		if texts[i], b, err = readText(b); err != nil {
			return "", nil, err
		}
	}
	return fmt.Sprintf("#!%s name=%s\n%s", texts[1], texts[0], texts[3]), b, nil
}
