package bus

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// TestNodesUseTheLowerOfTheirNewestVersions has nodes of all ranges dial each other, also nodes
// that name no range.
func TestNodesUseTheLowerOfTheirNewestVersions(t *testing.T) {
	eachKey(t, func(t *testing.T, key []byte) {
		for _, test := range []struct {
			dialler, acceptor Versions
			want              uint16 // 0: refused
		}{
			{Versions{3, 3}, Versions{3, 3}, 3},
			{Versions{3, 4}, Versions{3, 3}, 3}, // the peer knows of no ranges
			{Versions{3, 3}, Versions{3, 4}, 3},
			{Versions{3, 4}, Versions{3, 4}, 4},
			{Versions{3, 4}, Versions{3, 5}, 4},
			{Versions{3, 5}, Versions{3, 4}, 4},
			{Versions{4, 6}, Versions{3, 5}, 5},
			{Versions{5, 5}, Versions{3, 7}, 5},
			{Versions{4, 4}, Versions{3, 3}, 0},
			{Versions{3, 3}, Versions{4, 5}, 0},
			{Versions{3, 4}, Versions{5, 6}, 0},
			{Versions{5, 6}, Versions{3, 4}, 0},
		} {
			t.Run(fmt.Sprint(test.dialler, " and ", test.acceptor), func(t *testing.T) {
				accepting, dialling := testConfig("b"), testConfig("a")
				accepting.Key, dialling.Key = key, key
				accepting.Versions, dialling.Versions = test.acceptor, test.dialler
				met := make(chan uint16, 1)
				b := startBus(t, accepting)
				b.Handle(Control, func(p Peer, conn net.Conn) {
					defer conn.Close()
					met <- p.Version
					_, _ = io.Copy(conn, conn)
				})
				a := startBus(t, dialling)
				for range 2 { // the second time it may know the peer
					conn, peer, err := a.Dial(t.Context(), b.Addr().String(), "b", Control)
					if test.want == 0 {
						if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "upgrade the older one") {
							t.Errorf("%v", err)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					if got := <-met; peer.Version != test.want || got != test.want {
						t.Errorf("versions %d and %d, want %d", peer.Version, got, test.want)
					}
					echo := make([]byte, 4)
					if _, err := conn.Write([]byte("word")); err != nil {
						t.Error(err)
					}
					if _, err := io.ReadFull(conn, echo); err != nil || string(echo) != "word" {
						t.Errorf("%q, %v", echo, err)
					}
					_ = conn.Close()
				}
			})
		}
	})
}

// TestHelloOfVersion3KeepsItsForm compares it with the layout that builds of version 3 read.
func TestHelloOfVersion3KeepsItsForm(t *testing.T) {
	cfg := testConfig("a")
	cfg.Key = testKey
	cfg.EnsureDefaults()
	h := cfg.hello(Control, "b", false)
	want := []byte{0, 3, 1, byte(Control)}
	want = binary.BigEndian.AppendUint64(want, 3)
	want = binary.BigEndian.AppendUint64(want, 7)
	want = append(append(want, h.nonce[:]...), h.share[:]...)
	want = append(want, "\x04test\x07buckets\x06native\x01a\x01b"...)
	if got := h.encode(); !bytes.Equal(got, want) {
		t.Errorf("got %x\nwant %x", got, want)
	}
}

// TestLaterHelloMayHaveMoreAtItsEnd reads what a newer build may send.
func TestLaterHelloMayHaveMoreAtItsEnd(t *testing.T) {
	cfg := testConfig("a")
	cfg.EnsureDefaults()
	cfg.Versions = Versions{newestVersion, newestVersion + 3}
	h := cfg.hello(Control, "b", true)
	text := append(h.encode(), "more"...)
	text[4] |= 8 // an unknown flag
	got, err := decodeHello(text, newestVersion)
	if err != nil || got.versions != cfg.Versions || got.id != "a" || got.wantID != "b" {
		t.Errorf("%+v, %v", got, err)
	}
	cfg.Versions.Newest = newestVersion
	h = cfg.hello(Control, "b", true)
	if _, err := decodeHello(append(h.encode(), "more"...), newestVersion); !errors.Is(err, ErrProtocol) {
		t.Errorf("more than there is in this version: %v", err)
	}
}

// TestPeerWithoutRangeIsTriedAnew has a node upgraded that named no range.
func TestPeerWithoutRangeIsTriedAnew(t *testing.T) {
	var u olderPeers
	now := time.Now()
	u.note("b", now)
	for after, want := range map[time.Duration]bool{0: true, olderMemory: true} {
		if got := u.has("b", now.Add(after)); got != want {
			t.Errorf("after %v: %v", after, got)
		}
	}
	if u.has("b", now.Add(olderMemory+1)) || len(u.until) > 0 {
		t.Error("it is remembered for ever")
	}
}
