package loadtest

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

func TestEverySignalEndsTheContext(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			continue // as by nohup, which the context respects
		}
		ctx, end := StopContext(context.Background())
		received := make(chan os.Signal, 2)
		signal.Notify(received, sig)
		for range 2 { // a second one changes nothing, but for an interrupt
			if err := syscall.Kill(os.Getpid(), sig); err != nil {
				t.Fatal(err)
			}
			<-received // a signal that arrives after the end would end the process
			<-ctx.Done()
			if sig == syscall.SIGINT {
				break
			}
		}
		end()
		signal.Stop(received)
	}
}
