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

// Numbers of fields in github.com/google/pprof/proto/profile.proto.
const (
	profileSample, profileText = 2, 6
	sampleValue, sampleLabel   = 2, 3
	labelKey, labelText        = 1, 2
)

// worked reads a processor profile of this program, as runtime/pprof writes it, and returns
// how long each value of a label has run; that of "" is all that has not the label.
//
// Of the format it reads samples, their second value, which is nanoseconds, their labels that are
// text, and the table of texts. Two values are few enough to be written one by one, not packed.
func worked(profile []byte, label string) (map[string]time.Duration, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(profile))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProfile, err)
	}
	text, err := io.ReadAll(zipped)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProfile, err)
	}
	all, err := readMessage(text)
	if err != nil {
		return nil, err
	}
	texts := all.texts[profileText]
	of := make(map[string]time.Duration)
	for _, b := range all.texts[profileSample] {
		sample, err := readMessage(b)
		if err != nil {
			return nil, err
		}
		value := ""
		for _, b := range sample.texts[sampleLabel] {
			l, err := readMessage(b)
			if err != nil {
				return nil, err
			}
			key, text := l.number(labelKey, 0), l.number(labelText, 0)
			if n := uint64(len(texts)); key < n && text < n && string(texts[key]) == label {
				value = string(texts[text])
			}
		}
		of[value] += time.Duration(sample.number(sampleValue, 1))
	}
	return of, nil
}

// A message is one of protobuf: its fields by number, each as often as it comes.
type message struct {
	numbers map[uint64][]uint64
	texts   map[uint64][][]byte
}

func readMessage(b []byte) (message, error) {
	m := message{make(map[uint64][]uint64), make(map[uint64][][]byte)}
	for len(b) > 0 {
		tag, size := binary.Uvarint(b)
		if size <= 0 {
			return m, errProfile
		}
		value, n := binary.Uvarint(b[size:])
		if n <= 0 {
			return m, errProfile
		}
		b = b[size+n:]
		switch number := tag >> 3; tag & 7 {
		case 0:
			m.numbers[number] = append(m.numbers[number], value)
		case 2:
			if value > uint64(len(b)) {
				return m, errProfile
			}
			m.texts[number] = append(m.texts[number], b[:value])
			b = b[value:]
		default: // which a profile does not have
			return m, errProfile
		}
	}
	return m, nil
}

// number is the i-th value of a field, 0 if there is none.
func (m message) number(field uint64, i int) uint64 {
	if all := m.numbers[field]; i < len(all) {
		return all[i]
	}
	return 0
}
