package s3test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"
)

// Bucket is the one bucket of a Service. KeyID and Secret are the credentials that it takes.
const (
	Bucket = "backups"
	KeyID  = "AKIATEST"
	Secret = "wJalrXUtnFEMI"
)

// A Service is a running service.
type Service struct {
	URL string
	// ReadOnly refuses all writes.
	ReadOnly atomic.Bool
	// Cut, if above 0, is after how many bytes of its body a reply breaks off.
	Cut atomic.Int64
	// Drop is how many of the next requests with a body have their connections closed.
	Drop atomic.Int64
	// Gone closes the connections of all requests.
	Gone atomic.Bool
}

// A client tries four times rather than ten, so that the end of a service is found out in a second.
func init() { minio.MaxRetry = 4 }

// New starts a service, which ends with the test.
func New(t *testing.T) *Service {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	s := new(Service)
	fake := gofakes3.New(backend, gofakes3.WithIntegrityCheck(true)).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writes := r.Method == http.MethodPut || r.Method == http.MethodPost
		refuse := func(code, message string) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `<Error><Code>%s</Code><Message>%s</Message></Error>`, code, message)
		}
		switch {
		case s.Gone.Load():
			panic(http.ErrAbortHandler)
		case !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+KeyID+"/"):
			refuse("InvalidAccessKeyId", "The access key is not known.")
			return
		case writes && s.ReadOnly.Load():
			refuse("AccessDenied", "Writes are refused.")
			return
		case writes && s.Drop.Add(-1) >= 0:
			panic(http.ErrAbortHandler)
		}
		fake.ServeHTTP(&cutter{ResponseWriter: w, s: s}, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Env returns variables of the environment with the credentials. Names with values come in pairs, and go before.
func (s *Service) Env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		switch name {
		case "AWS_ACCESS_KEY_ID":
			return KeyID
		case "AWS_SECRET_ACCESS_KEY":
			return Secret
		case "AWS_ENDPOINT_URL":
			return s.URL
		}
		return ""
	}
}

// A cutter breaks replies off.
type cutter struct {
	http.ResponseWriter
	s    *Service
	sent int64
}

// Write implements http.ResponseWriter.
func (c *cutter) Write(b []byte) (int, error) {
	if cut := c.s.Cut.Load(); cut > 0 && c.sent+int64(len(b)) > cut {
		_, _ = c.ResponseWriter.Write(b[:cut-c.sent])
		if f, ok := c.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	c.sent += int64(len(b))
	return c.ResponseWriter.Write(b)
}
