package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// defaultPart is how long the first parts of an upload are; each file that is being written has one in memory.
	defaultPart = 16 << 20
	// growEvery is after how many parts they become longer by defaultPart. A service takes 10,000 parts, which are
	// 1.7 TB then.
	growEvery = 500
	maxParts  = 10_000
	// tidyTimeout bounds what is done after an error.
	tidyTimeout = 5 * time.Second
	// readAttempts is how often a read that brings nothing is tried.
	readAttempts = 5
)

// A bucket is a place in a bucket of an S3-compatible service.
type bucket struct {
	client    minio.Core
	transport *http.Transport
	name      string
	prefix    string // of objects: empty, or with a slash at its end
	firstPart int    // bytes
	claim     []byte // what the object has that claims the place for this run; nil without one
}

// splitBucket returns the parts of s3://bucket/prefix.
func splitBucket(place string) (name, prefix string, err error) {
	name, prefix, _ = strings.Cut(strings.TrimPrefix(place, bucketScheme), "/")
	prefix = strings.Trim(prefix, "/")
	switch {
	case strings.Contains(name, "@"):
		return "", "", errors.New("credentials belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not into the name of a bucket")
	case name == "":
		return "", "", errors.New("the name of the bucket is missing: it is s3://bucket/prefix")
	}
	if prefix != "" {
		prefix += "/"
	}
	return name, prefix, nil
}

// openBucket connects to nothing yet, but for a request about the region.
func openBucket(_ context.Context, place string, env func(string) string) (*bucket, error) {
	name, prefix, err := splitBucket(place)
	if err != nil {
		return nil, err
	}
	first := func(names ...string) string {
		for _, name := range names {
			if v := env(name); v != "" {
				return v
			}
		}
		return ""
	}
	endpoint := first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
	host, secure, err := splitEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	id, secret := env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY")
	if id == "" || secret == "" {
		return nil, fmt.Errorf("bucket %s: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set", name)
	}
	region := first("AWS_REGION", "AWS_DEFAULT_REGION")
	if region == "" && endpoint != "" {
		region = "us-east-1" // services of others have one region
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	client, err := minio.New(host, &minio.Options{
		Creds: credentials.NewStaticV4(id, secret, env("AWS_SESSION_TOKEN")), Secure: secure, Region: region, Transport: transport,
	})
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", name, err)
	}
	client.SetAppInfo("ringside", "")
	return &bucket{client: minio.Core{Client: client}, transport: transport, name: name, prefix: prefix, firstPart: defaultPart}, nil
}

// splitEndpoint returns the host of a service; that of AWS if the URL is empty.
func splitEndpoint(endpoint string) (host string, secure bool, err error) {
	if endpoint == "" {
		return "s3.amazonaws.com", true, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" {
		return "", false, errors.New("AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL is not a URL as https://host:port")
	}
	return u.Host, u.Scheme == "https", nil
}

// fault adds the name of the bucket to an error, and fs.ErrNotExist to one about a missing object.
func (b *bucket) fault(err error) error {
	if err == nil {
		return nil
	}
	switch minio.ToErrorResponse(err).Code {
	case "NoSuchKey":
		return fmt.Errorf("bucket %s: %w", b.name, fs.ErrNotExist)
	case "NoSuchBucket":
		return fmt.Errorf("bucket %s does not exist", b.name)
	}
	return fmt.Errorf("bucket %s: %w", b.name, err)
}

// Has implements Target. It reads the object, since an answer to HEAD does not say whether there is a bucket.
func (b *bucket) Has(ctx context.Context, name string) (bool, error) {
	body, err := b.get(ctx, name, 0, "")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_ = body.Close()
	return true, nil
}

// Create implements Target.
func (b *bucket) Create(ctx context.Context, name string) (File, error) {
	return &upload{ctx: ctx, b: b, key: b.prefix + name}, nil
}

// Remove implements Target.
func (b *bucket) Remove(ctx context.Context, name string) error {
	return b.fault(b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}))
}

// Close implements Target and Source.
func (b *bucket) Close() error {
	b.transport.CloseIdleConnections()
	return nil
}

// An upload is a file that becomes an object: in one request if it is short, else in parts.
type upload struct {
	ctx   context.Context
	b     *bucket
	key   string
	buf   []byte
	id    string // of the upload in parts; empty before the first part
	parts []minio.CompletePart
}

func (u *upload) partSize() int { return u.b.firstPart * (1 + len(u.parts)/growEvery) }

