package chaos

import (
	"fmt"
	"os/exec"
	"strings"
)

// Every node's network is a namespace with one interface, joined to the bridge, which the
// clients are on. Whose hardware address somebody has wrong, he does not reach: so ways
// are cut in one direction, in silence.

const (
	bridge  = "hub"
	nowhere = "02:00:00:00:ff:ff"
)

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// makeBridge makes what all networks are joined to.
func makeBridge() error {
	for _, args := range []string{
		"link set lo up",
		"link add " + bridge + " type bridge",
		"link set " + bridge + " up",
		"addr add 10.77.255.254/16 dev " + bridge,
	} {
		if err := command("ip", strings.Fields(args)...); err != nil {
			return err
		}
	}
	return nil
}

func ipOf(host int) string { return fmt.Sprintf("10.77.%d.%d", host/200, 1+host%200) }

func hardware(host int) string { return fmt.Sprintf("02:00:00:00:%02x:%02x", host/200, 1+host%200) }

// plug gives a process that has a namespace of its own an interface.
func plug(pid, host int) error {
	near, far := fmt.Sprint("h", host), fmt.Sprint("n", host)
	_ = command("ip", "link", "del", near) // of an earlier process
	if err := command("ip", "link", "add", near, "type", "veth", "peer", "name", far); err != nil {
		return err
	}
	for _, args := range []string{
		fmt.Sprintf("link set %s netns %d", far, pid),
		fmt.Sprintf("link set %s master %s", near, bridge),
		fmt.Sprintf("link set %s up", near),
	} {
		if err := command("ip", strings.Fields(args)...); err != nil {
			return err
		}
	}
	for _, args := range []string{
		"link set lo up",
		fmt.Sprintf("link set %s address %s", far, hardware(host)),
		fmt.Sprintf("addr add %s/16 dev %s", ipOf(host), far),
		fmt.Sprintf("link set %s up", far),
	} {
		if err := within(pid, args); err != nil {
			return err
		}
	}
	return nil
}

func within(pid int, args string) error {
	return command("nsenter", append([]string{"-t", fmt.Sprint(pid), "-n", "ip"}, strings.Fields(args)...)...)
}

// mute keeps what one node sends from another, or lets it through again. A process that
// has ended meanwhile needs neither.
func mute(from, to *node, on bool) {
	pid := from.pid()
	if pid == 0 {
		return
	}
	dev := fmt.Sprint("n", from.host)
	if on {
		_ = within(pid, fmt.Sprintf("neigh replace %s lladdr %s dev %s nud permanent", ipOf(to.host), nowhere, dev))
	} else {
		_ = within(pid, fmt.Sprintf("neigh del %s dev %s", ipOf(to.host), dev))
	}
}

// unplug takes a node's cable out, which cuts it off from clients too.
func unplug(n *node, on bool) {
	state := "up"
	if on {
		state = "down"
	}
	_ = command("ip", "link", "set", fmt.Sprint("h", n.host), state)
}
