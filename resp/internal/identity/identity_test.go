package identity

import "testing"

func TestSameComparesClustersByGenerationAndOthersByAddress(t *testing.T) {
	cluster := Server{Addr: "a:1", Cluster: "c", Generation: "7"}
	for _, test := range []struct {
		one, other Server
		want       bool
	}{
		{cluster, Server{Addr: "b:1", Cluster: "c", Generation: "7"}, true},
		{cluster, Server{Addr: "a:1", Cluster: "c", Generation: "8"}, false},
		{cluster, Server{Addr: "a:1"}, false},
		{Server{Addr: "a:1"}, cluster, false},
		{Server{Addr: "a:1"}, Server{Addr: "a:1"}, true},
		{Server{Addr: "a:1"}, Server{Addr: "b:1"}, false},
	} {
		if got := test.one.Same(test.other); got != test.want {
			t.Errorf("%v and %v: %v", test.one, test.other, got)
		}
	}
}

func TestFieldReadsLinesOfInfo(t *testing.T) {
	info := "# Server\r\nredis_version:7.0.15\r\nnot_redis_version:x\r\n"
	if v := Field(info, "redis_version"); v != "7.0.15" {
		t.Errorf("%q", v)
	}
	if v := Field(info, "version"); v != "" {
		t.Errorf("%q", v)
	}
}