// Write implements io.Writer.
func (u *upload) Write(b []byte) (int, error) {
	for n := 0; n < len(b); {
		if len(u.buf) == u.partSize() {
			if err := u.part(); err != nil {
				return n, err
			}
		}
		part := b[n:min(len(b), n+u.partSize()-len(u.buf))]
		u.buf = append(u.buf, part...)
		n += len(part)
	}
	return len(b), nil
}

// sumOf returns the checksum of a request's body. It is part of the signature, and the service compares it.
func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// part sends what there is as the next part.
func (u *upload) part() (err error) {
	if u.id == "" {
		if u.id, err = u.b.client.NewMultipartUpload(u.ctx, u.b.name, u.key, minio.PutObjectOptions{}); err != nil {
			return u.b.fault(err)
		}
	}
	if len(u.parts) == maxParts {
		return fmt.Errorf("bucket %s: the file has more than %d parts", u.b.name, maxParts)
	}
	number := len(u.parts) + 1
	p, err := u.b.client.PutObjectPart(u.ctx, u.b.name, u.key, u.id, number, bytes.NewReader(u.buf), int64(len(u.buf)),
		minio.PutObjectPartOptions{Sha256Hex: sumOf(u.buf), DisableContentSha256: true})
	if err != nil {
		return u.b.fault(err)
	}
	u.parts = append(u.parts, minio.CompletePart{PartNumber: number, ETag: p.ETag})
	u.buf = u.buf[:0]
	return nil
}

// Commit implements File.
func (u *upload) Commit() error {
	if u.id == "" {
		_, err := u.b.client.PutObject(u.ctx, u.b.name, u.key, bytes.NewReader(u.buf), int64(len(u.buf)), "", sumOf(u.buf), minio.PutObjectOptions{DisableContentSha256: true})
		u.buf = nil
		return u.b.fault(err)
	}
	if err := u.part(); err != nil {
		return err
	}
	_, err := u.b.client.CompleteMultipartUpload(u.ctx, u.b.name, u.key, u.id, u.parts, minio.PutObjectOptions{})
	if err == nil {
		u.id, u.buf = "", nil
	}
	return u.b.fault(err)
}

// Abort implements File.
func (u *upload) Abort() {
	u.buf = nil
	if u.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), tidyTimeout)
	defer cancel()
	_ = u.b.client.AbortMultipartUpload(ctx, u.b.name, u.key, u.id)
	u.id = ""
}

// get returns an object from an offset on, if it still has the given tag; any, if that is empty.
func (b *bucket) get(ctx context.Context, name string, from int64, tag string) (*object, error) {
	var opts minio.GetObjectOptions
	if from > 0 {
		if err := opts.SetRange(from, 0); err != nil {
			return nil, err
		}
	}
	if tag != "" { // a service may have none
		if err := opts.SetMatchETag(tag); err != nil {
			return nil, err
		}
	}
	body, info, _, err := b.client.GetObject(ctx, b.name, b.prefix+name, opts)
	if err != nil {
		return nil, b.fault(err)
	}
	return &object{ctx: ctx, b: b, name: name, body: body, tag: info.ETag, at: from, size: info.Size}, nil
}

// Open implements Source.
func (b *bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	o, err := b.get(ctx, name, 0, "")
	if err != nil {
		return nil, err
	}
	return o, nil
}

// An object reads a file. After a broken connection it continues at the byte that comes next.
type object struct {
	ctx      context.Context
	b        *bucket
	name     string
	body     io.ReadCloser
	tag      string
	at, size int64 // size is negative if the service does not tell
	failures int   // since something came
}

// Read implements io.Reader.
func (o *object) Read(b []byte) (int, error) {
	for {
		n, err := o.body.Read(b)
		o.at += int64(n)
		switch {
		case n > 0:
			o.failures = 0
			return n, nil
		case err == nil:
			return 0, nil
		case o.at >= o.size && (o.size >= 0 || errors.Is(err, io.EOF)):
			return 0, io.EOF // also if the connection broke behind the last byte
		}
		if o.failures++; o.failures > readAttempts || o.ctx.Err() != nil {
			return 0, o.b.fault(err)
		}
		next, err := o.b.get(o.ctx, o.name, o.at, o.tag)
		if err != nil {
			return 0, err
		}
		_ = o.body.Close()
		o.body = next.body
	}
}

// Close implements io.Closer.
func (o *object) Close() error { return o.body.Close() }
