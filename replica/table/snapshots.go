package table

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/raft"

	"github.com/ringside-kv/ringside/replica/table/internal/checked"
	"github.com/ringside-kv/ringside/replica/table/internal/highwater"
)

// snapshotHead is what the contents of a snapshot begin with, before the checksum of its
// description. The library checks the contents only. It is not part of what is sent to
// other nodes.
const snapshotHead = "RSS1"

const snapshotHeadSize = len(snapshotHead) + checked.SumSize

// checkedSnapshots adds to each snapshot a checksum of what the library notes about it.
type checkedSnapshots struct {
	raft.SnapshotStore
	dir  string // of the snapshots
	mark *highwater.File
}

func descriptionSum(index, term uint64, configuration raft.Configuration, configurationIndex uint64) uint32 {
	b, err := json.Marshal([]any{index, term, configuration, configurationIndex})
	if err != nil {
		panic(err) // numbers and texts
	}
	return crc32.Checksum(b, checked.Castagnoli)
}

// Create implements raft.SnapshotStore.
func (c *checkedSnapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration, configurationIndex uint64, transport raft.Transport) (raft.SnapshotSink, error) {
	sink, err := c.SnapshotStore.Create(version, index, term, configuration, configurationIndex, transport)
	if err != nil {
		return nil, err
	}
	head := binary.BigEndian.AppendUint32([]byte(snapshotHead), descriptionSum(index, term, configuration, configurationIndex))
	if _, err := sink.Write(head); err != nil {
		return nil, errors.Join(err, sink.Cancel())
	}
	return &checkedSink{sink, index, c.mark}, nil
}

type checkedSink struct {
	raft.SnapshotSink
	index uint64
	mark  *highwater.File
}

// Close implements raft.SnapshotSink.
func (s *checkedSink) Close() error {
	err := s.SnapshotSink.Close()
	if err == nil {
		s.mark.Record(func(m *highwater.Progress) { m.Snapshot = max(m.Snapshot, s.index) })
	}
	return err
}

// List implements raft.SnapshotStore. The newest snapshot that is there must be readable:
// the library would go on with the one before, and the entries in between may be gone.
func (c *checkedSnapshots) List() ([]*raft.SnapshotMeta, error) {
	list, err := c.SnapshotStore.List()
	if err != nil {
		return nil, err
	}
	names, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	for _, name := range names {
		var index, term, at uint64
		if _, err := fmt.Sscanf(name.Name(), "%d-%d-%d", &term, &index, &at); err != nil || !name.IsDir() || strings.HasSuffix(name.Name(), ".tmp") {
			continue
		}
		if len(list) == 0 || term > list[0].Term || term == list[0].Term && index > list[0].Index {
			return nil, checked.Damaged(filepath.Join(c.dir, name.Name()), "the snapshot has no readable description")
		}
	}
	for i, meta := range list {
		if fmt.Sprintf("%d-%d-", meta.Term, meta.Index) != meta.ID[:strings.LastIndexByte(meta.ID, '-')+1] {
			return nil, checked.Damaged(filepath.Join(c.dir, meta.ID), "the description speaks of entry %d of term %d", meta.Index, meta.Term)
		}
		if list[i], err = c.described(meta); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// described is a description with the size of the contents without the head.
func (c *checkedSnapshots) described(meta *raft.SnapshotMeta) (*raft.SnapshotMeta, error) {
	found, from, err := c.Open(meta.ID)
	if err != nil {
		return nil, err
	}
	return found, from.Close()
}

// Open implements raft.SnapshotStore.
func (c *checkedSnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	path := filepath.Join(c.dir, id)
	meta, from, err := c.SnapshotStore.Open(id)
	if err != nil {
		return nil, nil, checked.Damaged(path, "the snapshot cannot be read: %v", err)
	}
	head := make([]byte, snapshotHeadSize)
	n, err := io.ReadFull(from, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, errors.Join(fmt.Errorf("table: read %s: %w", path, err), from.Close())
	}
	if n < len(head) || !bytes.HasPrefix(head, []byte(snapshotHead)) {
		// It is of an earlier build.
		return meta, &prefixed{io.MultiReader(bytes.NewReader(head[:n]), from), from}, nil
	}
	if binary.BigEndian.Uint32(head[len(snapshotHead):]) != descriptionSum(meta.Index, meta.Term, meta.Configuration, meta.ConfigurationIndex) {
		return nil, nil, errors.Join(checked.Damaged(path, "the snapshot's description fails its checksum"), from.Close())
	}
	stripped := *meta
	stripped.Size -= int64(len(head))
	return &stripped, from, nil
}

// A prefixed reads from one reader and closes another.
type prefixed struct {
	io.Reader
	io.Closer
}
