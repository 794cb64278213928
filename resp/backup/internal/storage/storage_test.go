package storage

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ringside-kv/ringside/resp/backup/internal/s3test"
)

const (
	pieceSize = 40 << 10
	firstPart = 100 << 10
)

// openSmall opens a place whose pieces and parts are small.
func openSmall(t *testing.T, place string, access Access) Target {
	t.Helper()
	to, err := OpenTarget(t.Context(), place, access)
	if err != nil {
		t.Fatal(err)
	}
	switch to := to.(type) {
	case *streamTarget:
		to.pieceSize = pieceSize
	case *bucket:
		to.firstPart = firstPart
	}
	return to
}

// contents are files of many sizes, also around those of pieces and parts.
func contents() map[string][]byte {
	source := rand.NewChaCha8([32]byte{26})
	all := make(map[string][]byte)
	for i, size := range []int{1, 4096, pieceSize, pieceSize + 1, firstPart, 6*firstPart + pieceSize + 7} {
		b := make([]byte, size)
		_, _ = source.Read(b)
		all[fmt.Sprintf("%04d.rdb", i)] = b
	}
	all["manifest.json"] = []byte("{}")
	return all
}

// write writes all files at once, in steps of some size, and manifest.json last.
func write(ctx context.Context, t *testing.T, to Target, files map[string][]byte, step int) error {
	t.Helper()
	put := func(name string) error {
		f, err := to.Create(ctx, name)
		if err != nil {
			return err
		}
		defer f.Abort()
		for rest := files[name]; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			if _, err := f.Write(rest[:min(step, len(rest))]); err != nil {
				return err
			}
		}
		return f.Commit()
	}
	var running sync.WaitGroup
	errs := make(chan error, len(files)+1)
	for name := range files {
		if name != "manifest.json" {
			running.Go(func() { errs <- put(name) })
		}
	}
	running.Wait()
	errs <- put("manifest.json")
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(append(all, to.Close())...)
}

func check(t *testing.T, from Source, files map[string][]byte) {
	t.Helper()
	for name, want := range files {
		f, err := from.Open(t.Context(), name)
		if err != nil {
			t.Error(name, err)
			continue
		}
		got, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes instead of %d, %v", name, len(got), len(want), err)
		}
		_ = f.Close()
	}
	if _, err := from.Open(t.Context(), "0099.rdb"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := from.Close(); err != nil {
		t.Error(err)
	}
}

