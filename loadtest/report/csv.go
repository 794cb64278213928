package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// CSV writes one line for each contestant, round and window. Its columns are contestant,
// round and phase (the step of the script in which the window begins), then those of a
// Window by their names in JSON, then those of the Sample of that time: handoffs,
// moved_keys, moved_bytes and forwarded, and cores and memory_bytes, the sums of all nodes.
// Unknown values are empty.
func CSV(w io.Writer, r *result.Report) error {
	out := csv.NewWriter(w)
	head := append([]string{"contestant", "round", "phase"}, fieldNames(reflect.TypeFor[result.Window](), "")...)
	_ = out.Write(append(head, "handoffs", "moved_keys", "moved_bytes", "forwarded", "cores", "memory_bytes"))
	for i := range r.Contestants {
		c := &r.Contestants[i]
		for j := range c.Runs {
			run := &c.Runs[j]
			phase, sample := 0, 0
			for k := range run.Windows {
				window := &run.Windows[k]
				for phase < len(run.Phases)-1 && window.AtMS >= run.Phases[phase].UntilMS {
					phase++
				}
				for sample < len(run.Samples) && run.Samples[sample].AtMS < window.AtMS {
					sample++
				}
				row := []string{c.Name, strconv.Itoa(run.Round), ""}
				if phase < len(run.Phases) {
					row[2] = run.Phases[phase].Name
				}
				row = append(row, fieldTexts(reflect.ValueOf(*window))...)
				if sample < len(run.Samples) && run.Samples[sample].AtMS < window.AtMS+max(r.WindowMS, 1) {
					row = append(row, sampleTexts(&run.Samples[sample])...)
				} else {
					row = append(row, "", "", "", "", "", "")
				}
				_ = out.Write(row)
			}
		}
	}
	return flushed(out)
}

// sampleTexts are the columns of a sample.
func sampleTexts(s *result.Sample) []string {
	cores, memory := sums(s)
	texts := []string{strconv.FormatInt(s.Handoffs, 10), strconv.FormatInt(s.MovedKeys, 10), strconv.FormatInt(s.MovedBytes, 10), floatText(s.Forwarded), "", ""}
	if cores != nil {
		texts[4] = floatText(*cores)
	}
	if memory != nil {
		texts[5] = strconv.FormatInt(*memory, 10)
	}
	return texts
}

// sums are those of all nodes; nil where no node reported them.
func sums(s *result.Sample) (cores *float64, memory *int64) {
	for i := range s.Nodes {
		if c := s.Nodes[i].Cores; c != nil && !isNone(*c) {
			if cores == nil {
				cores = new(float64)
			}
			*cores += *c
		}
		if m := s.Nodes[i].MemoryBytes; m != nil {
			if memory == nil {
				memory = new(int64)
			}
			*memory += *m
		}
	}
	return cores, memory
}

// EventsCSV writes one line for each contestant, round and event: contestant and round, then
// the event's fields by their names in JSON, with dots between the parts.
func EventsCSV(w io.Writer, r *result.Report) error {
	out := csv.NewWriter(w)
	_ = out.Write(append([]string{"contestant", "round"}, fieldNames(reflect.TypeFor[result.Event](), "")...))
	for i := range r.Contestants {
		c := &r.Contestants[i]
		for j := range c.Runs {
			for k := range c.Runs[j].Events {
				_ = out.Write(append([]string{c.Name, strconv.Itoa(c.Runs[j].Round)}, fieldTexts(reflect.ValueOf(c.Runs[j].Events[k]))...))
			}
		}
	}
	return flushed(out)
}

// flushed returns the first error of all writes.
func flushed(out *csv.Writer) error {
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

// fieldNames are the paths of all texts and numbers in a type, as JSON names them. Lists have none.
func fieldNames(t reflect.Type, path string) []string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice:
		return nil
	case reflect.Struct:
	default:
		return []string{path}
	}
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if path != "" {
			name = path + "." + name
		}
		names = append(names, fieldNames(t.Field(i).Type, name)...)
	}
	return names
}

// fieldTexts are the values in the order of fieldNames.
func fieldTexts(v reflect.Value) []string {
	switch {
	case v.Kind() == reflect.Slice:
		return nil
	case v.Kind() == reflect.Pointer && v.IsNil():
		return make([]string, len(fieldNames(v.Type(), "")))
	case v.Kind() == reflect.Pointer:
		return fieldTexts(v.Elem())
	case v.Kind() == reflect.Struct:
		var texts []string
		for i := range v.NumField() {
			texts = append(texts, fieldTexts(v.Field(i))...)
		}
		return texts
	case v.CanFloat():
		return []string{floatText(v.Float())}
	case v.CanInt():
		return []string{strconv.FormatInt(v.Int(), 10)}
	}
	return []string{v.String()}
}

func floatText(x float64) string {
	if isNone(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
