package strategy

import "testing"

func TestExactPairsNameTheirSystem(t *testing.T) {
	for _, tt := range []struct {
		config Config
		want   string
	}{
		{Config{Name: Ketama, Hash: Native}, "libketama"},
		{Config{Name: Ketama, Hash: MD5, Points: 160, KetamaRule: Libketama}, "libketama"},
		{Config{Name: Ketama, Hash: MD5, Founding: Buckets}, "libketama"},
		{Config{Name: Ketama, Hash: Native, Founding: Ketama, KetamaRule: Twemproxy}, "twemproxy with hash md5"},
		{Config{Name: Ketama, Hash: FNV1a, KetamaRule: Twemproxy}, "twemproxy with hash fnv1a_64, for ASCII keys"},
		// Clients of libketama hash with MD5 and place 160 points.
		{Config{Name: Ketama, Hash: FNV1a}, ""},
		{Config{Name: Ketama, Hash: Native, Founding: Buckets}, ""},
		{Config{Name: Ketama, Hash: MD5, Points: 80}, ""},
		{Config{Name: Ketama, Hash: Slot}, ""},
		{Config{Name: Buckets, Hash: Native}, ""},
		{Config{Name: VNode, Hash: MD5}, ""},
	} {
		if got := tt.config.ExactTo(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.config, got, tt.want)
		}
	}
}
