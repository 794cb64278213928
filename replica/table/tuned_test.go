package table

import "testing"

// Settings of algorithms on cells are part of commands and snapshots. Without them both have the form
// that older builds read.
func TestCellSettingsGoThroughTheBinaryForm(t *testing.T) {
	for _, seated := range []bool{false, true} {
		first, next := found("n0", 4), &SetStrategy{Starts: []NodeStart{{"n0", 1}}, Seated: seated}
		first.Seated = seated
		next.Strategy = first.Cluster.Strategy
		next.Strategy.Name = "multiprobe"
		plain := len(Encode(first))
		first.Cluster.Strategy.Cells.Slack = 0.25
		if tuned := len(Encode(first)); tuned <= plain {
			t.Errorf("%d bytes without settings, %d with", plain, tuned)
		}
		next.Strategy.Cells = CellSettings{Probes: 5, Candidates: 3}
		s := new(State)
		for _, c := range []Command{first, next} {
			read, err := Decode(Encode(c))
			if err != nil {
				t.Fatal(err)
			}
			s = steps(t, s, read)
			again := new(State)
			if err := again.UnmarshalBinary([]byte(mustBytes(t, s))); err != nil || again.Cluster() != s.Cluster() {
				t.Errorf("seated %v, read back: %+v, %v", seated, again.Cluster(), err)
			}
			if v := mustBytes(t, s)[0]; v != unnumberedSnapshot {
				t.Errorf("seated %v: version %d", seated, v)
			}
		}
		of := s.Cluster()
		if !of.Tuned() || of.Strategy != next.Strategy || of.Founding.Cells.Slack != 0.25 || (s.Seats() != nil) != seated {
			t.Errorf("%+v, seats %v", of, s.Seats())
		}
	}
}
