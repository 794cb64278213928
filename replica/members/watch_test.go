package members

import "testing"

func TestSlowWatcherDoesNotDelayOthers(t *testing.T) {
	a := start(t, "a", 1)
	_, cancel := a.Watch() // never read
	defer cancel()
	b := start(t, "b", 1, addr(a))
	awaitNode(t, a, "b", Alive, 1)
	for weight := 1.0; weight < 50; weight++ {
		if err := b.SetWeight(weight); err != nil {
			t.Fatal(err)
		}
	}
	await(t, a, "the last weight", func() bool {
		n, _ := a.Node("b")
		return n.Weight == 49
	})
}

func TestWatchersComeAndGo(t *testing.T) {
	var w watchers
	first, cancelFirst := w.add()
	second, cancelSecond := w.add()
	<-first
	<-second
	w.notify()
	w.notify()
	<-first
	select {
	case <-first:
		t.Error("two changes are two notes")
	default:
	}
	cancelFirst()
	cancelFirst()
	if _, open := <-first; open {
		t.Error("a cancelled watch has something to say")
	}
	w.close()
	<-second
	if _, open := <-second; open {
		t.Error("not closed")
	}
	cancelSecond()
	w.notify()
}
