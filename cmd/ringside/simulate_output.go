package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// An output is a file that a report is written to in one form.
type output struct {
	kind, path string
	file       *os.File // nil for standard output
	isNew      bool
}

type outputs []output

// openOutputs opens all of them, so that what cannot be written is known before a
// long run. What is in a file stays until write.
func openOutputs(wanted []output) (outputs, error) {
	var opened outputs
	var faults []error
	seen := map[string]string{}
	for _, o := range wanted {
		if other, ok := seen[filepath.Clean(o.path)]; ok {
			faults = append(faults, fmt.Errorf("--%s: %s is that of --%s already", o.kind, o.path, other))
			continue
		}
		seen[filepath.Clean(o.path)] = o.kind
		if o.path != "-" {
			_, err := os.Lstat(o.path)
			o.isNew = errors.Is(err, os.ErrNotExist)
			if o.file, err = os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
				faults = append(faults, fmt.Errorf("--%s: %w", o.kind, err))
				continue
			}
		}
		opened = append(opened, o)
	}
	return opened, errors.Join(faults...)
}

func (all outputs) toStdout() bool {
	for _, o := range all {
		if o.file == nil {
			return true
		}
	}
	return false
}

// write fills and closes the files.
func (all outputs) write(stdout io.Writer, render func(kind string, w io.Writer) error) []error {
	var faults []error
	for _, o := range all {
		if err := o.write(stdout, render); err != nil {
			faults = append(faults, fmt.Errorf("write --%s %s: %w", o.kind, o.path, err))
		}
	}
	return faults
}

func (o output) write(stdout io.Writer, render func(kind string, w io.Writer) error) error {
	if o.file == nil {
		return render(o.kind, stdout)
	}
	if info, err := o.file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := o.file.Truncate(0); err != nil {
			return errors.Join(err, o.file.Close())
		}
	}
	buffered := bufio.NewWriterSize(o.file, 1<<20)
	err := render(o.kind, buffered)
	if err == nil {
		err = buffered.Flush()
	}
	return errors.Join(err, o.file.Close())
}

// abandon closes the files as they were, and removes those that were not there.
func (all outputs) abandon() {
	for _, o := range all {
		if o.file == nil {
			continue
		}
		o.file.Close()
		if o.isNew {
			os.Remove(o.path)
		}
	}
}
