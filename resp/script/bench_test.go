package script

import "testing"

// BenchmarkRun runs a script with a key, an argument and two commands, as clients send it.
func BenchmarkRun(b *testing.B) {
	s, err := Compile("local a = redis.call('GET', KEYS[1]) local c = redis.call('GET', ARGV[1]) return a")
	if err != nil {
		b.Fatal(err)
	}
	r := NewRuntime()
	keys, argv := [][]byte{[]byte("key:000000000001")}, [][]byte{[]byte("key:000000000002")}
	host := tableHost{"GET": "$3\r\nabc\r\n"}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		r.Begin(defaultMemory)
		if dst, err = r.Run(s, keys, argv, host, dst[:0], false); err != nil {
			b.Fatal(err)
		}
	}
}
