package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// ErrVersion says that a report is of a version that this program cannot read.
var ErrVersion = errors.New("unknown version of a report")

// JSON writes the report as it is, with a window, a sample or an event a line. FORMAT.md
// explains every field. Numbers that are none become 0, or null where a field may be: a
// test that took hours is not lost for one division by nothing.
func JSON(w io.Writer, r *result.Report) error {
	text, err := json.Marshal(r)
	var unsupported *json.UnsupportedValueError
	if errors.As(err, &unsupported) {
		text, err = json.Marshal(finite(reflect.ValueOf(r)).Interface())
	}
	if err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	out := bufio.NewWriter(w)
	if err := errors.Join(breakLines(out, text), out.Flush()); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

// Read reads what JSON wrote. Fields that it does not know are passed over; of another
// version it reads nothing, with an error that wraps [ErrVersion].
func Read(from io.Reader) (*result.Report, error) {
	var r result.Report
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	// The version comes first: another may have other types.
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if version.Version != result.Version {
		return nil, fmt.Errorf("read report: %w: %d, want %d", ErrVersion, version.Version, result.Version)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return &r, nil
}

// lineDepth is how many braces and brackets are open around a field that has a line of its
// own: those of a run, and the elements of its lists.
const lineDepth = 6

// breakLines breaks JSON into lines that can be read and compared: one for each field and element down to
// lineDepth.
func breakLines(out *bufio.Writer, text []byte) error {
	var broken bytes.Buffer
	if err := json.Indent(&broken, text, "", " "); err != nil {
		return err
	}
	for line := range bytes.Lines(broken.Bytes()) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		content := bytes.TrimLeft(line, " ")
		switch depth := len(line) - len(content); {
		case depth > lineDepth, depth == lineDepth && (content[0] == '}' || content[0] == ']'):
			line = content // goes on with the line before
		case depth > 0 || content[0] == '}':
			_ = out.WriteByte('\n')
		}
		_, _ = out.Write(line)
	}
	return out.WriteByte('\n')
}

// finite is a copy without numbers that are none.
func finite(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Float64:
		if isNone(v.Float()) {
			out.SetFloat(0)
		}
	case reflect.Pointer:
		switch {
		case v.IsNil():
		case v.Elem().Kind() == reflect.Float64 && isNone(v.Elem().Float()):
			out.SetZero()
		default:
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(finite(v.Elem()))
		}
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(finite(v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(finite(v.Field(i)))
			}
		}
	}
	return out
}

func isNone(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// SimulationJSON writes the report as it is, indented. The fields are those of [sim.Report].
func SimulationJSON(w io.Writer, r *sim.Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
