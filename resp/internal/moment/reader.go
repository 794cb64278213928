package moment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

const (
	// renewEvery is how often nodes hear that the moment is still wanted. A node that has lost its last connection
	// of this client waits for 4 seconds.
	renewEvery = 1500 * time.Millisecond
	// retryFor is how long a read is tried again that got no answer.
	retryFor = 20 * time.Second
	// retryPause is the time between two attempts.
	retryPause = 200 * time.Millisecond
	// stopTimeout is how long nodes may take to forget the moment.
	stopTimeout = 2 * time.Second
)

// A Reader reads one moment of a cluster. The nodes keep the moment until Close.
type Reader struct {
	Moment Moment

	ring     Asker
	cancel   context.CancelFunc
	renewing sync.WaitGroup
}

// An Asker sends commands to a node of the cluster.
type Asker interface {
	Do(ctx context.Context, args ...string) client.Reply
}

// Open has the nodes agree on a moment. The ring must outlive the Reader. The context ends with the Reader.
func Open(ctx context.Context, ring Asker) (*Reader, error) {
	text, err := ring.Do(ctx, "RING", "BACKUP", "START").Bytes()
	if err != nil {
		return nil, fmt.Errorf("no moment: %w", err)
	}
	r := &Reader{ring: ring}
	if err := json.Unmarshal(text, &r.Moment); err != nil {
		return nil, fmt.Errorf("the reply to RING BACKUP START: %w", err)
	}
	ctx, r.cancel = context.WithCancel(ctx)
	for _, p := range r.Moment.Parts {
		r.renewing.Go(func() { r.renew(ctx, p.Node) })
	}
	return r, nil
}

// renew keeps a node from giving the moment up while others are read. A node that does not answer is found by its
// reader.
func (r *Reader) renew(ctx context.Context, node string) {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		_ = r.ring.Do(ctx, "RING", "BACKUP", "RENEW", r.Moment.ID, node).Err()
	}
}

// Close has the nodes forget the moment. Those that cannot be reached do so after half a minute.
func (r *Reader) Close() {
	r.cancel()
	r.renewing.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var all sync.WaitGroup
	for i := range r.Moment.Parts {
		all.Go(func() { _ = r.ring.Do(ctx, "RING", "BACKUP", "STOP", r.Moment.ID, r.Moment.Parts[i].Node).Err() })
	}
	all.Wait()
}

// Part returns the stream of a part, which is an RDB file. A part can be read once.
func (r *Reader) Part(ctx context.Context, i int) *PartReader {
	return &PartReader{ctx: ctx, r: r, node: r.Moment.Parts[i].Node}
}

// A PartReader is the stream of one node. It is for one goroutine.
type PartReader struct {
	// Keys is how many keys the stream has, known at its end.
	Keys int64

	ctx  context.Context
	r    *Reader
	node string
	at   int64 // bytes that have come
	data []byte
	end  bool
}

// Each calls visit for each key of the stream, and returns an error unless all have come. The entry is valid during the
// call. The error of visit ends it.
func (p *PartReader) Each(visit func(*rdbfile.Entry) error) error {
	in := rdbfile.NewReader(p, rdbfile.Config{MaxPart: math.MaxInt}) // RDB files of old versions know no parts
	for keys := int64(0); ; {
		entry, err := in.Next()
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			if _, err := io.Copy(io.Discard, p); err != nil || keys != p.Keys {
				return fmt.Errorf("source: %d keys instead of %d: %w", keys, p.Keys, err)
			}
			return nil
		case err != nil:
			return fmt.Errorf("source: %w", err)
		case entry.Kind != rdbfile.Key:
			continue
		}
		keys++
		if err := visit(entry); err != nil {
			return err
		}
	}
}

// Read implements io.Reader.
func (p *PartReader) Read(b []byte) (int, error) {
	for len(p.data) == 0 {
		if p.end {
			return 0, io.EOF
		}
		if err := p.next(); err != nil {
			return 0, fmt.Errorf("node %s: %w", p.node, err)
		}
	}
	n := copy(b, p.data)
	p.data = p.data[n:]
	return n, nil
}

// next asks for what follows.
func (p *PartReader) next() error {
	reply, err := p.ask("RING", "BACKUP", "READ", p.r.Moment.ID, p.node, strconv.FormatInt(p.at, 10))
	if err != nil {
		return err
	}
	line, data, _ := bytes.Cut(reply, []byte("\n"))
	var head struct {
		Bytes int   `json:"bytes"`
		End   bool  `json:"end"`
		Keys  int64 `json:"keys"`
	}
	if err := json.Unmarshal(line, &head); err != nil || head.Bytes != len(data) {
		return fmt.Errorf("a reply with %d bytes that cannot be read: %w", len(data), err)
	}
	if head.End {
		p.end, p.Keys = true, head.Keys
		return nil
	}
	p.data = data
	p.at += int64(len(data))
	return nil
}

// ask repeats a request that got no reply. A node answers a repeated read with the same bytes.
func (p *PartReader) ask(args ...string) ([]byte, error) {
	for began := time.Now(); ; {
		reply := p.r.ring.Do(p.ctx, args...)
		err := reply.Err()
		if err == nil {
			return reply.Bytes()
		}
		var server *client.ServerError
		if p.ctx.Err() != nil || errors.As(err, &server) && server.Code == "ERR" || time.Since(began) > retryFor {
			return nil, err
		}
		timer := time.NewTimer(retryPause)
		select {
		case <-timer.C:
		case <-p.ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}
