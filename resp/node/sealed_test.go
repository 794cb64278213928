package node

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/node/internal/lastrun"
)

// A flipped bit in a file that says what a directory is either changes nothing or is found.
func TestFlippedBitsInFilesOfADirectoryAreNotBelieved(t *testing.T) {
	for _, file := range []struct {
		name string
		v    any
		load func(dir string) (any, error)
		// nothing is what a file that is found to be damaged may count as.
		nothing any
	}{
		{
			name: membershipFile, v: membership{Format: membershipFormat, Cluster: "ringside", Generation: 77, Founder: "n1", Entered: true},
			load: func(dir string) (any, error) { return loadMembership(dir, "ringside") },
		},
		{
			name: membershipFile, v: membership{Format: membershipFormat, Cluster: "other", ID: "x", Node: "n7"},
			load: func(dir string) (any, error) { return loadAnyMembership(dir) },
		},
		{
			name: lineagesFile, v: lineageText{lineagesFormat, []lineageStep{{0, 1}, {1 << 20, 3}, {1 << 31, 1}}},
			load: func(dir string) (any, error) {
				l, err := loadLineages(dir)
				if err != nil {
					return nil, err
				}
				return lineageText{lineagesFormat, l.steps}, nil
			},
		},
		{
			name: planFile, v: recoveryPlan{Format: planFormat, From: 5},
			load: func(dir string) (any, error) {
				p, err := loadPlan(dir)
				if err != nil {
					return nil, err
				}
				return *p, nil
			},
		},
		{
			name: lastrun.File, v: lastrun.Run{Format: lastrun.Format, Incarnation: 12345, Boot: "boot", Fsync: "everysec", Registered: 12345, Place: "here", Bus: "host:1"},
			load:    func(dir string) (any, error) { return lastrun.Load(dir) },
			nothing: lastrun.Run{},
		},
	} {
		t.Run(file.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, file.name)
			if err := saveJSON(dir, file.name, file.v); err != nil {
				t.Fatal(err)
			}
			want, err := file.load(dir)
			if err != nil || file.name != planFile && !reflect.DeepEqual(want, file.v) {
				t.Fatalf("%+v, %v", want, err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := range text {
				for bit := range 8 {
					if isBrief() && bit != i%8 {
						continue // package durable flips all bits in memory
					}
					flipped := slices.Clone(text)
					flipped[i] ^= 1 << bit
					if err := os.WriteFile(path, flipped, 0o600); err != nil {
						t.Fatal(err)
					}
					got, err := file.load(dir)
					switch {
					case err != nil:
						if !strings.Contains(err.Error(), file.name) || !strings.Contains(err.Error(), "restore it") {
							t.Errorf("bit %d of byte %d: the error does not say how to go on: %v", bit, i, err)
						}
					case !reflect.DeepEqual(got, want) && !reflect.DeepEqual(got, file.nothing):
						t.Errorf("bit %d of byte %d is believed: %s", bit, i, flipped)
					}
					if t.Failed() {
						return
					}
				}
			}
		})
	}
}
