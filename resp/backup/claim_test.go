package backup

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/resp/backup/internal/s3test"
	"github.com/ringside-kv/ringside/resp/backup/internal/storage"
	"github.com/ringside-kv/ringside/resp/node"
)

// smallSource is a node with one key.
func smallSource(t *testing.T) *redis.Client {
	t.Helper()
	_, source := startNode(t, func(*node.Config) {})
	do(t, source, 0, "SET k v")
	return source
}

// TestOverlappingBackupIsRefused begins a second backup into a place during the first.
func TestOverlappingBackupIsRefused(t *testing.T) {
	t.Parallel()
	source := smallSource(t)
	access := Access{Env: s3test.New(t).Env()}
	dir := t.TempDir()
	for _, place := range []string{dir, "s3://" + s3test.Bucket, "s3://" + s3test.Bucket + "/x"} {
		take := func(ctx context.Context, started func()) error {
			_, err := Take(ctx, TakeConfig{Source: sourceOf(source), To: place, Access: access, started: started})
			return err
		}
		if err := take(t.Context(), func() {
			if err := take(t.Context(), nil); !errors.Is(err, storage.ErrClaimed) {
				t.Errorf("%s: a second backup: %v", place, err)
			}
		}); err != nil {
			t.Errorf("%s: %v", place, err)
		}
		if _, err := Verify(t.Context(), place, access, nil); err != nil {
			t.Errorf("%s: %v", place, err)
		}
		if err := take(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "holds a backup already") {
			t.Errorf("%s: after it: %v", place, err)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 2 {
		t.Errorf("the directory has %v, %v", names, err)
	}
}

// TestFailedBackupKeepsBackupOfAnotherRun has a run lose its claim, as where it was taken for killed, and fail after another
// run has ended.
func TestFailedBackupKeepsBackupOfAnotherRun(t *testing.T) {
	t.Parallel()
	source := smallSource(t)
	access := Access{Env: s3test.New(t).Env()}
	for _, place := range []string{t.TempDir(), "s3://" + s3test.Bucket + "/x"} {
		for _, cancels := range []bool{true, false} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			target, err := storage.OpenTarget(t.Context(), place, access)
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			_, err = Take(ctx, TakeConfig{Source: sourceOf(source), To: place, Access: access, started: func() {
				if err := target.Remove(t.Context(), "backup.claim"); err != nil {
					t.Error(err)
				}
				if _, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: place, Access: access}); err != nil {
					t.Errorf("%s: the second run: %v", place, err)
				}
				if cancels {
					cancel()
				}
			}})
			if err == nil || cancels && !strings.Contains(err.Error(), "its files stay") {
				t.Errorf("%s: the first run: %v", place, err)
			}
			m, err := Verify(t.Context(), place, access, nil)
			if cancels && err != nil { // else both have written 0001.rdb
				t.Errorf("%s: the backup of the second run: %v", place, err)
			}
			for _, f := range m.Files {
				if has, err := target.Has(t.Context(), f.Name); !has || err != nil {
					t.Errorf("%s: %s is there: %v, %v", place, f.Name, has, err)
				}
				_ = target.Remove(t.Context(), f.Name)
			}
			if err := target.Remove(t.Context(), manifestName); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestClaimOfKilledRunBlocksNoPlaceForEver leaves a claim, as a run does that is killed.
func TestClaimOfKilledRunBlocksNoPlaceForEver(t *testing.T) {
	t.Parallel()
	source := smallSource(t)
	access := Access{Env: s3test.New(t).Env()}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "backup.claim"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: dir}); err != nil {
		t.Errorf("into a directory: %v", err)
	}
	place := "s3://" + s3test.Bucket + "/x"
	killed, err := storage.OpenTarget(t.Context(), place, access)
	if err != nil {
		t.Fatal(err)
	}
	defer killed.Close()
	if err := killed.Claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = Take(t.Context(), TakeConfig{Source: sourceOf(source), To: place, Access: access})
	if !errors.Is(err, storage.ErrClaimed) || !strings.Contains(err.Error(), "delete the object x/backup.claim") {
		t.Errorf("into a bucket: %v", err)
	}
	if err := killed.Remove(t.Context(), "backup.claim"); err != nil {
		t.Fatal(err)
	}
	if _, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: place, Access: access}); err != nil {
		t.Errorf("without the claim: %v", err)
	}
}

// TestManifestWithLostAnswer has a service store the manifest, and the answer get lost.
func TestManifestWithLostAnswer(t *testing.T) {
	t.Parallel()
	source := smallSource(t)
	service := s3test.New(t)
	at, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	to := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at); r.Out.Host = r.In.Host }}
	for _, removes := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var stored atomic.Bool
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			manifest := strings.HasSuffix(r.URL.Path, manifestName)
			switch {
			case manifest && r.Method == http.MethodPut:
				to.ServeHTTP(httptest.NewRecorder(), r)
				stored.Store(true)
				cancel() // the operator interrupts the backup
				panic(http.ErrAbortHandler)
			case manifest && stored.Load() && r.Method == http.MethodDelete && !removes:
				panic(http.ErrAbortHandler)
			}
			to.ServeHTTP(w, r)
		}))
		defer proxy.Close()
		place, access := "s3://"+s3test.Bucket+"/x", Access{Env: service.Env()}
		_, err := Take(ctx, TakeConfig{Source: sourceOf(source), To: place, Access: Access{Env: service.Env("AWS_ENDPOINT_URL", proxy.URL)}})
		if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "ringside backup --verify") != !removes {
			t.Errorf("the backup: %v", err)
		}
		_, err = Verify(t.Context(), place, access, nil)
		if !removes {
			if err != nil {
				t.Errorf("all files should be there: %v", err)
			}
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) && (err == nil || !strings.Contains(err.Error(), "no backup")) {
			t.Errorf("the manifest should be gone: %v", err)
		}
		if _, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: place, Access: access}); err != nil {
			t.Errorf("another backup: %v", err)
		}
		target, err := storage.OpenTarget(t.Context(), place, access)
		if err != nil {
			t.Fatal(err)
		}
		if err := target.Remove(t.Context(), manifestName); err != nil {
			t.Error(err)
		}
		_ = target.Close()
	}
}
