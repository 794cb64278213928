package importer

import (
	"context"
	"fmt"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/internal/moment"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A Moment is what the cluster says of the moment of an export.
type Moment = moment.Moment

// moment writes what all primaries held at one moment, one primary after the other.
func (e *exporter) moment(ctx context.Context, ring *client.Ring) (*Moment, error) {
	r, err := moment.Open(ctx, ring)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	defer r.Close()
	if err := e.head(r.Moment.AtMS / 1000); err != nil {
		return nil, err
	}
	if err := e.functions(ctx, ring); err != nil {
		return nil, err
	}
	for i := range r.Moment.Parts {
		if err := e.part(r.Part(ctx, i)); err != nil {
			return nil, err
		}
	}
	return &r.Moment, nil
}

// part writes what a primary held, and what the filter takes.
func (e *exporter) part(src *moment.PartReader) error {
	return src.Each(func(entry *rdbfile.Entry) error {
		database, ok := e.cfg.Filter.database(entry.Database)
		switch {
		case !ok:
			e.cfg.Stats.filtered.Add(1)
		case !e.cfg.Filter.takes(entry.Key, e.cfg.Stats):
		case entry.Reason != "":
			e.cfg.Stats.lose(Loss{Database: entry.Database, Key: string(entry.Key), Reason: entry.Reason})
		default:
			return e.key(entry.Database, database, entry.Key, sideValue{payload: entry.Payload, expireAt: entry.ExpireAt})
		}
		return nil
	})
}
