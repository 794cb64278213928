package settings

import (
	"fmt"
	"strings"
	"time"
)

// bufferClasses are the classes of clients in client-output-buffer-limit.
var bufferClasses = []string{"normal", "slave", "pubsub"}

const (
	bufferNormal = iota
	bufferReplica
	bufferPubsub
	bufferCount
)

// A bufferLimit is Redis' limit of unread replies of a client: a hard one, and a soft one that may
// be exceeded for some seconds. Soft limits are of replicas only.
type bufferLimit struct{ hard, soft, seconds int64 }

// bufferLimits are those of all classes, and the output buffer that they led to.
type bufferLimits struct {
	classes [bufferCount]bufferLimit
	output  int64
}

// buffers returns the limits in force.
func (s *Running) buffers() bufferLimits {
	output := s.OutputBuffer.Load()
	l := s.limits.Load()
	switch {
	case l == nil:
		return bufferLimits{[bufferCount]bufferLimit{bufferNormal: {hard: output}, bufferReplica: standardReplica, bufferPubsub: {hard: output}}, output}
	case l.output != output: // by output-buffer, later
		changed := *l
		changed.classes[bufferNormal].hard, changed.output = output, output
		return changed
	}
	return *l
}

func (l bufferLimits) text() string {
	var parts []string
	for i, c := range l.classes {
		parts = append(parts, fmt.Sprintf("%s %d %d %d", bufferClasses[i], c.hard, c.soft, c.seconds))
	}
	return strings.Join(parts, " ")
}

func (s *Running) bufferLimitsText() string { return s.buffers().text() }

// standardBufferLimits are those without a client-output-buffer-limit.
func (s *Running) standardBufferLimits() string {
	output := s.OutputBuffer.Load()
	return bufferLimits{classes: [bufferCount]bufferLimit{bufferNormal: {hard: output}, bufferReplica: standardReplica, bufferPubsub: {hard: output}}}.text()
}

// standardReplica is the limit of replicas, as in Redis.
var standardReplica = bufferLimit{256 << 20, 64 << 20, 60}

// ReplicaLimit is how many bytes may wait for a replica; soft may be exceeded for a while. 0 is no limit.
func (s *Running) ReplicaLimit() (hard, soft int64, during time.Duration) {
	l := s.buffers().classes[bufferReplica]
	return l.hard, l.soft, time.Duration(l.seconds) * time.Second
}

// PushLimit is how many bytes of messages may wait for one client.
func (s *Running) PushLimit() int64 {
	if n := s.PushBuffer.Load(); n > 0 {
		return n
	}
	return s.OutputBuffer.Load()
}

// parseBufferLimits reads client-output-buffer-limit. The hard limits of normal clients and of
// subscribers, and all limits of replicas act; the former they are at least the least output-buffer, and 0 leaves client-memory as the limit.
func (s *Running) parseBufferLimits(value string) (func(), string) {
	args := arguments(value)
	if len(args)%4 != 0 {
		return nil, "Wrong number of arguments in buffer limit configuration."
	}
	next := s.buffers()
	var given [bufferCount]bool
	for ; len(args) > 0; args = args[4:] {
		class := bufferClass(args[0])
		if class < 0 {
			return nil, "Invalid client class specified in buffer limit configuration."
		}
		hard, ok := ParseMemory(args[1])
		soft, okSoft := ParseMemory(args[2])
		seconds, okSeconds := looseInt(args[3])
		if !ok || !okSoft || !okSeconds || seconds < 0 || seconds > maxInt {
			return nil, "Error in hard, soft or soft_seconds setting in buffer limit configuration."
		}
		next.classes[class], given[class] = bufferLimit{hard, soft, seconds}, true
	}
	effect := func(hard int64) int64 {
		if hard == 0 {
			return s.ClientMemory.Load()
		}
		return min(max(hard, outputBufferBounds.Min), outputBufferBounds.Max)
	}
	return func() {
		if given[bufferNormal] {
			next.output = effect(next.classes[bufferNormal].hard)
			s.OutputBuffer.Store(next.output)
		}
		s.PushBuffer.Store(effect(next.classes[bufferPubsub].hard))
		s.limits.Store(&next)
	}, ""
}

func bufferClass(name string) int {
	name = strings.ToLower(name)
	if name == "replica" {
		return bufferReplica
	}
	for i, class := range bufferClasses {
		if name == class {
			return i
		}
	}
	return -1
}
