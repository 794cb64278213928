package systemd

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// A Node is what systemd hears about.
type Node interface {
	// Ready returns nil while the node serves all keys that it should serve, else the reason.
	Ready() error
	// Alive returns nil unless only a restart helps.
	Alive() error
}

const (
	// readyWithin bounds how long a start waits for the rest of the cluster. After that the start
	// counts as done, because the next node of the cluster may only be started then.
	readyWithin = 30 * time.Second
	// lookPeriod is how often a node is asked that is not ready; a ready one is asked at statusPeriod.
	lookPeriod   = 250 * time.Millisecond
	statusPeriod = 5 * time.Second
)

// A Notifier tells systemd about a node. The nil Notifier tells nothing.
type Notifier struct {
	node     Node
	send     func(state string) error
	watchdog time.Duration // WatchdogSec; 0: none
	log      *slog.Logger

	stop     chan struct{}
	stopOnce sync.Once
	ended    chan struct{}
}

// Start tells systemd about a node until Close. It returns nil if systemd does not listen, which is
// so unless the unit has Type=notify.
func Start(n Node, log *slog.Logger) *Notifier {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return nil
	}
	watchdog, err := daemon.SdWatchdogEnabled(true)
	if err != nil {
		log.Warn("the watchdog of systemd is not served", "err", err)
	}
	send := func(state string) error {
		_, err := daemon.SdNotify(false, state)
		return err
	}
	return start(n, send, watchdog, log)
}

func start(n Node, send func(string) error, watchdog time.Duration, log *slog.Logger) *Notifier {
	t := &Notifier{node: n, send: send, watchdog: watchdog, log: log, stop: make(chan struct{}), ended: make(chan struct{})}
	go t.run()
	return t
}

func (t *Notifier) run() {
	defer close(t.ended)
	period := lookPeriod
	if t.watchdog > 0 {
		period = min(period, t.watchdog/2)
	}
	look := time.NewTicker(max(period, time.Millisecond))
	defer look.Stop()
	began, announced, status := time.Now(), false, ""
	fed, asked := began, time.Time{}
	for {
		now := time.Now()
		if !announced || now.Sub(asked) >= statusPeriod {
			asked = now
			err := t.node.Ready()
			text := "STATUS=serving"
			if err != nil {
				text = fmt.Sprintf("STATUS=not ready: %.200v", err)
			}
			if text != status {
				status = text
				t.tell(status)
			}
			if !announced && (err == nil || now.Sub(began) >= readyWithin) {
				announced = true
				t.tell(daemon.SdNotifyReady)
			}
		}
		if t.watchdog > 0 && (now.Sub(fed) >= t.watchdog/3 || fed == began) && t.node.Alive() == nil {
			fed = now
			t.tell(daemon.SdNotifyWatchdog)
		}
		select {
		case <-look.C:
		case <-t.stop:
			return
		}
	}
}

func (t *Notifier) tell(state string) {
	if err := t.send(state); err != nil {
		t.log.Warn("telling systemd failed", "state", state, "err", err)
	}
}

// Stopping says that the node is about to stop, which may take as long as within.
func (t *Notifier) Stopping(within time.Duration) {
	if t != nil {
		t.tell(fmt.Sprintf("%s\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=%d", daemon.SdNotifyStopping, within.Microseconds()))
	}
}

// Close ends all notifications.
func (t *Notifier) Close() {
	if t != nil {
		t.stopOnce.Do(func() { close(t.stop) })
		<-t.ended
	}
}
