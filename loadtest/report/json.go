package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrVersion says that a report is of a version that this program cannot read.
var ErrVersion = errors.New("unknown version of a report")

// JSON writes the report as it is. FORMAT.md explains every field.
func JSON(w io.Writer, r *Report) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Read reads what JSON wrote. Fields that it does not know are passed over; of another
// version it reads nothing, with an error that wraps [ErrVersion].
func Read(from io.Reader) (*Report, error) {
	var r Report
	if err := json.NewDecoder(from).Decode(&r); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if r.Version != Version {
		return nil, fmt.Errorf("read report: %w: %d, want %d", ErrVersion, r.Version, Version)
	}
	return &r, nil
}
