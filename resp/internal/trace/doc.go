// Package trace tells where the time of requests goes: to latches, to the log, to backups or to other nodes.
//
// A [Timing] gathers that while a connection's requests run; it costs no clock reading that would not be made
// anyway, but for requests that go to other nodes. [Log] keeps the slow ones, for RING SLOWLOG and RING EXPLAIN.
// [Exporter] sends sampled ones to an OpenTelemetry collector. Package resp decides when a request begins and ends.
//
// OTLP is encoded here, in encode.go: the stages are known only once a request is over, and a span is then six fields,
// while OpenTelemetry's own exporter for HTTP links gRPC.
package trace