func TestFilesComeBackFromEachPlace(t *testing.T) {
	t.Parallel()
	files := contents()
	service := s3test.New(t)
	dir := filepath.Join(t.TempDir(), "a", "b")
	var stream bytes.Buffer
	access := Access{Env: service.Env("AWS_SESSION_TOKEN", "token", "AWS_REGION", "eu-west-1"), Out: &stream}
	for _, place := range []string{dir, "-", "s3://" + s3test.Bucket, "s3://" + s3test.Bucket + "/some/where/"} {
		to := openSmall(t, place, access)
		service.Drop.Store(2) // a client tries again
		if err := write(t.Context(), t, to, files, 30<<10); err != nil {
			t.Fatal(place, err)
		}
		service.Drop.Store(0)
		service.Cut.Store(firstPart / 2) // three reads of the longest
		access.In = bytes.NewReader(stream.Bytes())
		from, err := OpenSource(t.Context(), place, access)
		if err != nil {
			t.Fatal(err)
		}
		check(t, from, files)
		service.Cut.Store(0)
		if place == "-" {
			continue
		}
		to = openSmall(t, place, access)
		for _, want := range []bool{true, false} {
			if has, err := to.Has(t.Context(), "manifest.json"); err != nil || has != want {
				t.Errorf("%s: has the manifest: %v, %v", place, has, err)
			}
			if err := to.Remove(t.Context(), "manifest.json"); err != nil {
				t.Errorf("%s: removing the manifest: %v", place, err)
			}
		}
	}
	// What tar makes of a stream is a directory with the same files.
	extracted := t.TempDir()
	for r := tar.NewReader(&stream); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		text, readErr := io.ReadAll(r)
		if err = errors.Join(err, readErr, os.WriteFile(filepath.Join(extracted, h.Name), text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	from, err := OpenSource(t.Context(), extracted, access)
	if err != nil {
		t.Fatal(err)
	}
	check(t, from, files)
}

func TestAbortedFilesAreNotThere(t *testing.T) {
	t.Parallel()
	service := s3test.New(t)
	dir := t.TempDir()
	for _, place := range []string{dir, "s3://" + s3test.Bucket} {
		to := openSmall(t, place, Access{Env: service.Env()})
		ctx, cancel := context.WithCancel(t.Context())
		f, err := to.Create(ctx, "0001.rdb")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(make([]byte, firstPart+1)); err != nil {
			t.Fatal(err)
		}
		cancel()
		f.Abort()
		if has, err := to.Has(t.Context(), "0001.rdb"); err != nil || has {
			t.Errorf("%s: %v, %v", place, has, err)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Error(names, err)
	}
}

// TestServiceThatEndsDuringAnUploadLeavesNoFile ends the service between the parts of a long file, and before a short one.
func TestServiceThatEndsDuringAnUploadLeavesNoFile(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"in parts": 3*firstPart + 1, "in one request": firstPart / 2} {
		service := s3test.New(t)
		to := openSmall(t, "s3://"+s3test.Bucket, Access{Env: service.Env()})
		text := contents()["0005.rdb"][:size]
		f, err := to.Create(t.Context(), "0001.rdb")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(text[:min(size, 2*firstPart+1)]); err != nil {
			t.Fatal(err)
		}
		service.Gone.Store(true)
		_, err = f.Write(text[min(size, 2*firstPart+1):])
		if err == nil {
			err = f.Commit()
		}
		if err == nil || !strings.Contains(err.Error(), "bucket "+s3test.Bucket) || strings.Contains(err.Error(), s3test.Secret) {
			t.Errorf("%s: %v", name, err)
		}
		f.Abort()
		service.Gone.Store(false)
		if has, err := to.Has(t.Context(), "0001.rdb"); err != nil || has {
			t.Errorf("%s: after it has ended: %v, %v", name, has, err)
		}
		if err := write(t.Context(), t, to, map[string][]byte{"0001.rdb": text, "manifest.json": []byte("{}")}, size); err != nil {
			t.Fatal(err)
		}
		from, err := OpenSource(t.Context(), "s3://"+s3test.Bucket, Access{Env: service.Env()})
		if err != nil {
			t.Fatal(err)
		}
		check(t, from, map[string][]byte{"0001.rdb": text})
	}
}

// TestErrorsOfPlacesAreClear also looks for secrets in the errors.
func TestErrorsOfPlacesAreClear(t *testing.T) {
	t.Parallel()
	service := s3test.New(t)
	for _, test := range []struct {
		place string
		env   func(string) string
		want  string
	}{
		{"", nil, "neither a directory nor"},
		{"gs://bucket/x", nil, `"gs://" is neither a directory nor`},
		{"s3://", nil, "the name of the bucket is missing"},
		{"s3://" + s3test.KeyID + ":" + s3test.Secret + "@bucket/x", nil, "credentials belong into"},
		{"s3://nowhere/x", service.Env(), "bucket nowhere does not exist"},
		{"s3://" + s3test.Bucket, service.Env("AWS_ACCESS_KEY_ID", "AKIAOTHER"), "The access key is not known"},
		{"s3://" + s3test.Bucket, func(string) string { return "" }, "must be set"},
		{"s3://" + s3test.Bucket, service.Env("AWS_ENDPOINT_URL_S3", "ftp://"+s3test.Secret), "is not a URL as"},
		{"s3://" + s3test.Bucket, service.Env("AWS_ENDPOINT_URL", "host:9000"), "is not a URL as"},
		{"s3://B", service.Env(), "bucket B: "},
		{filepath.Join(os.DevNull, "x"), nil, "not a directory"},
	} {
		to, err := OpenTarget(t.Context(), test.place, Access{Env: test.env})
		if err == nil {
			_, err = to.Has(t.Context(), "manifest.json")
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), s3test.Secret) {
			t.Errorf("%q: %v, want %q", test.place, err, test.want)
		}
	}
}

// archive returns a tar archive of files whose text is their name.
func archive(t testing.TB, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		h := tar.Header{Name: name, Size: int64(len(name)), Mode: 0o600}
		if strings.HasSuffix(name, "/") {
			h.Size, h.Typeflag = 0, tar.TypeDir
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			_, _ = io.WriteString(w, name)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestStreamsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stream []byte
		want   string
	}{
		{archive(t, "./", "./1.rdb", "./manifest.json"), ""},
		{archive(t, "1.rdb.000001", "2.rdb.000001", "2.rdb.000002", "1.rdb.000002"), ""},
		{nil, ""}, // has no manifest
		{[]byte("REDIS0009"), "the stream is no backup"},
		{bytes.Repeat([]byte("x"), 1000), "the stream is no backup"},
		{archive(t, "../1.rdb"), "it has"},
		{archive(t, "/etc/1.rdb"), "it has"},
		{archive(t, "sub/"), "it has"},
		{archive(t, "1.rdb", "1.rdb"), "is not the next piece"},
		{archive(t, "1.rdb", "1.rdb.000001"), "is not the next piece"},
		{archive(t, "1.rdb.000000"), "is not the next piece"},
		{archive(t, "1.rdb.000002"), "is not the next piece"},
		{archive(t, "1.rdb.000001", "1.rdb.000003"), "is not the next piece"},
		{archive(t, "1.rdb")[:515], "unexpected EOF"},
	} {
		from, err := OpenSource(t.Context(), "-", Access{In: bytes.NewReader(test.stream)})
		if test.want == "" && err == nil {
			if err := from.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.20q: %v, want %q", test.stream, err, test.want)
		}
	}
}

func FuzzReadStream(f *testing.F) {
	f.Add(archive(f, "./", "./1.rdb", "manifest.json"))
	f.Add(archive(f, "1.rdb.000001", "2.rdb.000001", "2.rdb.000002", "1.rdb.000002"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		_ = ReadStream(bytes.NewReader(stream), func(name string, piece io.Reader) error {
			if name != filepath.Base(name) {
				t.Errorf("a file %q", name)
			}
			n, err := io.Copy(io.Discard, piece)
			if n > int64(len(stream)) {
				t.Errorf("%d bytes of %d", n, len(stream))
			}
			return err
		})
	})
}

// TestReadGoesOnWithoutTags reads from a service whose replies have no ETag and break off, one of them behind the last byte.
func TestReadGoesOnWithoutTags(t *testing.T) {
	t.Parallel()
	const size, cut = 100 << 10, 30 << 10
	text := contents()["0005.rdb"][:size]
	var past atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := 0
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
			if from >= size {
				past.Add(1)
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, size-1, size))
		}
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", fmt.Sprint(size-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(text[from:min(size, from+cut)])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(service.Close)
	env := func(name string) string {
		return map[string]string{"AWS_ENDPOINT_URL": service.URL, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}[name]
	}
	from, err := OpenSource(t.Context(), "s3://"+s3test.Bucket, Access{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	f, err := from.Open(t.Context(), "0001.rdb")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, text) || past.Load() > 0 {
		t.Errorf("%d bytes of %d, %v, %d requests behind the end", len(got), size, err, past.Load())
	}
	_ = f.Close()
}

