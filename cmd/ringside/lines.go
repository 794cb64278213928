package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line that is a key: as long as a server takes one.
const maxLine = 64 << 10

// eachLine calls do with each line, without its line feed; the line is good until do
// returns. It calls idle whenever the next line may have to be waited for, and ends at
// its first error.
func eachLine(in io.Reader, do func(line []byte), idle func() error) error {
	r := bufio.NewReaderSize(in, maxLine+1)
	for n := 1; ; n++ {
		if r.Buffered() == 0 {
			if err := idle(); err != nil {
				return err
			}
		}
		line, err := r.ReadSlice('\n')
		switch {
		case err == nil:
			do(line[:len(line)-1])
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("standard input: line %d is longer than %d bytes, the longest key", n, maxLine)
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				do(line)
			}
			return nil
		default:
			return fmt.Errorf("standard input: line %d: %w", n, err)
		}
	}
}
