package chaos

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

const inside = "CHAOS_INSIDE"

// isolate starts the command again in a network and with mounts of its own, which vanish
// with it; the first process only waits. It returns in the second, or with a reason why
// there can be none.
func isolate() (isolated bool, why string, err error) {
	if os.Getenv(inside) != "" {
		return true, "", nil
	}
	if os.Geteuid() != 0 {
		return false, "that takes root", nil
	}
	for _, tool := range []string{"ip", "nsenter", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			return false, tool + " is not installed", nil
		}
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Unshareflags: syscall.CLONE_NEWNS}
	trial := exec.Command("ip", "link", "add", "trial", "type", "veth", "peer", "name", "lairt")
	trial.SysProcAttr = attr
	if out, err := trial.CombinedOutput(); err != nil {
		return false, fmt.Sprintf("no network can be made: %v %s", err, out), nil
	}
	self := exec.Command("/proc/self/exe", os.Args[1:]...)
	self.Env = append(os.Environ(), inside+"=1")
	self.Stdin, self.Stdout, self.Stderr = os.Stdin, os.Stdout, os.Stderr
	self.SysProcAttr = &syscall.SysProcAttr{Cloneflags: attr.Cloneflags, Unshareflags: attr.Unshareflags, Pdeathsig: syscall.SIGTERM}
	err = self.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(max(1, exit.ExitCode()))
	}
	if err == nil {
		os.Exit(0)
	}
	return false, "", err
}
