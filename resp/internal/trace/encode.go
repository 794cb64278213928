package trace

import "google.golang.org/protobuf/encoding/protowire"

// The messages of OTLP that are sent, in protobuf, by the numbers of their fields (opentelemetry-proto, trace/v1 and
// collector/trace/v1): ExportTraceServiceRequest{1: ResourceSpans{1: Resource, 2: ScopeSpans{1: scope, 2: Span}}}.

// A attribute of a resource or span.
type attribute struct{ key, value string }

func appendText(b []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), text)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendFixed(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

// appendAttribute appends a KeyValue{1: key, 2: AnyValue{1: string}}.
func appendAttribute(b []byte, field protowire.Number, a attribute) []byte {
	kv := appendText(nil, 1, a.key)
	kv = appendBytes(kv, 2, appendText(nil, 1, a.value))
	return appendBytes(b, field, kv)
}

// encode is the request that exports spans.
func encode(resource []attribute, version string, spans []span) []byte {
	var res []byte
	for _, a := range resource {
		res = appendAttribute(res, 1, a)
	}
	scope := appendText(nil, 1, "ringside")
	scope = appendText(scope, 2, version)
	scoped := appendBytes(nil, 1, scope)
	for i := range spans {
		scoped = appendBytes(scoped, 2, encodeSpan(&spans[i]))
	}
	resourceSpans := appendBytes(nil, 1, res)
	resourceSpans = appendBytes(resourceSpans, 2, scoped)
	return appendBytes(nil, 1, resourceSpans)
}

func encodeSpan(s *span) []byte {
	b := appendBytes(nil, 1, s.trace[:])
	b = appendBytes(b, 2, s.id[:])
	if s.parent != (spanID{}) {
		b = appendBytes(b, 4, s.parent[:])
	}
	b = appendText(b, 5, s.name)
	b = appendNumber(b, 6, s.kind)
	b = appendFixed(b, 7, uint64(s.start.UnixNano()))
	b = appendFixed(b, 8, uint64(s.end.UnixNano()))
	if s.command != "" {
		b = appendAttribute(b, 9, attribute{"db.system.name", "redis"})
		b = appendAttribute(b, 9, attribute{"db.operation.name", s.command})
	}
	if s.database != "" {
		b = appendAttribute(b, 9, attribute{"db.namespace", s.database})
	}
	if s.stage != "" {
		b = appendAttribute(b, 9, attribute{"ringside.stage", s.stage})
	}
	if s.node != "" {
		b = appendAttribute(b, 9, attribute{"ringside.node", s.node})
	}
	if s.failed {
		status := appendText(nil, 2, "outcome unknown")
		b = appendBytes(b, 15, appendNumber(status, 3, 2))
	}
	return b
}