// TestReadEndsWithReset has the connection break where all bytes have come.
func TestReadEndsWithReset(t *testing.T) {
	o := &object{ctx: t.Context(), body: io.NopCloser(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(syscall.ECONNRESET))), size: 3}
	if got, err := io.ReadAll(o); err != nil || string(got) != "abc" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestClaimIsForOneRun claims places at the same moment, many times.
func TestClaimIsForOneRun(t *testing.T) {
	t.Parallel()
	service := s3test.New(t)
	dir := t.TempDir()
	for _, place := range []string{dir, "s3://" + s3test.Bucket} {
		for range 20 {
			targets := make([]Target, 4)
			errs := make([]error, len(targets))
			var all sync.WaitGroup
			for i := range targets {
				targets[i] = openSmall(t, place, Access{Env: service.Env()})
				all.Go(func() { errs[i] = targets[i].Claim(t.Context()) })
			}
			all.Wait()
			claimed := 0
			for i, to := range targets {
				switch {
				case errs[i] == nil && to.Claimed(t.Context()):
					claimed++
				case !errors.Is(errs[i], ErrClaimed) || to.Claimed(t.Context()):
					t.Errorf("%s: %v", place, errs[i])
				}
			}
			if claimed != 1 {
				t.Errorf("%s: %d claims", place, claimed)
			}
			for _, to := range targets {
				to.Release(t.Context())
			}
			if has, err := targets[0].Has(t.Context(), claimName); has || err != nil {
				t.Errorf("%s: the claim is there after its end: %v, %v", place, has, err)
			}
		}
	}
}

// TestClaimThatIsALinkIsRefused has a link in the place of the claim, which is never the file that was locked.
func TestClaimThatIsALinkIsRefused(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "x")
	if err := os.Symlink(elsewhere, filepath.Join(dir, claimName)); err != nil {
		t.Fatal(err)
	}
	to := openSmall(t, dir, Access{})
	if err := to.Claim(t.Context()); err == nil || errors.Is(err, ErrClaimed) || !strings.Contains(err.Error(), "is a link") || to.Claimed(t.Context()) {
		t.Errorf("the claim: %v", err)
	}
	if _, err := os.Lstat(elsewhere); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of the link: %v", err)
	}
	to.Release(t.Context())
}

func TestClaimEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to := openSmall(t, t.TempDir(), Access{})
	if err := to.Claim(ctx); !errors.Is(err, context.Canceled) || to.Claimed(t.Context()) {
		t.Errorf("%v", err)
	}
}
