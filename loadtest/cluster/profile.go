package cluster

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

var errProfile = errors.New("a profile that cannot be read")

// worked reads a processor profile of this program, as runtime/pprof writes it, and returns
// how long each value of a label has run; that of "" is all that has not the label.
//
// Of the format (github.com/google/pprof/proto/profile.proto) it reads samples, their second
// value, which is nanoseconds, their labels that are text, and the table of texts.
func worked(profile []byte, label string) (map[string]time.Duration, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(profile))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProfile, err)
	}
	text, err := io.ReadAll(zipped)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProfile, err)
	}
	const fieldSample, fieldText = 2, 6
	var samples [][]byte
	var texts []string
	for f := range fields(text, &err) {
		switch f.number {
		case fieldSample:
			samples = append(samples, f.bytes)
		case fieldText:
			texts = append(texts, string(f.bytes))
		}
	}
	of := make(map[string]time.Duration)
	for _, sample := range samples {
		value, took := "", int64(0)
		const fieldValue, fieldLabel = 2, 3
		values := 0
		for f := range fields(sample, &err) {
			switch f.number {
			case fieldValue:
				for _, v := range f.numbers() {
					if values++; values == 2 {
						took = int64(v)
					}
				}
			case fieldLabel:
				var key, str uint64
				for l := range fields(f.bytes, &err) {
					switch l.number {
					case 1:
						key = l.value
					case 2:
						str = l.value
					}
				}
				if key < uint64(len(texts)) && str < uint64(len(texts)) && texts[key] == label {
					value = texts[str]
				}
			}
		}
		of[value] += time.Duration(took)
	}
	return of, err
}

// A field is one of a message of protobuf.
type field struct {
	number uint64
	value  uint64 // if it is a number
	bytes  []byte // if it has a length
}

// numbers are those of a field that may have several.
func (f field) numbers() (all []uint64) {
	if f.bytes == nil {
		return []uint64{f.value}
	}
	for b := f.bytes; len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return all
		}
		all, b = append(all, v), b[n:]
	}
	return all
}

// fields goes over a message, up to where it cannot be read, which it tells.
func fields(b []byte, fault *error) func(yield func(field) bool) {
	return func(yield func(field) bool) {
		for len(b) > 0 {
			tag, n := binary.Uvarint(b)
			if n <= 0 {
				*fault = errProfile
				return
			}
			b = b[n:]
			f := field{number: tag >> 3}
			switch tag & 7 {
			case 0:
				if f.value, n = binary.Uvarint(b); n <= 0 {
					*fault = errProfile
					return
				}
				b = b[n:]
			case 2:
				size, n := binary.Uvarint(b)
				if n <= 0 || size > uint64(len(b)-n) {
					*fault = errProfile
					return
				}
				f.bytes, b = b[n:n+int(size)], b[n+int(size):]
			default: // which a profile does not have
				*fault = errProfile
				return
			}
			if !yield(f) {
				return
			}
		}
	}
}
