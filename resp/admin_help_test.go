package resp

import (
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/store"
)

// serveStore is the store's configuration as serveTest hands it in.
type serveStore = store.Config

// defaultKeepAlive is Redis' default.
const defaultKeepAlive = 300 * time.Second

// stream sends commands, separated by |, in one go and returns all that is answered
// until the server closes the connection.
func stream(t *testing.T, addr, script string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for command := range strings.SplitSeq(script, "|") {
		resptest.Write(c, strings.Fields(command)...)
	}
	c.SetReadDeadline(time.Now().Add(resptest.Patience))
	all, err := io.ReadAll(c)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatalf("%s: %v", script, err)
	}
	return string(all)
}

var idField = regexp.MustCompile(`\$2\r\nid\r\n:\d+`)

func withoutID(s string) string { return ourVersion(idField.ReplaceAllString(s, "id")) }

// ourVersion has a reply of Redis 7.0.15 to HELLO say the version that INFO says of Ringside.
func ourVersion(reply string) string {
	return strings.ReplaceAll(reply, "$6\r\n7.0.15\r\n", fmt.Sprintf("$%d\r\n%s\r\n", len(admin.RedisVersion), admin.RedisVersion))
}
