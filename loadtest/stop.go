package loadtest

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// StopSignals are those that end a command and can be caught. SIGHUP is among them unless the
// process was started with it ignored, as by nohup.
func StopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// StopContext returns a context that ends with the first of the Signals. A second one changes
// nothing, since a closing terminal and a supervisor send several; but a second interrupt
// from the keyboard ends the process at once. The caller must call end.
func StopContext(parent context.Context) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, StopSignals()...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		interrupts := 0
		for sig := range signals {
			cancel()
			if sig == os.Interrupt {
				interrupts++
			}
			if interrupts == 2 {
				os.Exit(130)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		<-done
		cancel()
	}
}
