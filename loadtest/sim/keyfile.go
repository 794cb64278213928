package sim

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Bounds of what is read of keys.
const (
	// MaxKeyLen is the length in bytes of the longest key.
	MaxKeyLen = 64 << 10
	// MaxKeyBytes is the most that all keys of a source may be together.
	MaxKeyBytes = 4 << 30
)

// blockKeys is how many keys a block has: few enough that their bytes, at MaxKeyLen
// each, are counted in an uint32.
const blockKeys = 1 << 15

// A keyBlock is keys that were read, close together.
type keyBlock struct {
	data  []byte
	ends  []uint32
	sizes []int32 // of values, -1 where none is said; nil if none is
}

func (b *keyBlock) key(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = b.ends[i-1]
	}
	return b.data[start:b.ends[i]:b.ends[i]]
}

// size is that of the value, -1 if the source does not say it.
func (b *keyBlock) size(i int) int {
	if b.sizes == nil {
		return -1
	}
	return int(b.sizes[i])
}

func (b *keyBlock) add(key []byte, size int) {
	if size >= 0 && b.sizes == nil {
		b.sizes = make([]int32, len(b.ends), blockKeys)
		for i := range b.sizes {
			b.sizes[i] = -1
		}
	}
	if b.sizes != nil {
		b.sizes = append(b.sizes, int32(size))
	}
	b.data = append(b.data, key...)
	b.ends = append(b.ends, uint32(len(b.data)))
}

// readKeys reads a source as Config.KeySource tells. Its error has the line's number.
// The context is looked at between lines, not while the source is waited for.
func readKeys(ctx context.Context, source io.Reader) ([]keyBlock, int, error) {
	var blocks []keyBlock
	lines := bufio.NewReaderSize(source, MaxKeyLen+64)
	count, total := 0, 0
	for number := 1; ; number++ {
		if number%4096 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, 0, fmt.Errorf("line %d: longer than a key of %d bytes with its size", number, MaxKeyLen)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, fmt.Errorf("line %d: %w", number, err)
		}
		last := err != nil
		line = bytes.TrimSuffix(line, []byte{'\n'})
		if len(line) > 0 {
			key, size, err := parseKeyLine(line)
			total += len(key)
			switch {
			case err != nil:
				return nil, 0, fmt.Errorf("line %d: %w", number, err)
			case count == MaxKeys:
				return nil, 0, fmt.Errorf("line %d: more than %d keys", number, MaxKeys)
			case total > MaxKeyBytes:
				return nil, 0, fmt.Errorf("line %d: the keys so far are more than %d bytes", number, MaxKeyBytes)
			}
			if count%blockKeys == 0 {
				blocks = append(blocks, keyBlock{ends: make([]uint32, 0, min(blockKeys, max(count, 64)))})
			}
			blocks[len(blocks)-1].add(key, size)
			count++
		}
		if last {
			break
		}
	}
	if count == 0 {
		return nil, 0, errors.New("the file has no keys")
	}
	return blocks, count, nil
}

func parseKeyLine(line []byte) (key []byte, size int, err error) {
	tab := bytes.LastIndexByte(line, '\t')
	if tab < 0 {
		key, size = line, -1
	} else {
		key = line[:tab]
		size, err = strconv.Atoi(string(line[tab+1:]))
		if err != nil || size < 0 || size > MaxValueSize {
			return nil, 0, fmt.Errorf("%.40q after the last tab is not the size of a value, 0..%d bytes", line[tab+1:], MaxValueSize)
		}
	}
	if len(key) > MaxKeyLen {
		return nil, 0, fmt.Errorf("a key of %d bytes is longer than %d", len(key), MaxKeyLen)
	}
	return key, size, nil
}
